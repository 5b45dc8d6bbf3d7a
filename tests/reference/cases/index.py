"""Indexing by tensors."""
import torch
import torch.nn.functional as F
from generate import bools, constant, ids, real, typed, values

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
    places(case)
    searches(case)
    statistics(case)


def places(case):
    def of_list(function):
        return lambda x, *rest, **params: function(x, tuple(rest), **params)

    case("index", [real(3, 4, 2), ids(5, high=3), ids(5, high=4)], by=of_list(lambda x, i: x[i]), types=ALL)
    case("index", [real(3, 4), ids(2, 1, low=-3, high=3), ids(3, low=-4, high=4)], by=of_list(lambda x, i: x[i]))
    case("index", [real(3, 4), bools(3)], by=of_list(lambda x, i: x[i]))
    put = lambda x, values, *indices, **params: torch.index_put(x, indices, values, **params)
    case("index_put", [real(3, 4), real(5), ids(5, high=3), ids(5, high=4)], by=put, accumulate=True)
    case("index_put", [real(3, 4, 2), real(2), values([2, 0], "i64"), values([1, 3], "i64")], by=put)
    index = values([[1, 0, 3], [1, 3, 0]], "i64")
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            case("scatter_reduce", {"input": real(2, 4), "index": index, "src": real(2, 3)}, types="i64 i32", dim=1,
                 reduce=reduce, include_self=include, tolerance=2)
    case("scatter_reduce", {"input": values([[1.0, 0.0, 2.0, 3.0]]), "index": values([[1, 1, 2, 2, 0, 0]], "i64"),
                            "src": values([[2.0, 3.0, 0.0, 4.0, 0.0, 0.0]])}, dim=1, reduce="prod")
    for reduce, include in (("prod", True), ("mean", False), ("amax", True), ("amin", False)):
        case("index_reduce", {"input": real(4, 3), "index": ids(5, high=4), "source": real(5, 3)}, grad=False,
             by=lambda input, index, source, dim, reduce, include_self: input.index_reduce(
                 dim, index, source, reduce, include_self=include_self), dim=0, reduce=reduce, include_self=include,
             tolerance=2)
    for reduce in ("sum", "mean", "max", "min"):
        case("segment_reduce", {"data": real(7, 2), "lengths": values([3, 0, 4], "i64")}, grad=False, reduce=reduce,
             by=lambda data, lengths, reduce, initial: torch.segment_reduce(
                 data, reduce, lengths=lengths, initial=initial), initial=0.5)
    for reduce in ("add", "multiply"):
        case("_scatter_with", {"input": real(2, 4), "index": index, "src": real(2, 3)}, grad=False, dim=1,
             by=lambda input, index, src, dim, reduce: input.scatter(dim, index, src, reduce=reduce), reduce=reduce)
    case("_masked_fill_value", [real(3, 4), bools(3, 4), real()], by=torch.masked_fill)


def searches(case):
    rows = values([[-1.0, 0.0, 0.5, 0.5, 2.0], [-2.0, -1.0, -1.0, 1.0, 1.5]])
    wanted = values([[0.5, -3.0, 9.0], [-1.0, float("nan"), 1.25]])
    for right in (False, True):
        case("searchsorted", {"sorted_sequence": rows, "input": wanted}, right=right)
        case("searchsorted", {"sorted_sequence": values([0.0, 1.0, 1.0, 2.0]), "input": real(2, 3)}, right=right,
             out_int32=True)
        case("bucketize", {"input": wanted, "boundaries": values([0.0, 0.5, 0.5, 2.0])}, right=right)
    case("searchsorted", {"sorted_sequence": values([2.0, 0.0, 1.0]), "input": real(4), "sorter": values([1, 2, 0], "i64")},
         side="right")
    case("bincount", [ids(20, high=6)], floats=False, types="i64")
    case("bincount", [ids(20, high=6), constant(real(20))], grad=False, minlength=9,
         by=lambda x, w, minlength: torch.bincount(x, w.double(), minlength).to(w.dtype))
    for low, high in ((-1.0, 1.5), (0.0, 0.0)):
        case("histc", [real(30)], grad=False, bins=5, min=low, max=high)
    case("isin", [typed("i64", 3, 4), typed("i64", 5)], floats=False, types="i64")
    case("isin", [values([1.0, float("nan"), 2.5]), values([2.5, float("nan")])], invert=True)


def statistics(case):
    nan = float("nan")
    holes = values([[1.0, nan, -2.0, 0.5, 3.0], [nan, nan, nan, nan, nan], [0.25, 2.0, -1.0, 4.0, 1.5]])
    few = values([[3.0, nan, 1.0], [0.5, 2.0, 4.0]])
    for op in ("nansum", "nanmean"):
        case(op, [few], tolerance=2)
        case(op, [few], dim=[1], keepdim=True, tolerance=2)
    case("nanmedian", [holes], dim=1, grad=False, by=lambda x, dim: (torch.nanmedian(x, dim)[0], None))
    case("nanmedian", [holes])
    case("aminmax", [real(3, 4)], grad=False)
    case("aminmax", [real(3, 4)], types="i64 i32 u8 bool", grad=False, dim=0, keepdim=True)
    for word in ("linear", "lower", "higher", "midpoint", "nearest"):
        # In 16 bits the position of a quantile is rounded to another element.
        case("quantile", {"input": real(3, 6), "q": values([0.0, 0.25, 0.6, 1.0])}, grad=False, floats=False, types="f64 f32", dim=1, interpolation=word,
             by=lambda input, q, dim, interpolation: torch.quantile(input, q, dim, interpolation=interpolation),
             tolerance=4)
        case("nanquantile", {"input": holes, "q": values([0.25, 0.5])}, grad=False, dim=1, interpolation=word,
             by=lambda input, q, dim, interpolation: torch.nanquantile(input, q, dim, interpolation=interpolation),
             tolerance=4)
    case("quantile", {"input": holes, "q": values(0.5)}, grad=False, dim=1, keepdim=True)
    case("quantile", {"input": real(2, 5), "q": constant(values([0.25, 0.75]))}, tolerance=4)
    case("mode", [typed("i64", 4, 9, low=0, high=4)], floats=False, types="i64", dim=1,
         by=lambda x, dim: (torch.mode(x, dim)[0], None))
    case("kthvalue", [real(3, 7)], k=4, dim=1)
    case("kthvalue", [values([nan, 2.0, 1.0])], k=3)
    for reverse in (1, 2):
        case("diff", [real(3, 5)], types="i64 i32", n=reverse)
    case("cummax", [values([[1.0, 3.0, 3.0, 2.0, nan, 5.0, nan]])], dim=1)
    case("cummin", [values([[1.0, 3.0, 1.0, 2.0, nan, 0.5]])], dim=1)
    case("logcumsumexp", [values([[float("-inf"), 1.0, 90.0, -3.0], [0.0, 0.5, -2.0, 200.0]])], dim=1, tolerance=2)
    case("unique", [typed("i64", 4, 5)], floats=False, types="i64", by=lambda x, **p: torch.unique(x, **p),
         return_inverse=True, return_counts=True)
    case("unique", [typed("i64", 9, 2, low=0, high=3)], floats=False, types="i64", return_inverse=True,
         return_counts=True, dim=0)
    case("unique_consecutive", [typed("i64", 3, 6, low=0, high=2)], floats=False, types="i64", return_inverse=True,
         return_counts=True)
    case("unique_consecutive", [typed("i64", 9, 1, low=0, high=2)], floats=False, types="i64", return_counts=True, dim=0,
         by=lambda x, return_counts, dim: torch.unique_consecutive(x, return_counts=return_counts, dim=dim))
    # PyTorch 1.13's gradient of the first operand is not initialized.
    case("as_strided_scatter", [real(3, 4), real(2, 3)], size=[2, 3], stride=[4, 1], storage_offset=1, grad=False,
         types="i64")
