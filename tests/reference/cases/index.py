"""Indexing by tensors."""
import torch
import torch.nn.functional as F
from generate import bools, constant, ids, real, values

ALL = "i64 i32 u8 bool"


def cases(case):
    for dtype in ("i64", "i32"):
        case("index_select", {"input": real(3, 4), "index": ids(5, high=3, dtype=dtype)}, dim=0)
    case("index_select", {"input": real(2, 3, 4), "index": ids(2, high=4)}, types=ALL, dim=-1)
    add = {"input": real(3, 4), "index": ids(5, high=3), "source": real(5, 4)}
    case("index_add", add, types="i64 i32 u8", dim=0)
    case("index_add", {"input": real(2, 3), "index": ids(4, high=3), "source": real(2, 4)}, dim=1, alpha=-0.5)
    case("gather", {"input": real(3, 4), "index": ids(2, 4, high=3)}, types=ALL, dim=0)
    case("gather", {"input": real(2, 3, 4), "index": ids(2, 2, 6, high=4)}, dim=-1)
    case("scatter_add", {"input": real(3, 4), "index": ids(2, 4, high=3), "src": constant(real(3, 4))},
         types="i64 i32 u8", dim=0)
    case("scatter_add", {"input": real(2, 5), "index": ids(2, 3, high=5), "src": real(2, 3)}, dim=1)
    case("embedding", [ids(2, 3, high=5), real(5, 4)])
    case("embedding", [ids(6, high=5, dtype="i32"), real(5, 4)], padding_idx=2)
    case("embedding", [values(3, "i64"), real(5, 2)])
    case("masked_fill", [real(3, 4), bools(3, 4)], types="i64 i32 u8", value=3)
    case("masked_fill", [real(2, 3, 4), bools(3, 1)], value=-0.5)
    case("masked_fill", [real(3), bools(3)], value=float("-inf"))
    case("masked_select", [real(3, 4), bools(3, 4)], types=ALL)
    case("masked_select", [real(3, 4), bools(4)])
    case("nonzero", [values([[0.0, 1.0], [float("nan"), 0.0], [-0.0, 2.0]])])
    case("nonzero", [bools(2, 3, 4)], floats=False, types=ALL)
    case("one_hot", [ids(2, 3, high=4)], floats=False, types="i64")
    case("one_hot", [ids(5, high=4)], floats=False, types="i64", num_classes=6)
