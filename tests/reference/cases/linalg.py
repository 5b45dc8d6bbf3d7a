"""Decompositions and functions of matrices. The matrices are given where random ones would not be regular enough for f32,
f16 and bf16; results that are unique only up to signs are left out or made unique."""
import numpy as np
import torch
from generate import real, typed, values

FLOATING = dict(tolerance=8)


def symmetric(*shape, seed=0):
    """Positive-definite: small numbers off the diagonal, larger and different ones on it."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, shape) / 8
    x = (x + np.swapaxes(x, -1, -2)) / 2
    return values(x + np.diag(2 + np.arange(shape[-1]) / 2))


def regular(*shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 5, shape) / 8
    return values(x + np.eye(shape[-2], shape[-1]) * (2 + np.arange(shape[-1]) / 4))


def hermitian(n, seed=0):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-4, 5, (n, n)) + 1j * rng.integers(-4, 5, (n, n))) / 8
    return values((x + x.conj().T) / 2 + np.diag(2 + np.arange(n) / 2))


def complex_regular(*shape, seed=0):
    rng = np.random.default_rng(seed)
    x = (rng.integers(-4, 5, shape) + 1j * rng.integers(-4, 5, shape)) / 8
    return values(x + 2 * np.eye(shape[-2], shape[-1]))


def cases(case):
    def both(op, make, *shapes, **given):
        for i, shape in enumerate(shapes):
            case(op, [make(*shape, seed=i)], **FLOATING, **given)

    both("linalg.inv", regular, (3, 3), (2, 4, 4), (1, 1))
    both("inverse", regular, (3, 3))
    both("linalg.det", regular, (3, 3), (2, 4, 4))
    both("linalg.slogdet", regular, (3, 3), (2, 4, 4))
    both("logdet", symmetric, (3, 3))
    both("linalg.pinv", regular, (3, 3), (4, 2), (2, 2, 3))
    for upper in [False, True]:
        both("linalg.cholesky", symmetric, (3, 3), (2, 4, 4), upper=upper)
        both("cholesky", symmetric, (3, 3), upper=upper)
    for shape in [(3, 3), (4, 2), (2, 2, 3)]:
        both("linalg.svdvals", regular, shape)
        both("linalg.qr", regular, shape)
        both("linalg.lu_factor", regular, shape)
        both("linalg.lu", regular, shape)
    for uplo in ["L", "U"]:
        both("linalg.eigvalsh", symmetric, (3, 3), (2, 4, 4), UPLO=uplo)
    both("linalg.matrix_exp", regular, (3, 3), (2, 2, 2))
    both("linalg.matrix_rank", regular, (3, 3), (2, 3, 4))
    case("linalg.matrix_rank", [values([[1, 2], [2, 4]])])
    for n in [-2, 0, 3]:
        both("linalg.matrix_power", regular, (3, 3), (2, 2, 2), n=n)
    for p in [None, 2.0, -2.0]:
        both("linalg.cond", regular, (3, 3), (2, 3, 4), p=p)
    for p in [1.0, -1.0, float("inf"), float("-inf"), "fro", "nuc"]:  # PyTorch 1.13 cannot differentiate these
        both("linalg.cond", regular, (3, 3), (2, 3, 3), p=p, grad=False)
    for ord in [1, -1, 2, -2, float("inf"), float("-inf"), "fro", "nuc"]:
        given = float(ord) if isinstance(ord, int) else ord
        both("linalg.matrix_norm", regular, (3, 3), (2, 3, 4), ord=given)
        case("linalg.matrix_norm", [regular(2, 3, 3)], ord=given, dim=[0, 2], keepdim=True, **FLOATING)
        case("linalg.norm", [regular(3, 4)], ord=given, **FLOATING)
        case("linalg.norm", [regular(2, 3, 3)], ord=given, dim=[2, 0], keepdim=True, **FLOATING)
    case("linalg.norm", [real(2, 3, 4)])
    case("linalg.norm", [real(2, 3, 4)], ord=3.0, dim=1)
    case("linalg.vector_norm", [real(2, 3)], ord=float("inf"), dim=[0, 1])

    for left in [True, False]:
        case("linalg.solve", [regular(3, 3), real(3, 3)], left=left, **FLOATING)
        case("linalg.solve", [regular(2, 3, 3), real(3, 3)], left=left, **FLOATING)
        for upper in [True, False]:
            case("linalg.solve_triangular", [regular(3, 3), real(2, 3, 3)], upper=upper, left=left, **FLOATING)
            case("linalg.solve_triangular", [regular(3, 3), real(3, 3)], upper=upper, left=left, unitriangular=True,
                 **FLOATING)
    case("linalg.solve", [regular(3, 3), real(3)], **FLOATING)
    case("linalg.solve", [regular(2, 3, 3), real(2, 3)], **FLOATING)
    case("triangular_solve", [real(3, 2), regular(3, 3)], **FLOATING)
    case("cholesky_solve", [real(3, 2), regular(3, 3)], grad=False, **FLOATING)
    case("cholesky_inverse", [regular(3, 3)], grad=False, **FLOATING)
    case("linalg.tensorinv", [regular(4, 4)], ind=1, **FLOATING)
    case("linalg.tensorsolve", [regular(4, 4), real(4)], **FLOATING)
    case("linalg.lstsq", [regular(4, 2), real(4, 3)], **FLOATING,
         by=lambda a, b: [*torch.linalg.lstsq(a, b)[:1], None, torch.linalg.lstsq(a, b)[2], None])

    # Unique up to signs: of diagonally dominant matrices LAPACK gives the same on every processor.
    both("linalg.svd", regular, (3, 3), (2, 4, 2), full_matrices=False)
    both("linalg.eigh", symmetric, (3, 3), (2, 4, 4))

    for left in [True, False]:
        for adjoint in [True, False]:
            case("linalg.lu_solve", [regular(2, 2), typed("i32", 2, low=2, high=3), real(2, 2)], left=left,
                 adjoint=adjoint, **FLOATING)
    case("lu_solve", [real(2, 2), regular(2, 2), typed("i32", 2, low=2, high=3)], **FLOATING)
    case("lu_unpack", [regular(2, 2), typed("i32", 2, low=2, high=3)], **FLOATING)
    case("linalg.householder_product", [real(4, 3), real(3)], **FLOATING)
    case("orgqr", [real(4, 3), real(3)], **FLOATING)
    case("cdist", [real(2, 3, 4), real(5, 4)], **FLOATING)
    for p in [0.0, 1.0, 1.5, 2.0, float("inf")]:
        case("cdist", [real(3, 4), real(5, 4)], p=p, **FLOATING)
    case("cdist", [real(30, 4), real(28, 4)], **FLOATING)

    for shapes in [[(2, 3), (3, 4), (4, 2)], [(3,), (3, 4), (4,)]]:
        case("linalg.multi_dot", [real(*shape) for shape in shapes], by=lambda *x: torch.linalg.multi_dot(x))
    case("chain_matmul", [real(2, 3), real(3, 4), real(4, 2)])

    # PyTorch's vander has no gradient.
    case("vander", [values([1, 2, 3])], grad=False)
    case("vander", [values([1, 2, 3])], N=4, increasing=True, grad=False)
    for op in ["trapezoid", "trapz", "cumulative_trapezoid"]:
        function = getattr(torch, op)
        case(op, [real(3, 4), None], dx=0.5, by=lambda y, x, dx: function(y, dx=dx))
        case(op, [real(3, 4), real(3)], dim=0, by=lambda y, x, dim: function(y, x, dim=dim))
        case(op, [real(2, 3, 4), real(2, 3, 4)], dim=1, by=lambda y, x, dim: function(y, x, dim=dim))

    # Complex numbers.
    for op in ["linalg.inv", "linalg.det", "linalg.slogdet", "linalg.svdvals", "linalg.qr", "linalg.lu_factor",
               "linalg.matrix_exp", "linalg.pinv"]:
        for shape in [(3, 3), (2, 2, 2)]:
            case(op, [complex_regular(*shape)], types="c128", floats=False, **FLOATING)
    case("linalg.pinv", [complex_regular(4, 2)], types="c128", floats=False, **FLOATING)
    case("linalg.eigvalsh", [hermitian(3)], types="c128", floats=False, **FLOATING)
    # The gradients of these in PyTorch are not Hermitian, or fill the triangle that is not read.
    case("linalg.cholesky", [hermitian(3)], types="c128", floats=False, grad=False, **FLOATING)
    case("linalg.solve", [complex_regular(3, 3), real(3, 2)], types="c128", floats=False, **FLOATING)
    case("linalg.solve_triangular", [complex_regular(3, 3), real(3, 2)], upper=True, types="c128", floats=False,
         **FLOATING)
    case("cholesky_solve", [real(3, 2), complex_regular(3, 3)], types="c128", floats=False, grad=False, **FLOATING)
    case("vdot", [real(4), real(4)], types="c128", floats=False, by=lambda a, b: (a.conj() * b).sum())
    case("linalg.cross", [real(2, 3), real(2, 3)], types="c128", floats=False)
    # Eigenvalues of larger matrices have no order, and eigenvectors no phase.
    case("linalg.eigvals", [complex_regular(3, 1, 1)], types="c128", floats=False)
    case("linalg.eig", [complex_regular(3, 1, 1)], types="c128", floats=False,
         by=lambda a: [torch.linalg.eig(a)[0], None])
    # PyTorch's rows of D: blocks of one and of two.
    plain = [[4.0, 0.0, 0.0], [0.25, -3.25, 0.0], [0.5, 0.0, 4.0]]
    for pivots, factors in [([1, 2, 3], plain), ([-3, -3, 3], [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.25, 0.5, -0.5]])]:
        case("linalg.ldl_solve", [values(factors), values(pivots, "i32"), real(3, 2)], grad=False, **FLOATING)
