"""Products, factors and transforms of matrices; decompositions by what they must be, where signs are free only by values."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_reduce import total
from ends.number import C, INF, NAN, V, absolute, each, exp, expm1, lift, log, sqrt
from ends.scaled import Scaled, pattern, scalar, whole_numbers

SHAPES = {"mm": ((2, 3), (3, 2)), "matmul": ((2, 3), (3, 2)), "mv": ((2, 3), (3,)), "dot": ((3,), (3,)),
    "linalg.matmul": ((2, 3), (3, 2)),
          "bmm": ((1, 2, 3), (1, 3, 2)), "inner": None, "vdot": ((3,), (3,))}


def times(a, b):
    """The product of matrices (batches of one) and vectors."""
    if a.ndim == 3:
        return times(a[0], b[0])[None]
    if a.ndim == 1 and b.ndim == 1:
        return scalar(total([x * y for x, y in zip(a, b)]))
    if b.ndim == 1:
        return np.array([total([x * y for x, y in zip(row, b)]) for row in a], dtype=object)
    return np.array([[total([x * y for x, y in zip(row, column)]) for column in b.T] for row in a], dtype=object)


def determinant(a):
    n = len(a)
    if n == 1:
        return a[0, 0] + 0
    y = V(0)
    for j in range(n):
        minor = determinant(np.delete(a[1:], j, 1)) * a[0, j]
        y = y + minor if j % 2 == 0 else y - minor
    return y


def inverse(a):
    n, d = len(a), determinant(a)
    out = np.empty((n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        cofactor = determinant(np.delete(np.delete(a, j, 0), i, 1)) if n > 1 else V(1)
        out[i, j] = cofactor / d if (i + j) % 2 == 0 else -cofactor / d
    return out


def cholesky(a):
    n = len(a)
    out = np.full((n, n), V(0), dtype=object)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - total([out[i, k] * out[j, k] for k in range(j)])
            out[i, j] = sqrt(rest) if i == j else rest / out[j, j]
    return out


def identity(n):
    return np.array([[V(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)


def cases(family):
    s = Scaled(family, ulps=32)
    products(s)
    solutions(s)
    reflections(s)
    values(s)
    transforms(s)


def products(s):
    for op, shapes in SHAPES.items():
        a, b = pattern(*(shapes or ((2, 3),) * 2)[0]), pattern(*(shapes or ((2, 3),) * 2)[1], salt=5)
        f = (lambda x, y: times(x, y.T)) if op == "inner" else times
        s(op, [a, Operand(b)], f, scales=[0, 2, 4, 5] if op != "matmul" else None)
        s(op, [a * 0.5, b * 0.5], f, scales=[2])
    # Sums whose terms are too large for the type, or vanish, and what infinities make.
    inf = np.inf
    s.plain("matmul", [np.array([[inf, 1, 0], [1e38, 1, -1]]), np.array([[1.0, 0], [2, inf], [3, -inf]])], times,
        grad=False)
    m, v, w = pattern(2, 3), pattern(3, salt=2), pattern(2, salt=3)
    s("linear", [m, Operand(pattern(2, 3, salt=4)), w], lambda x, y, b: times(x, y.T) + b)
    s("addmm", [pattern(2, 2), m, Operand(pattern(3, 2, salt=4))],
        lambda c, x, y, beta, alpha: c * beta + times(x, y) * alpha, {"beta": 0.5, "alpha": 2})
    s.plain("addmm", [np.array([[inf, np.nan], [1, 2]]), m, pattern(3, 2, salt=4)],
            lambda c, x, y, beta, alpha: each(lambda p, q: V(0, ((p, mpf(0)),)) + q)(c, times(x, y)),
            {"beta": 0, "alpha": 1})
    s("baddbmm", [pattern(1, 2, 2), m[None], Operand(pattern(1, 3, 2, salt=4))], lambda c, x, y: c + times(x, y),
        scales=[0, 4, 5])
    s("addbmm", [pattern(2, 2), m[None], Operand(pattern(1, 3, 2, salt=4))], lambda c, x, y: c + times(x, y)[0],
        scales=[0, 4, 5])
    s("addmv", [w, m, Operand(v)], lambda c, x, y: c + times(x, y), scales=[0, 4, 5])
    s("addr", [m, w, Operand(v)], lambda c, x, y: c + x[:, None] * y[None], scales=[0, 4, 5])
    s("outer", [w, Operand(v)], lambda x, y: x[:, None] * y[None], scales=[0, 4, 5], whole=False)
    s("kron", [w, Operand(v)], lambda x, y: (x[:, None] * y[None]).reshape(-1), scales=[0, 4, 5], whole=False)
    s("trace", [pattern(3, 3)], lambda x: scalar(total([x[i, i] for i in range(3)])))
    s("bilinear",
        [pattern(1, 2), Operand(pattern(1, 2, salt=2)), Operand(pattern(1, 2, 2, salt=3)), pattern(1, salt=4)],
      lambda x, y, w, b: np.array([[total([x[0, i] * y[0, j] * w[0, i,
      j] for i in range(2) for j in range(2)]) + b[0]]], dtype=object), scales=[0, 2, 4])
    s("einsum", [m, Operand(pattern(3, 2, salt=4))], lambda x, y, equation: times(x, y), {"equation": "ij,jk->ik"},
        scales=[0, 4, 5])
    s("tensordot", [m, Operand(pattern(3, 2, salt=4))], lambda x, y, dims: times(x, y), {"dims": 1}, scales=[0, 4, 5])
    s("linalg.multi_dot", [m, Operand(pattern(3, 2, salt=4)), Operand(pattern(2, 2))],
        lambda x, y, z: times(times(x, y), z), scales=[0, 4])
    s("chain_matmul", [m, Operand(pattern(3, 2, salt=4)), Operand(pattern(2, 2))],
        lambda x, y, z: times(times(x, y), z), scales=[0, 4])
    s("linalg.vecdot", [m, Operand(pattern(2, 3, salt=4))],
        lambda x, y: np.array([total(list(r)) for r in x * y], dtype=object), scales=[0, 2, 4, 5])
    cross = lambda x, y: np.array([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]],
        dtype=object)  # noqa: E731
    for op in ("cross", "linalg.cross"):
        s(op, [v, Operand(pattern(3, salt=6))], cross, scales=[0, 2, 4])
    for op in ("vander", "linalg.vander"):
        s(op, [v],
            lambda x, **p: np.array([[product_of(e, k) for k in (range(3) if p else range(2, -1, -1))] for e in x],
            dtype=object),
          {"N": 3} if op != "vander" else None, scales=[0, 2, 3, 4], whole=False)
    square = np.array([[1.0, 0.5], [-0.25, 2]])
    for op in ("linalg.matrix_power", "matrix_power"):
        s(op, [square], lambda x, n: times(times(x, x), x), {"n": 3}, scales=[2, 3])
    for op in ("linalg.matrix_exp", "matrix_exp"):
        s.plain(op, [np.array([[1.0, 1e20], [0, 1]])], exponential, ulps=256)
        s.plain(op, [np.array([[60.0, 1], [0, -60]])], exponential, ulps=4096)
        s(op, [np.array([[1.0, 0.5], [0, 2]])], exponential, scales=[0, 1, 2, 3], ulps=64)


def product_of(x, k):
    y = V(1)
    for _ in range(k):
        y = y * x
    return y


def exponential(x):
    """Of an upper triangle of two rows, whose gradient below the diagonal is not compared."""
    a, b, c = x[0, 0], x[0, 1], x[1, 1]
    p, q = exp(a), exp(c)
    ratio = V(p.v, ((a, p.v / 2), (c, p.v / 2))) if a.v == c.v else q * (expm1(a - c) / (a - c))
    zero = V(0, ((x[1, 0], NAN),))
    return np.array([[p + zero, b * ratio], [V(0), q]], dtype=object)


MATRIX = np.array([[2.0, -1, 0.5], [0.25, 3, 1], [-1, 0.5, 1.5]])
POSITIVE = np.array([[4.0, 1, 0.5], [1, 3, -0.25], [0.5, -0.25, 2]])


def solutions(s):
    b = pattern(3, 2, salt=3)
    for op in ("linalg.inv", "inverse", "linalg.tensorinv"):
        s(op, [MATRIX], inverse if op != "linalg.tensorinv" else lambda x, ind: inverse(x),
            {"ind": 1} if op == "linalg.tensorinv" else None,
          scales=[3, 4, 5] if op != "inverse" else [3, 4], ulps=256)
        s(op, [MATRIX], inverse if op != "linalg.tensorinv" else lambda x, ind: inverse(x),
            {"ind": 1} if op == "linalg.tensorinv" else None,
          scales=[1, 2], ulps=256, grad=False)
    s("linalg.inv_ex", [MATRIX], lambda x: (inverse(x), V(0)), scales=[3, 4], ulps=256, outputs=("*", "i32"))
    s("linalg.solve", [MATRIX, Operand(b)], lambda x, y: times(inverse(x), y), scales=[1, 2, 3, 4, 5], ulps=256)
    s("linalg.solve", [MATRIX, b], lambda x, y: times(inverse(x), y), scales=[1, 2, 4, 5], ulps=256)
    s("linalg.solve_ex", [MATRIX, b], lambda x, y: (times(inverse(x), y), V(0)), scales=[2, 4], ulps=256,
        outputs=("*", "i32"))
    s("linalg.tensorsolve", [MATRIX, b[:, 0]], lambda x, y: times(inverse(x), y), scales=[2, 4], ulps=256)
    upper = np.triu(MATRIX)
    tri = lambda x: np.array([[x[i, j] if i <= j else V(0) for j in range(3)] for i in range(3)],
        dtype=object)  # noqa: E731
    s("linalg.solve_triangular", [upper, b], lambda x, y, upper: times(inverse(tri(x)), y), {"upper": True},
        scales=[1, 2, 3, 4, 5], ulps=256)
    s("triangular_solve", [b, upper], lambda y, x: (times(inverse(tri(x)), y), x + V(-0.0)), scales=[2, 4], ulps=256)
    for op in ("linalg.cholesky", "cholesky"):
        s(op, [POSITIVE], lambda x: cholesky(half(x)), scales=[1, 2, 3, 4, 5], ulps=256)
    s("linalg.cholesky_ex", [POSITIVE], lambda x: (cholesky(half(x)), V(0)), scales=[2, 4], ulps=256,
        outputs=("*", "i32"))
    factor = np.linalg.cholesky(POSITIVE)
    factor = np.round(factor * 1024) / 1024
    low = lambda x: np.array([[x[i, j] if i >= j else V(0) for j in range(3)] for i in range(3)],
        dtype=object)  # noqa: E731
    s("cholesky_solve", [b, factor], lambda y, x: times(inverse(times(low(x), low(x).T)), y), scales=[3], fixed=(0,),
        ulps=512)
    s("cholesky_inverse", [factor], lambda x: inverse(times(low(x), low(x).T)), scales=[2, 3], ulps=512)
    lu = np.array([[2.0, -1, 0.5], [0.25, 3, 1], [-0.5, 0.125, 1.5]])
    pivots = Operand([1, 2, 3], "i32")
    def joined(x):
        return times(np.array([[V(int(i == j)) if i <= j else x[i, j] for j in range(3)] for i in range(3)],
            dtype=object), tri(x))
    s.plain("linalg.lu_solve", [lu, pivots, b], lambda x, _, y: times(inverse(joined(x)), y), ulps=256)
    s("linalg.lu_solve", [Operand(lu), pivots, b], lambda x, _, y: times(inverse(joined(x)), y), ulps=256)
    s("lu_solve", [b, Operand(lu), pivots], lambda y, x, _: times(inverse(joined(x)), y), scales=[0, 5], ulps=256)
    # No row is exchanged: the largest element of each column is on the diagonal.
    def factors(x):
        l, u = identity(3), np.array(x, dtype=object)
        for k in range(3):
            for i in range(k + 1, 3):
                l[i, k] = u[i, k] / u[k, k]
                u[i] = [V(0) if j <= k else u[i, j] - l[i, k] * u[k, j] for j in range(3)]
        return l, u
    def packed(x):
        l, u = factors(x)
        return np.array([[u[i, j] if i <= j else l[i, j] for j in range(3)] for i in range(3)], dtype=object)
    rows = whole_numbers([1, 2, 3])
    s("linalg.lu", [MATRIX], lambda x: (identity(3), *factors(x)), scales=[1, 2, 3, 4, 5], ulps=256)
    s("linalg.lu_factor", [MATRIX], lambda x: (packed(x), rows), scales=[1, 2, 4, 5], ulps=256, outputs=("*", "i32"))
    s("linalg.lu_factor_ex", [MATRIX], lambda x: (packed(x), rows, V(0)), scales=[1, 4], ulps=256,
        outputs=("*", "i32", "i32"))
    s("lu_unpack", [lu, pivots],
        lambda x, _: (identity(3),
        np.array([[V(int(i == j)) if i <= j else x[i, j] for j in range(3)] for i in range(3)], dtype=object), tri(x)),
      scales=[0, 5])


def half(x):
    """The matrix by its lower triangle, whose gradient is shared by both triangles."""
    out = np.empty(x.shape, dtype=object)
    for i, j in np.ndindex(*x.shape):
        low, high = (i, j) if i >= j else (j, i), (j, i) if i >= j else (i, j)
        out[i, j] = x[i, j] if i == j else V(x[low].v, ((x[low], mpf(0.5)), (x[high], mpf(0.5))))
    return out


def reflections(s):
    """[[3, -4], [4, 3]] is the reflection [[-.6, -.8], [-.8, .6]] times [[-5, 0], [0, 5]]."""
    q = np.array([[3.0, -4], [4, 3]])
    fifth = mpf(1) / 5
    def numbers(rows):
        return np.array([[V(mpf(k)) for k in row] for row in rows], dtype=object)
    mirror = numbers([[-3 * fifth, -4 * fifth], [-4 * fifth, 3 * fifth]])
    def triangle(x):
        size = x[0, 0] / 3
        return np.array([[-size * 5, size * 0], [size * 0, size * 5]], dtype=object)
    for op in ("linalg.qr", "qr"):
        s(op, [q], lambda x: (mirror, triangle(x)), grad=False, ulps=64)
    s("geqrf", [q],
        lambda x: (np.array([[x[0, 0] * (-5 * fifth * 5 / 3), V(0)], [V(mpf(1) / 2), x[0, 0] * (mpf(5) / 3)]],
        dtype=object), numbers([[mpf(8) / 5, 0]])[0]),
      grad=False, ulps=64)
    packed, tau = Operand([[7.0, 0], [0.5, 0]], constant=True), Operand([1.6, 0], constant=True)
    def reflected(t):
        return [[1 - t, -t * mpf(0.5)], [-t * mpf(0.5), 1 - t * mpf(0.25)]]
    for op in ("linalg.householder_product", "orgqr"):
        s.plain(op, [packed, tau], lambda a, t: np.array(reflected(t[0]), dtype=object), grad=False)
    s("ormqr", [packed, tau, q], lambda a, t, x: times(np.array(reflected(t[0]), dtype=object), x), grad=False)
    d = np.diag([4.0, 3, 2])
    for op in ("linalg.ldl_factor", "linalg.ldl_factor_ex"):
        s(op, [d], lambda x, op=op: (x, whole_numbers([1, 2, 3])) + ((V(0),) if op[-1] == "x" else ()), grad=False,
            outputs=("*", "i32", "i32"))
    s("linalg.ldl_solve", [Operand(d, constant=True), Operand([1, 2, 3], "i32"), pattern(3, 2)],
      lambda x, _, b: np.array([[b[i, j] / x[i, i] for j in range(2)] for i in range(3)], dtype=object),
      scales=[0, 2, 4, 5], grad=False)


def values(s):
    for op in ("linalg.det", "det"):
        s(op, [MATRIX], lambda x: scalar(determinant(x)), scales=[2, 3, 4], ulps=256)
        s(op, [MATRIX[:1, :1]], lambda x: scalar(determinant(x)), scales=[0, 5])
        s.plain(op, [np.array([[1e30, 1e-30], [1e-30, 1e-30]])], lambda x: scalar(determinant(x)))
        s.plain(op, [np.zeros((2, 2))], lambda x: scalar(determinant(x)))
        s.plain(op, [np.array([[1.0, 2], [2, 4]])], lambda x: scalar(determinant(x)))
    for op in ("linalg.slogdet", "slogdet"):
        s(op, [MATRIX], lambda x: (V(1), log(determinant(x))), scales=[1, 2, 3, 4, 5], ulps=256)
    s("logdet", [MATRIX], lambda x: scalar(log(determinant(x))), scales=[1, 2, 3, 4, 5], ulps=256)
    frobenius = lambda x, **p: scalar(sqrt(total([e * e for e in x.reshape(-1)])))  # noqa: E731
    s("linalg.matrix_norm", [MATRIX], frobenius, ulps=64)
    s("linalg.norm", [MATRIX], frobenius, ulps=64)
    for order, dim in ((1.0, 0), (np.inf, 1)):
        s("linalg.matrix_norm", [MATRIX],
            lambda x, ord, d=dim: scalar(max((total([absolute(e) for e in r]) for r in (x.T if d == 0 else x)),
            key=lambda y: y.v)),
          {"ord": order}, ulps=64)
    # A diagonal: singular values and eigenvalues are known.
    d = np.diag([3.0, 1, -2])
    s("linalg.svdvals", [d], lambda x: np.array([x[0, 0] + 0, -x[2, 2], x[1, 1] + 0], dtype=object), grad=False,
        ulps=64)
    for op in ("linalg.svd", "svd"):
        s(op, [d], lambda x: (None, np.array([x[0, 0] + 0, -x[2, 2], x[1, 1] + 0], dtype=object), None), grad=False,
            ulps=64)
    s("linalg.eigvalsh", [d], lambda x: np.array([x[2, 2] + 0, x[1, 1] + 0, x[0, 0] + 0], dtype=object), grad=False,
        ulps=64)
    s("linalg.eigh", [d], lambda x: (np.array([x[2, 2] + 0, x[1, 1] + 0, x[0, 0] + 0], dtype=object), None), grad=False,
        ulps=64)
    # Of two rows: the eigenvalues of [[2, 1], [1, 2]] are 1 and 3, with known gradients.
    pair = np.array([[2.0, 1], [1, 2]])
    s("linalg.eigvalsh", [pair], lambda x: eigenvalues(x), ulps=64)
    s("linalg.eigh", [pair], lambda x: (eigenvalues(x), None), ulps=64)
    s("linalg.svdvals", [pair], lambda x: np.array(list(eigenvalues(x))[::-1], dtype=object), ulps=64)
    s("linalg.matrix_norm", [pair], lambda x, ord: scalar(eigenvalues(x)[1]), {"ord": 2.0}, ulps=64)
    s("linalg.matrix_norm", [pair], lambda x, ord: scalar(eigenvalues(x)[0] + eigenvalues(x)[1]), {"ord": "nuc"},
        ulps=64)
    s("linalg.cond", [pair], lambda x: scalar(eigenvalues(x)[1] / eigenvalues(x)[0]), ulps=256)
    s("linalg.matrix_rank", [np.array([[1.0, 2], [2, 4]])], lambda x: V(1), grad=False, outputs="i64")
    for op in ("linalg.pinv", "pinverse"):
        s(op, [MATRIX], inverse, ulps=512, scales=[3, 4])
    s("linalg.lstsq", [MATRIX, pattern(3, 2)], lambda x, y: (times(inverse(x), y), None, None, None), scales=[2, 3, 4],
        grad=False, ulps=1024)


def eigenvalues(x):
    """Of [[2, 1], [1, 2]] times a size."""
    a, b = (x[0, 0], x[1, 1]), (x[0, 1], x[1, 0])
    half_ = mpf(0.5)
    middle = (a[0] + a[1]) * half_
    off = (b[0] + b[1]) * half_
    return np.array([middle - off, middle + off], dtype=object)


def transforms(s):
    """Transforms of four elements, whose factors are 1, -i, -1 and i."""
    x, n = pattern(4), 4
    unit = [(1, 0), (0, -1), (-1, 0), (0, 1)]  # exp(-2 pi i k / 4)

    def transform(v, sign=1, count=n, scale=1):
        out = np.empty(count, dtype=object)
        for k in range(count):
            factors = [unit[k * j * sign % 4] for j in range(n)]
            out[k] = C(total([e * c for e, (c, _) in zip(v, factors)]) * scale,
                total([e * c for e, (_, c) in zip(v, factors)]) * scale)
        return out
    quarter = mpf(1) / 4
    s("fft.fft", [x], transform, outputs="complex")
    s("fft.fftn", [x], transform, outputs="complex", scales=[0, 5])
    s("fft.rfft", [x], lambda v: transform(v, count=3), outputs="complex")
    s("fft.rfftn", [x], lambda v: transform(v, count=3), outputs="complex", scales=[0, 5])
    s("fft.ifft", [x], lambda v: transform(v, -1, scale=quarter), outputs="complex")
    s("fft.ifftn", [x], lambda v: transform(v, -1, scale=quarter), outputs="complex", scales=[0, 5])
    s("fft.ihfft", [x], lambda v: transform(v, -1, 3, quarter), outputs="complex")
    row = x[None]  # one row: the other dim has one element
    for op, count, sign, scale in (("fft2", 4, 1, 1), ("ifft2", 4, -1, quarter), ("rfft2", 3, 1, 1)):
        s("fft." + op, [row], lambda v, c=count, g=sign, k=scale: transform(v[0], g, c, k)[None], outputs="complex",
            scales=[0, 2, 4, 5])

    def from_half(v, scale):
        """Four real numbers from half a spectrum of real numbers."""
        a, b, c = v
        return np.array([(a + b * 2 + c) * scale, (a - c) * scale, (a - b * 2 + c) * scale, (a - c) * scale],
            dtype=object)
    spectrum = pattern(3)
    s("fft.irfft", [spectrum], lambda v: from_half(v, quarter))
    s("fft.irfftn", [spectrum], lambda v: from_half(v, quarter), scales=[0, 5])
    s("fft.irfft2", [spectrum[None]], lambda v: from_half(v[0], quarter)[None], scales=[0, 2, 4, 5])
    s("fft.hfft", [spectrum], lambda v: from_half(v, mpf(1)))
    s("stft", [x, None], lambda v, _, n_fft, center, return_complex: transform(v, count=3)[:, None],
        {"n_fft": 4, "center": False, "return_complex": True},
      outputs="complex")
    for op in ("fft.fftshift", "fft.ifftshift"):
        s(op, [x], lambda v: np.array([v[2], v[3], v[0], v[1]], dtype=object), scales=[0, 5])
