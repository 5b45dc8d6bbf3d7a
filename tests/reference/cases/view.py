"""Views, copies, casts and joins."""
import torch
from generate import bools, real, typed, values

ALL = "i64 i32 u8 bool"


def cases(case):
    x = real(2, 3, 4)
    case("view", [x], by=lambda x, shape: x.view(shape), types=ALL, shape=[6, -1])
    case("reshape", [x], types=ALL, shape=[4, 6])
    case("reshape", [real(1)], shape=[])
    case("flatten", [x])
    case("flatten", [x], start_dim=1, end_dim=2)
    case("flatten", [real()])
    case("squeeze", [real(1, 3, 1)])
    case("squeeze", [real(1, 3, 1)], dim=0)
    case("squeeze", [real(1, 3, 1)], dim=1)
    for dim in (0, 2, -1):
        case("unsqueeze", [real(2, 3)], dim=dim)
    case("transpose", [x], types=ALL, dim0=0, dim1=-1)
    case("t", [real(2, 3)])
    case("t", [real(3)])
    case("permute", [x], dims=[2, 0, 1])
    case("expand", [real(3, 1)], by=lambda x, size: x.expand(size), size=[2, -1, 4])
    case("narrow", [x], dim=2, start=1, length=2)
    case("select", [x], dim=1, index=2)
    case("select", [x], dim=-1, index=-1)
    case("slice", [x], by=cut, dim=2, start=1, length=2, step=2)
    case("slice", [x], by=cut, types=ALL, dim=1, start=0, length=2)
    case("clone", [x], types=ALL)
    case("contiguous", [x], by=lambda x: x.contiguous())
    case("cat", [real(2, 3), real(1, 3), real(0, 3)], by=cat, types=ALL, dim=0)
    case("cat", [real(2, 3), real(2, 1)], by=cat, dim=-1)
    case("cat", [typed("i64", 2), typed("f32", 3)], by=cat, floats=False, types="f32")
    case("stack", [real(2, 3), real(2, 3)], by=stack, types=ALL, dim=0)
    case("stack", [real(2, 3), real(2, 3), real(2, 3)], by=stack, dim=-1)
    for to in ("f32", "f16", "bf16"):
        case("_cast", [real(2, 5, low=-100, high=100)], by=cast, types=ALL, dtype=to)
    case("_cast", [real(2, 5, low=-100, high=100)], by=cast, floats=False, types="f32 " + ALL, dtype="f64")
    for to in ("i64", "i32", "bool"):
        case("_cast", [values([-2.75, -0.5, 0.0, 0.25, 3.5, 100.0])], by=cast, dtype=to)
        case("_cast", [bools(4)], by=cast, floats=False, types="bool", dtype=to)
    case("_cast", [values([0.0, 0.25, 3.5, 200.0])], by=cast, dtype="u8")


def cut(x, dim, start, length, step=1):
    return x.narrow(dim, start, (length - 1) * step + 1)[(slice(None),) * dim + (slice(None, None, step),)]


def cat(*tensors, dim=0):
    return torch.cat(tensors, dim)


def stack(*tensors, dim=0):
    return torch.stack(tensors, dim)


def cast(x, dtype):
    return x.to(dtype)
