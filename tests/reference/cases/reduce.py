"""Reductions, running sums and sorting."""
import torch
from generate import bools, real, typed, values

NAN, INF = float("nan"), float("inf")
INTEGERS = "i64 i32 u8 bool"


def over(function):
    """A reduction over a list of dims from PyTorch's over one."""
    def reduce(x, dim=None, keepdim=False):
        for d in sorted([dim] if isinstance(dim, int) else range(x.dim()) if dim is None else
                        [d % x.dim() for d in dim], reverse=True):
            x = function(x, d)
            x = x.unsqueeze(d) if keepdim else x
        return x
    return reduce


def cases(case):
    for op in ("sum", "mean", "amax", "amin"):
        types = {"sum": INTEGERS, "mean": ""}.get(op, "i64 i32 u8")
        by = None if op in ("sum", "mean") else lambda x, op=op, **k: getattr(torch, op)(x, k.pop("dim", ()), **k)
        case(op, [real(3, 4)], by=by, types=types)
        case(op, [real(2, 3, 4)], by=by, types=types, dim=[0, 2])
        case(op, [real(2, 3, 4)], by=by, types=types, dim=[-2], keepdim=True)
        case(op, [real(2, 3, 4)], by=by, dim=[0, 1, 2], keepdim=True)
        case(op, [real()], by=by)
        case(op, [values([[1.0, 2.0, 2.0], [NAN, 1.0, INF], [-INF, INF, 0.0]])], by=by, dim=[1], grad=False)
    case("amax", [values([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]])], dim=[1])
    case("amin", [values([[1.0, 1.0, 3.0], [2.0, 2.0, 2.0]])], dim=[0, 1])
    case("sum", [real(0, 3)])
    case("sum", [real(2, 0)], dim=[1])
    case("mean", [real(2, 0)], dim=[1])
    prod = over(torch.prod)
    case("prod", [real(2, 5)], types=INTEGERS)
    case("prod", [real(2, 3, 4)], by=prod, dim=[0, 2])
    case("prod", [real(2, 5)], by=prod, types="i64 i32 u8", dim=[1], keepdim=True)
    case("prod", [values([[2.0, 0.0, 3.0], [0.0, 0.0, 4.0], [1.0, 2.0, -3.0]])], dim=1)
    case("prod", [real(0)])
    for op in ("var", "std"):
        case(op, [real(3, 5)])
        case(op, [real(2, 3, 4)], dim=[0, 2])
        case(op, [real(2, 3, 4)], dim=[1], correction=0, keepdim=True)
        case(op, [real(2, 3, 4)], dim=[1], unbiased=False)
        case(op, [real(2, 3, 4)], dim=[2], correction=2)
        case(op, [values([[100.0, 100.5, 101.0], [1.0, 1.0, 2.0]])], dim=[1])
    for op in ("max", "min"):
        case(op, [real(3, 4)], types="i64 i32 u8 bool")
        case(op, [values([3.0, 3.0, -1.0, -1.0])])
        case(op, [real(3, 4)], types="i64", dim=1)
        case(op, [real(2, 3, 4)], dim=0, keepdim=True)
        case(op, [values([[1.0, NAN, 2.0], [INF, 0.0, -INF]])], dim=1, grad=False)
        case("arg" + op, [real(3, 4)])
        case("arg" + op, [real(3, 4)], dim=1)
        case("arg" + op, [real(2, 3, 4)], dim=-2, keepdim=True)
        case("arg" + op, [typed("i64", 12, low=-90, high=90)], floats=False, types="i64 i32")
        case("arg" + op, [values([1.0, NAN, 2.0])])
    for p in (2.0, 1.0, 3.0, 0.5, 0.0, INF, -INF):
        case("norm", [real(3, 4)], p=p)
        case("norm", [real(2, 3, 4)], p=p, dim=[1])
        case("norm", [real(2, 3, 4)], p=p, dim=[0, 2], keepdim=True)
    case("norm", [values([[0.0, 0.0], [3.0, -4.0]])], p=2.0, dim=[1])
    lse = lambda x, dim=None, **k: torch.logsumexp(x, list(range(x.dim())) if dim is None else dim, **k)
    case("logsumexp", [real(3, 4)], by=lse)
    case("logsumexp", [real(2, 3, 4)], by=lse, dim=[0, 2], keepdim=True)
    case("logsumexp", [real(2, 3, 4)], by=lse, dim=[-1])
    case("logsumexp", [values([[INF, 0.0], [-INF, -INF], [NAN, 0.0], [90.0, 90.0]])], by=lse, dim=[1], grad=False)
    for op in ("all", "any"):
        by = over(getattr(torch, op))
        as_bool = lambda x, by=by, **k: by(x != 0, **k)
        case(op, [bools(3, 4)], by=as_bool, floats=False, types="bool")
        case(op, [bools(2, 3, 4)], by=as_bool, floats=False, types="bool", dim=[0, 2])
        case(op, [bools(2, 3, 4)], by=as_bool, floats=False, types="bool", dim=[1], keepdim=True)
        case(op, [values([[1.0, 0.0], [NAN, 2.0], [0.0, -0.0]])], by=as_bool, types="i32", dim=[1])
        case(op, [bools(2, 0)], by=as_bool, floats=False, types="bool", dim=[1])
    scans(case)


def scans(case):
    case("cumsum", [real(2, 5)], types="i64 i32 u8 bool", dim=1)
    case("cumsum", [real(2, 5, 3)], dim=-2)
    case("cumsum", [real(3)], dim=0)
    case("cumsum", [real(2, 5)], by=lambda x, dim, exclusive: x.cumsum(dim) - x, dim=1, exclusive=True)
    for descending in (False, True):
        stable = lambda x, dim=-1, descending=False: torch.sort(x, dim=dim, descending=descending, stable=True)
        case("sort", [real(2, 7)], by=stable, descending=descending)
        case("sort", [real(6, 2)], by=stable, types="i64 i32 u8", dim=0, descending=descending)
        case("sort", [values([1.0, 2.0, 1.0, 2.0, 0.0, 1.0])], by=stable, descending=descending)
        case("sort", [values([1.0, NAN, -INF, INF, 0.0, NAN])], by=stable, descending=descending, grad=False)
        case("argsort", [real(3, 6)], dim=0, descending=descending)
        case("topk", [real(2, 7)], k=3, largest=descending)
        case("topk", [real(7, 2)], k=4, dim=0, largest=descending)
    case("topk", [real(2, 3)], k=0)
    case("topk", [typed("i64", 9, low=-99, high=99)], floats=False, types="i64", k=4)
    case("median", [real(3, 4)])
    case("median", [real(3, 5)], dim=1)
    case("median", [real(4, 3)], dim=0, keepdim=True)
