"""Softmax and normalisation."""
import torch
import torch.nn.functional as F
from generate import real, values

INF = float("inf")


def cases(case):
    for op in ("softmax", "log_softmax"):
        case(op, [real(3, 5)], dim=1)
        case(op, [real(3, 5)], dim=0)
        case(op, [real(2, 5, 3)], dim=-2)
        case(op, [real(4)], dim=0)
        case(op, [values([[-INF, 0.0, 1.0], [90.0, 90.0, -90.0], [INF, 0.0, 0.0], [-INF, -INF, -INF]])], dim=1,
             grad=False)
    layer = {"input": real(3, 6), "weight": real(6), "bias": real(6)}
    case("layer_norm", layer, normalized_shape=[6])
    case("layer_norm", {"input": real(2, 3, 4), "weight": real(3, 4), "bias": None}, normalized_shape=[3, 4])
    case("layer_norm", {"input": real(2, 3, 4)}, normalized_shape=[4], eps=0.5)
