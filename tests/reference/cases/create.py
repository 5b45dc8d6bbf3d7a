"""Tensors from nothing, and triangles."""
import torch
from generate import real

ALL = ("f64", "f32", "f16", "bf16", "i64", "i32", "u8")


def cases(case):
    for dtype in ALL:
        of = {"floats": False, "types": dtype, "dtype": dtype}
        case("full", [], size=[2, 3], fill_value=3, **of)
        case("zeros", [], size=[2, 3], **of)
        case("ones", [], size=[3], **of)
        case("arange", [], start=1, end=9, step=3, **of)
        case("eye", [], by=lambda n, m, dtype: torch.eye(n, m).to(dtype), n=3, m=2, **of)
        case("zeros_like", [real(2, 3)], **of)
        case("ones_like", [real(2, 3)], **of)
        case("full_like", [real(2, 3)], fill_value=2, **of)
    case("zeros", [], floats=False, types="f32", size=[])
    case("full", [], floats=False, types="f32", size=[2], fill_value=0.5)
    case("full", [], floats=False, types="i64", size=[2], fill_value=5)
    case("full", [], floats=False, types="bool", size=[2], fill_value=True, dtype="bool")
    case("full_like", [real(2)], fill_value=0.5)
    case("arange", [], floats=False, types="i64", start=7, end=1, step=-2)
    case("arange", [], floats=False, types="f32", start=0.5, end=2.0, step=0.25)
    case("arange", [], floats=False, types="f64", start=0.0, end=1.0, step=0.1, dtype="f64")
    case("arange", [], floats=False, types="i64", start=3, end=3, step=1)
    for dtype in ("f64", "f32"):
        case("linspace", [], floats=False, types=dtype, start=-1.0, end=2.0, steps=7, dtype=dtype)
        case("linspace", [], floats=False, types=dtype, start=5.0, end=2.0, steps=1, dtype=dtype)
    case("eye", [], floats=False, types="f32", n=3)
    for op in ("tril", "triu"):
        for diagonal in (0, 1, -2):
            case(op, [real(4, 5)], types="i64 i32 u8 bool", diagonal=diagonal)
        case(op, [real(2, 3, 3)])
