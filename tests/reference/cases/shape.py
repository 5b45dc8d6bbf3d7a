"""Ops of shape, order, scan, products and writing at indices that came after the first tables."""
import torch
import torch.nn.functional as F
from generate import Number, constant, ids, real, typed, values

ALL = "i64 i32 u8 bool"
INTS = "i64 i32 u8"


def cases(case):
    networks(case)
    views(case)
    orders(case)
    writes(case)
    products(case)
    joins(case)
    arithmetic(case)


def views(case):
    x = real(2, 3, 4)
    case("movedim", [x], types=ALL, source=[0], destination=[-1])
    case("movedim", [x], source=[2, 0], destination=[0, 1])
    for offset, dim1, dim2 in ((0, 0, 1), (1, 0, 2), (-1, 2, 1), (5, 0, 1)):
        case("diagonal", [x], types=ALL, offset=offset, dim1=dim1, dim2=dim2)
    for dim, size, step in ((0, 1, 1), (2, 2, 1), (2, 3, 2), (1, 1, 2)):
        case("unfold", [real(4, 3, 5)], by=lambda x, dimension, size, step: x.unfold(dimension, size, step),
             types=ALL, dimension=dim, size=size, step=step)
    case("broadcast_to", [real(3, 1)], types=ALL, size=[2, 3, 4])
    case("expand_as", [real(3, 1), real(2, 3, 4)], by=lambda x, y: x.expand_as(y) + 0 * y)
    case("view_as", [x, typed("i64", 6, 4)], by=lambda x, y: x.view_as(y))
    case("reshape_as", [x, typed("i64", 6, 4)], by=lambda x, y: x.reshape_as(y))


def orders(case):
    x = real(2, 3, 4)
    case("roll", [x], types=ALL, shifts=[5])
    case("roll", [x], shifts=[1, -2], dims=[0, 2])
    case("flip", [x], types=ALL, dims=[0, 2])
    case("tile", [x], types=ALL, dims=[2, 1])
    case("tile", [real(3)], dims=[2, 1, 2])
    case("repeat_interleave", [real(2, 3), Number(2)], types=ALL)
    case("repeat_interleave", [real(3, 2), values([2, 0, 3], "i64")], by=lambda x, n, dim: x.repeat_interleave(n, dim),
         dim=0)
    for diagonal in (-2, 0, 1):
        case("diag", [real(3)], types=INTS, diagonal=diagonal)
        case("diag", [real(3, 4)], types=INTS, diagonal=diagonal)
    case("meshgrid", [real(2), real(3), real(4)], by=torch.meshgrid, indexing="ij")
    case("meshgrid", [real(2), real(3), real(4)], by=torch.meshgrid, indexing="xy")
    case("hstack", [real(2, 3), real(2, 1)], by=lambda *x: torch.hstack(x), types=ALL)
    case("hstack", [real(3), real()], by=lambda *x: torch.hstack(x))
    case("vstack", [real(3), real(2, 3)], by=lambda *x: torch.vstack(x), types=ALL)
    case("pad", [x], types=INTS, pad=[1, 2, 0, 1], value=3.0)
    case("pad", [x], pad=[-1, 1, 2, -1])
    for mode, pad in (("reflect", [3, 2]), ("replicate", [5, 1]), ("circular", [4, 1])):
        case("pad", [x], pad=pad, mode=mode)
    case("cumprod", [real(3, 4)], types="i64 i32", dim=1, tolerance=2)
    case("cumprod", [values([[2.0, 0.0, 3.0, 0.0, 1.0], [0.0, 1.5, 2.0, 1.0, 0.5], [1.0, 2.0, 3.0, 0.5, 0.0]])], dim=1,
         tolerance=2)
    case("cumprod", [typed("i64", 5)], floats=False, types="i64", dim=0, dtype="f64")


def writes(case):
    places = values([[1, 0, 3], [2, 3, 0]], "i64")
    case("scatter", {"input": real(2, 4), "index": places, "src": real(2, 3)}, types=ALL, dim=1)
    case("scatter", {"input": real(4, 3), "index": values([[1, 0, 3], [2, 3, 0]], "i32"), "src": real(2, 3)},
         by=lambda input, index, src, dim: input.scatter(dim, index.long(), src), dim=0)
    case("index_copy", {"input": real(2, 4), "index": values([2, 0], "i64"), "source": real(2, 2)}, types=ALL, dim=1)
    case("index_fill", {"input": real(2, 4), "index": values([2, 0], "i64"), "value": Number(3)}, types=INTS, dim=1)
    case("index_fill", {"input": real(2, 4), "index": values([2, 0], "i64"), "value": real()}, dim=1)
    case("take", [real(3, 4), ids(2, 5, high=12)], types=ALL)
    case("take_along_dim", [real(3, 4), ids(1, 6, high=3)], by=torch.take_along_dim, floats=False, types="i64", dim=1)
    case("take_along_dim", [real(3, 4), ids(1, 6, high=3)], dim=1)
    case("take_along_dim", [real(3, 4), ids(7, high=12)])


def products(case):
    for equation, *shapes in (("ij,jk->ik", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 3, 4), (2, 4, 2)),
                              ("bihd,bjhd->bhij", (2, 3, 2, 4), (2, 5, 2, 4)), ("ii->i", (3, 3)), ("ii", (3, 3)),
                              ("ba", (2, 3)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)),
                              ("i,ij,j->", (2,), (2, 3), (3,)), ("abc,cd,de->abe", (2, 3, 4), (4, 5), (5, 2)),
                              ("ij,ij->i", (2, 3), (2, 3)), ("zZ,Za", (2, 3), (3, 4)), ("aab,bc->ac", (3, 3, 2), (2, 4)),
                              ("...a->...", (2, 3, 4)), ("i...->...", (2, 3, 4)), ("nchw,kc->nkhw", (2, 3, 2, 4), (5, 3))):
        case("einsum", [real(*shape) for shape in shapes], by=lambda *x, equation: torch.einsum(equation, *x), tolerance=3,
             equation=equation)
    case("tensordot", [real(2, 3, 4), real(3, 4, 2)], dims=2, tolerance=3)
    case("tensordot", [real(2, 3, 4), real(4, 5, 2)], tolerance=3, dims_self=[0, 2], dims_other=[2, 0],
         by=lambda a, b, dims_self, dims_other: torch.tensordot(a, b, (dims_self, dims_other)))
    case("outer", [real(3), real(4)], types=INTS)
    case("trace", [real(3, 4)], types="i64 i32")
    case("baddbmm", [real(2, 1, 3), real(2, 4, 5), real(2, 5, 3)], beta=0.5, alpha=2.0, tolerance=3)
    for ord in (1.0, 2.0, 3.0, float("inf")):
        case("vector_norm", [real(2, 3, 4)], ord=ord, dim=[0, 2], tolerance=2)


def joins(case):
    case("column_stack", [real(3), real(3, 2)], by=lambda *x: torch.column_stack(x), types=ALL)
    case("dstack", [real(2, 3), real(2, 3)], by=lambda *x: torch.dstack(x), types=ALL)
    case("dstack", [real(3), real(1, 3)], by=lambda *x: torch.dstack(x))
    case("block_diag", [real(2, 3), real(1, 2), real(2), real()], by=lambda *x: torch.block_diag(*x), types="i64 i32")
    case("cartesian_prod", [real(2), real(3), real(2)], by=torch.cartesian_prod, types=ALL)
    case("combinations", [real(4)], types=ALL, r=3, with_replacement=True)
    case("atleast_1d", [real()])
    case("atleast_2d", [real(3)])
    case("atleast_3d", [real(2, 3)])
    case("unflatten", [real(2, 6)], by=lambda x, dim, sizes: x.unflatten(dim, sizes), dim=1, sizes=[2, -1])
    for offset, dim1, dim2 in ((0, -2, -1), (2, 0, 2), (-1, 2, 0), (1, 1, 0)):
        case("diag_embed", [real(2, 3)], types="i64 i32", offset=offset, dim1=dim1, dim2=dim2)
    for k in (-1, 1, 2, 4):
        case("rot90", [real(2, 3, 4)], types=ALL, k=k, dims=[1, 2])
    case("renorm", [real(3, 4)], p=2.0, dim=0, maxnorm=1.5, tolerance=4)


def arithmetic(case):
    case("_round_decimals", [real(3, 4)], by=torch.round, decimals=2)
    case("_round_decimals", [real(3, 4, low=-400, high=400)], by=torch.round, decimals=-2)
    case("_softmax_dtype", [typed("i64", 2, 5)], by=torch.softmax, floats=False, types="i64 i32", dim=1, dtype="f64")
    case("_log_softmax_dtype", [typed("i64", 2, 5)], by=torch.log_softmax, floats=False, types="i64 i32", dim=1,
         dtype="f64")
    case("polygamma", [real(2, 3, low=0.5, high=4)], by=lambda x, n: torch.polygamma(n, x), n=1, tolerance=4)
    case("polygamma", [real(2, 3, low=1, high=4)], by=lambda x, n: torch.polygamma(n, x), n=3, tolerance=8)
    case("polygamma", [real(2, 3, low=0.5, high=4)], by=lambda x, n: torch.polygamma(n, x), n=0, tolerance=4)
    case("xlogy", [values([0.0, 0.0, 1.0, 2.0]), values([0.0, float("nan"), 0.5, 3.0])])
    case("zeta", [constant(real(4, low=1.5, high=4)), constant(real(4, low=0.5, high=5))], grad=False, tolerance=4)
    case("zeta", [values([2.0, 2.0, 3.0, 2.5, 1.0, 0.5]), values([-0.5, -3.0, -2.25, -0.5, 2.0, 2.0])], grad=False,
         tolerance=4)
    case("logit", [values([-0.5, 0.0, 0.25, 1.0, 1.5])], eps=0.125, tolerance=2)
    case("float_power", [typed("i64", 2, 3, low=1, high=4), typed("i64", 3, low=-2, high=3)], floats=False, types="i64")
    case("heaviside", [values([-1.0, 0.0, 2.0, float("nan")]), values([5.0, 0.5, 5.0, 5.0])], grad=False)
    case("fmax", [values([1.0, float("nan"), 3.0, 2.0]), values([2.0, 1.0, float("nan"), 2.0])])
    case("fmin", [values([1.0, float("nan"), 3.0, 2.0]), values([2.0, 1.0, float("nan"), 2.0])])
    case("bitwise_not", [typed("i64", 2, 3)], floats=False, types="i64 i32 u8 bool")
    for op in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        case(op, [real(2, 3, low=-9, high=9), real(3, low=-9, high=9)], floats=False, types="i64 i32 u8 bool")
    for op in ("gcd", "lcm"):
        case(op, [real(2, 3, low=-30, high=30), real(3, low=-12, high=12)], floats=False, types="i64 i32 u8")
    case("_add_alpha", [real(2, 3), real(3)], by=torch.add, types=INTS, alpha=2)
    case("_sub_alpha", [real(2, 3), real(3)], by=torch.sub, types="i64 i32", alpha=3)
    for mode in ("trunc", "floor"):
        case("_div_rounding", [values([-7, 7, -6, 6, 5, -5]), values([2, -2, -3, 4, 5, 5])], by=torch.div,
             types="i64 i32", rounding_mode=mode)
    case("_clamp_bounds", [real(3, 4), real(4, low=-1, high=0), real(3, 1, low=0, high=1)], by=torch.clamp)
    case("clamp_min", [real(3, 4), real(4)], types="i64 i32")
    case("clamp_max", [real(3, 4), real(4)], types="i64 i32")
    case("_sum_dtype", [real(2, 3)], by=torch.sum, floats=False, types="f64 f32 " + ALL, dim=[1], dtype="f64")
    case("_mean_dtype", [typed("i64", 2, 3)], by=torch.mean, floats=False, types="i64", dim=[1], dtype="f64")
    case("_prod_dtype", [typed("i64", 2, 3)], by=lambda x, dim, dtype: torch.prod(x, dim[0], dtype=dtype), floats=False,
         types="i64", dim=[1], dtype="f64")
    nan = float("nan")
    case("isclose", [values([1.0, nan, 2.0, 0.0]), values([1.0, nan, 2.5, 0.25])], rtol=0.125, atol=0.125)
    case("isclose", [values([1.0, nan, 2.0, 0.0]), values([1.0, nan, 2.5, 0.25])], equal_nan=True)
    case("glu", [real(2, 4)], dim=-1, tolerance=2)
    case("glu", [real(4, 3)], dim=0, tolerance=2)
    case("prelu", [real(2, 3, 2), real(3)])
    case("prelu", [real(2, 3), real(1)])
    case("softmin", [real(2, 5)], dim=1, tolerance=4)


def networks(case):
    case("channel_shuffle", [real(2, 6, 2, 2)], groups=3,  # 1.13 has no derivative of it
         by=lambda x, groups: x.reshape(2, groups, 2, 2, 2).transpose(1, 2).reshape(x.shape))
    case("feature_dropout", [real(2, 3, 4)], by=lambda x, p, training: x * 1, p=0.5, training=False)
    for dims in (1, 2):
        size = (2, 2, 7, 6)[:dims + 2]
        case(f"_max_pool{dims}d_indices", [real(*size)], by=getattr(F, f"max_pool{dims}d"), kernel_size=[3], stride=[2],
             padding=[1], ceil_mode=True, return_indices=True)
    case("_adaptive_max_pool2d_indices", [real(2, 3, 5, 4)], by=F.adaptive_max_pool2d, output_size=[3, 2],
         return_indices=True)
    case("max_pool3d", [real(1, 2, 4, 5, 4)], kernel_size=[2, 3, 2], stride=[1], padding=[1], return_indices=True)
    case("adaptive_max_pool3d", [real(1, 2, 5, 3, 4)], output_size=[2, 3, 1], return_indices=True)
    case("adaptive_max_pool1d", [real(2, 3, 7)], output_size=[3], return_indices=True)
    case("adaptive_max_pool1d", [real(3, 4)], output_size=[5])
    case("max_pool3d", [real(2, 5, 5, 6)], kernel_size=[3, 2, 3], stride=[2, 1, 2], padding=[1, 1, 0], dilation=[1, 2, 1],
         ceil_mode=True)
    table = real(5, 3)
    case("_embedding_options", [ids(2, 4, high=5), table], by=F.embedding, padding_idx=-2, scale_grad_by_freq=True)
    case("_embedding_options", [ids(6, high=5), table], by=F.embedding, padding_idx=1)
    case("_rms_norm_bias", [real(2, 4), real(4), real(4)], tolerance=4, normalized_shape=[4], eps=0.125,
         by=lambda x, w, b, normalized_shape, eps: x / (x.square().mean(-1, True) + eps).sqrt() * w + b)
    case("_grouped_attention", [real(2, 6, 3, 4), real(2, 2, 5, 4), real(2, 2, 5, 3), None], tolerance=4, enable_gqa=True,
         by=lambda q, k, v, mask, enable_gqa: torch.softmax(
             q @ k.repeat_interleave(3, 1).transpose(-1, -2) / 2, -1) @ v.repeat_interleave(3, 1))
