"""Complex numbers."""
import torch
import torch.nn.functional as F
from generate import Number, bools, constant, ids, parts, real, values


def cases(case):
    def both(op, inputs, **more):
        case(op, inputs, types="c128", **more)

    norm_sq = lambda x: (x * x.conj()).real  # noqa: E731
    case("conj", [real(2, 3)], by=lambda x: x.conj().clone())
    case("norm_sq", [real(2, 3)], by=norm_sq)
    case("real", [real(2, 3)], by=torch.real)
    case("angle", [real(2, 3)], by=lambda x: torch.angle(x) + 0 * x)
    z = real(3, 4)
    for op in ("conj", "abs", "angle", "real", "imag"):
        both(op, [z], by=lambda x, op=op: getattr(torch, op)(x).clone())
    both("norm_sq", [z], by=norm_sq)
    both("abs", [values([0, 3 + 4j, -2j, 1])], by=torch.abs)
    both("angle", [values([1j, 3 + 4j, -2j, -1 - 1j])], by=torch.angle)
    both("complex", [parts(2, 3), parts(2, 3)], by=torch.complex)
    both("complex", [parts(3), parts(2, 1)], by=lambda a, b: torch.complex(a.expand(2, 3), b.expand(2, 3)))
    both("polar", [parts(2, 3, low=0, high=2), parts(2, 3)], by=torch.polar, tolerance=2)
    both("view_as_real", [real(2, 3)], by=torch.view_as_real)
    both("view_as_complex", [parts(3, 2)], by=torch.view_as_complex)

    # elementwise
    for op in ("add", "sub", "mul", "div"):
        both(op, [real(3, 4), real(4)], by=getattr(torch, op))
        both(op, [real(3, 4), parts(3, 1, low=0.5)], by=getattr(torch, op))
        both(op, [parts(3, 4), real(4)], by=getattr(torch, op))
        both(op, [real(3), Number(2.5)], by=getattr(torch, op))
    both("div", [Number(2.5), real(3)], by=lambda a, b: a / b)
    both("pow", [real(3, 4), real(4)], by=torch.pow, tolerance=10)
    both("pow", [real(3), Number(2)], by=torch.pow)
    both("pow", [parts(3, low=0.5), real(3)], by=torch.pow, tolerance=10)
    for op in ("neg", "square", "reciprocal", "sqrt", "rsqrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "sinh",
               "cosh", "tanh", "sigmoid"):
        both(op, [z], by=getattr(torch, op), tolerance=10)
    both("sqrt", [values([-1, -4 + 1j, -4 - 1j, 2j, 9])], by=torch.sqrt)
    both("log", [values([-1 + 1j, -4 - 1j, 2j, 1, 0.5 - 0.75j])], by=torch.log)
    both("lerp", [z, real(3, 4), real(3, 4)], by=torch.lerp)
    both("addcmul", [z, z, real(4)], by=torch.addcmul, value=0.5)
    both("addcdiv", [z, z, real(4)], by=torch.addcdiv, value=-0.5, tolerance=10)
    both("affine", [z, real(4), real(4)], by=lambda x, mul, add: x * mul + add)
    both("where", [bools(3, 4), z, real(4)], by=torch.where)
    both("eq", [values([1 + 1j, 1 - 1j, 2]), values([1 + 1j, 1 + 1j, 2])], by=torch.eq, grad=False)
    both("ne", [values([1 + 1j, 1 - 1j, 2]), values([1 + 1j, 1 + 1j, 2])], by=torch.ne, grad=False)
    odd = values([1 + 1j, complex("nan"), complex("1+infj"), complex("-inf+nanj"), 0])
    for op in ("isnan", "isinf", "isfinite"):
        both(op, [odd], by=getattr(torch, op), grad=False)
    for op in ("logical_and", "logical_or", "logical_xor"):
        both(op, [values([0, 1j, 1]), values([0, 0, 1j])], by=getattr(torch, op), grad=False)
    both("logical_not", [values([0, 1j, 1])], by=torch.logical_not, grad=False)

    # reductions
    x = real(2, 3, 4)
    both("sum", [x], by=torch.sum)
    both("sum", [x], by=torch.sum, dim=[0, 2])
    both("sum", [x], by=torch.sum, dim=[1], keepdim=True)
    both("mean", [x], by=torch.mean, dim=[0, 1])
    both("prod", [real(5)], by=torch.prod)
    both("prod", [x], by=lambda x, dim: torch.prod(x, dim[0]), dim=[1])
    both("prod", [values([1 + 1j, 0, 2j])], by=torch.prod)
    for p in (1, 2, 3, float("inf")):
        both("norm", [x], by=lambda x, p, dim: torch.linalg.vector_norm(x, p, dim), p=p, dim=[1, 2])
    both("norm", [real(3)], by=torch.linalg.vector_norm)
    # PyTorch 1.13 itself drops the imaginary part here.
    both("all", [values([[0, 1j], [1, 1]])], by=lambda x, dim: torch.all(x != 0, dim[0]), dim=[1], grad=False)
    both("any", [values([[0, 0], [0, 1j]])], by=lambda x, dim: torch.any(x != 0, dim[0]), dim=[1], grad=False)
    both("cumsum", [x], by=torch.cumsum, dim=1)
    both("cumprod", [x], by=torch.cumprod, dim=-1)
    both("cumprod", [values([1 + 1j, 2, 0, 2j, 1])], by=torch.cumprod, dim=0)

    # products
    # Debian's PyTorch gives 0 for the dot of complex vectors, so it is spelled out.
    inner = lambda a, b: (a * b).sum()  # noqa: E731
    both("matmul", [real(3), real(3)], by=inner)
    both("dot", [real(3), real(3)], by=inner)
    for a, b in [((2, 3), (3, 4)), ((2, 3, 4), (4,)), ((3,), (3, 2)), ((2, 3, 4), (2, 4, 5))]:
        both("matmul", [real(*a), real(*b)], by=torch.matmul)
    both("linear", [real(5, 3), real(4, 3), real(4)], by=F.linear)
    both("addmm", [real(4), real(2, 3), real(3, 4)], by=torch.addmm, beta=0.5, alpha=2)
    both("outer", [real(3), real(2)], by=torch.outer)
    both("trace", [real(3, 3)], by=torch.trace)
    both("einsum", [real(2, 3, 4), real(2, 5, 4)], by=lambda a, b, equation: torch.einsum(equation, a, b),
         equation="bid,bjd->bij")

    # convolutions
    line, image = real(2, 4, 9), real(2, 2, 5, 4)
    both("conv1d", [line, real(6, 2, 3), real(6)], by=F.conv1d, stride=[2], padding=[1], groups=2)
    both("conv2d", [image, real(3, 2, 3, 2), real(3)], by=F.conv2d, padding=[1, 1], dilation=[2, 1])
    both("conv3d", [real(1, 2, 3, 4, 3), real(2, 2, 2, 3, 2), real(2)], by=F.conv3d)
    # Debian's PyTorch has transposed convolutions of real numbers only.
    def of_parts(f):
        return lambda x, weight, bias, **more: torch.complex(
            f(x.real, weight.real, bias.real, **more) - f(x.imag, weight.imag, **more),
            f(x.real, weight.imag, bias.imag, **more) + f(x.imag, weight.real, **more))

    both("conv_transpose1d", [line, real(4, 3, 3), real(3)], by=of_parts(F.conv_transpose1d), stride=[2], padding=[1])
    both("conv_transpose2d", [image, real(2, 3, 2, 3), real(3)], by=of_parts(F.conv_transpose2d), stride=[2, 1])

    # shape
    both("transpose", [real(3, 4)], by=torch.transpose, dim0=0, dim1=1)
    both("cat", [real(2, 3), parts(1, 3)], by=lambda a, b: torch.cat([a, b]))
    both("stack", [real(2, 3), real(2, 3)], by=lambda a, b, dim: torch.stack([a, b], dim), dim=1)
    both("flip", [real(2, 3)], by=torch.flip, dims=[0, 1])
    both("roll", [real(2, 3)], by=torch.roll, shifts=[1], dims=[1])
    both("tril", [real(3, 3)], by=torch.tril)
    both("unfold", [real(2, 5)], by=lambda x, dimension, size, step: x.unfold(dimension, size, step), dimension=1, size=3,
         step=1)

    # indices
    both("index_select", {"input": real(3, 4), "index": ids(5, high=3)}, by=torch.index_select, dim=0)
    both("index_add", {"input": real(3, 4), "index": ids(5, high=3), "source": real(5, 4)}, by=torch.index_add, dim=0,
         alpha=-0.5)
    both("gather", {"input": real(3, 4), "index": ids(2, 4, high=3)}, by=torch.gather, dim=0)
    both("scatter_add", {"input": real(3, 4), "index": ids(2, 4, high=3), "src": constant(real(3, 4))},
         by=torch.scatter_add, dim=0)
    both("masked_fill", [real(3, 4), bools(3, 4)], by=torch.masked_fill, value=-0.5)
    both("masked_select", [real(3, 4), bools(3, 4)], by=torch.masked_select)
    both("nonzero", [values([0, 1j, 2])], by=torch.nonzero, grad=False)
    both("embedding", [ids(2, 3, high=5), real(5, 4)], by=lambda places, weight: weight[places])
