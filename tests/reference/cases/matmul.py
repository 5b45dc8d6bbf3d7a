"""Products of matrices."""
import torch
import torch.nn.functional as F
from generate import real


def cases(case):
    for a, b in [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((4,), (2, 4, 3)),
                 ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)),
                 ((2, 0), (0, 3)), ((0, 2), (2, 3))]:
        case("matmul", [real(*a), real(*b)])
    case("linear", [real(5, 3), real(4, 3), real(4)])
    case("linear", [real(2, 5, 3), real(4, 3), None])
    case("linear", [real(3), real(4, 3), real(4)])
    case("mm", [real(3, 4), real(4, 2)])
    case("bmm", [real(2, 3, 4), real(2, 4, 5)])
    case("mv", [real(3, 4), real(4)])
    case("dot", [real(7), real(7)])
    case("addmm", [real(3, 2), real(3, 4), real(4, 2)])
    case("addmm", [real(2), real(3, 4), real(4, 2)], beta=0.5, alpha=-2.0)
    for activation in ["relu", "tanh", "sigmoid"]:
        case("linear", [real(2, 5, 3), real(4, 3), real(4)], activation=activation,
             by=lambda x, w, b, activation: getattr(torch, activation)(F.linear(x, w, b)))
