"""Recurrent networks and their cells."""
import torch
from generate import real

GATES = {"rnn_tanh": 1, "rnn_relu": 1, "lstm": 4, "gru": 3}


def weights(gates, inputs, hidden, bias=True):
    shapes = [(gates * hidden, inputs), (gates * hidden, hidden)] + [(gates * hidden,)] * (2 if bias else 0)
    return [real(*shape, low=-1, high=1) for shape in shapes]


def network(op):
    states = 2 if op == "lstm" else 1

    def call(x, *rest, has_biases=True, num_layers=1, bidirectional=False, batch_first=False):
        hx = rest[:states] if states == 2 else rest[0]
        dim = x.dim() == 2
        if dim:  # a sequence without a batch
            x, hx = x.unsqueeze(1), tuple(h.unsqueeze(1) for h in hx) if states == 2 else hx.unsqueeze(1)
        results = getattr(torch, op)(x, hx, rest[states:], has_biases, num_layers, 0.0, False, bidirectional, batch_first)
        return [r.squeeze(1) for r in results] if dim else results
    return call


def cell(op):
    def call(x, *rest):
        if op == "lstm_cell":
            return torch.lstm_cell(x, rest[:2], *rest[2:])
        return getattr(torch, op)(x, *rest)
    return call


def cases(case):
    for op, gates in GATES.items():
        def states(*shape):
            return [real(*shape, low=-1, high=1) for _ in range(2 if op == "lstm" else 1)]
        case(op, [real(5, 2, 3)] + states(1, 2, 4) + weights(gates, 3, 4), by=network(op))
        case(op, [real(2, 3, 3)] + states(1, 2, 2) + weights(gates, 3, 2, False), by=network(op), has_biases=False,
             batch_first=True)
        case(op, [real(4, 3)] + states(1, 2) + weights(gates, 3, 2), by=network(op))
        deep = [w for layer in range(2) for _ in range(2) for w in weights(gates, 4 if layer else 3, 2)]
        case(op, [real(3, 9, 3)] + states(4, 9, 2) + deep, by=network(op), num_layers=2, bidirectional=True)
        case(op, [real(9, 3, 3)] + states(4, 9, 2) + deep, by=network(op), num_layers=2, bidirectional=True,
             batch_first=True)
        case(op + "_cell", [real(2, 3)] + [real(2, 4) for _ in states(1)] + weights(gates, 3, 4), by=cell(op + "_cell"))
        case(op + "_cell", [real(2, 3)] + [real(2, 4) for _ in states(1)] + weights(gates, 3, 4, False),
             by=cell(op + "_cell"))
