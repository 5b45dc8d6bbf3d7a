"""Complex numbers."""
import numpy as np
from mpmath import mp, mpf
from generate_ends import Operand
from ends.cases_matrices import times
from ends.cases_reduce import product, total
from ends.elementwise import TWO
from ends.number import C, INF, NAN, V, absolute, complexed, cos, each, exp, expm1, floats, function, lift, lifted, log, sin, sqrt

SIZES = {"c64": (1e-42, 1e-30, 1e-20, 1, 30, 1e20, 1e38), "c128": (1e-310, 1e-200, 1e-20, 1, 30, 1e160, 1e308)}


def size(z):
    if z.re.v == 0 and z.im.v == 0:
        return V(0, ((z.re, mpf(0)), (z.im, mpf(0))))
    return sqrt(z.re * z.re + z.im * z.im)


def angle(z):
    return TWO["atan2"](z.im, z.re)


def cexp(z):
    e = exp(z.re)
    return C(e * cos(z.im), e * sin(z.im))


def clog(z):
    return C(log(size(z)), angle(z))


def csqrt(z):
    r = size(z)
    if r.v == 0:
        return C(V(0, ((z.re, NAN),)), V(0, ((z.im, NAN),)))
    if z.re.v >= 0:
        a = sqrt((r + z.re) * mpf(0.5))
        return C(a, z.im / (a * 2))
    b = sqrt((r - z.re) * mpf(0.5))
    b = b if z.im.v >= 0 else -b
    return C(z.im / (b * 2), b)


cosh = function(mp.cosh, lambda x, y: mp.sinh(x))
sinh = function(mp.sinh, lambda x, y: mp.cosh(x), odd=True)


def csinh(z):
    return C(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im))


def ccosh(z):
    return C(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im))


def ctanh(z):
    """sinh / cosh, both divided by exp(|re|)."""
    sign = 1 if z.re.v >= 0 else -1
    e = exp(z.re * (-2 * sign))
    c, s = cos(z.im * 2), sin(z.im * 2)
    below = (e * e + 1) + e * c * 2
    return C(-expm1(z.re * (-4 * sign)) * sign / below, e * s * 2 / below)


def turn(z):
    return C(-z.im, z.re)


def back(z):
    return C(z.im, -z.re)


def csin(z):
    return back(csinh(turn(z)))


def ccos(z):
    return ccosh(turn(z))


def ctan(z):
    return back(ctanh(turn(z)))


def csigmoid(z):
    half = C(z.re * mpf(0.5), z.im * mpf(0.5))
    t = ctanh(half)
    return C((t.re + 1) * mpf(0.5), t.im * mpf(0.5))


ONE = {"neg": lambda z: -z, "square": lambda z: z * z, "reciprocal": lambda z: 1 / z, "sqrt": csqrt,
    "rsqrt": lambda z: 1 / csqrt(z),
       "exp": cexp, "log": clog, "log2": lambda z: clog(z) * (1 / mp.log(2)),
       "log10": lambda z: clog(z) * (1 / mp.log(10)),
       "sinh": csinh, "cosh": ccosh, "tanh": ctanh, "sin": csin, "cos": ccos, "tan": ctan, "sigmoid": csigmoid,
       "conj": lambda z: C(z.re + 0, -z.im)}
REAL = {"abs": size, "angle": angle, "norm_sq": lambda z: z.re * z.re + z.im * z.im, "real": lambda z: z.re + 0,
    "imag": lambda z: z.im + 0}


def numbers(dtype):
    grid = []
    for a in SIZES[dtype]:
        grid += [complex(a, 0.75 * a), complex(-a, a), complex(a, 0), complex(-0.5 * a, 0), complex(0, a),
            complex(0, -a)]
        grid += [complex(a, -1), complex(-1, a), complex(0.5, -a)]
    return np.array(grid)


def finite(z, f, part):
    """The numbers whose value is finite: in which way a complex number is infinite is not agreed upon."""
    return z[np.isfinite(floats(each(f)(lifted(z)), part)).all(-1)]


def cases(family):
    for dtype, part in (("c64", "f32"), ("c128", "f64")):
        z = numbers(dtype)
        for op, f in ONE.items():
            family.case(op, dtype, [finite(z, f, part)], each(f), ulps=64, overflow=False)
        for op, f in REAL.items():
            family.case(op, dtype, [z], each(f), ulps=16, outputs="part", overflow=False)
        family.case("sgn", dtype, [z], each(lambda v: C(v.re / size(v), v.im / size(v))), ulps=16, overflow=False)
        family.case("view_as_real", dtype, [z],
            lambda v: np.stack([each(lambda e: e.re + 0)(v), each(lambda e: e.im + 0)(v)], -1), outputs="part")
        r = np.array([1e-20, 1, 1e20, 0, np.finfo(np.float32).max / 2])
        family.case("complex", part, [r, r[::-1]], lambda a, b: each(lambda p, q: C(p + 0, q + 0))(a, b),
            outputs="complex")
        family.case("polar", part, [r, np.array([0, 1, -2, 3, 1e4])], each(lambda a, t: C(a * cos(t), a * sin(t))),
            outputs="complex", ulps=32)
        family.case("view_as_complex", part, [np.stack([r, r[::-1]], -1)],
            lambda v: each(lambda p, q: C(p + 0, q + 0))(v[:, 0], v[:, 1]), outputs="complex")
        a = np.array([complex(x, y) for x,
            y in ((1, 2), (1e20, -1e20), (1e-20, 1e-20), (3e37, 1e37), (2, 0), (1e19, 1))])
        b = np.array([complex(x, y) for x,
            y in ((3, -4), (1e20, 2e20), (1e-20, -3e-20), (2e37, -1e37), (0, 1e-42), (1e-19, 1e19))])
        for op, f in (("add", lambda p, q: p + q), ("sub", lambda p, q: p - q), ("mul", lambda p, q: p * q),
            ("div", lambda p, q: p / q)):
            kept = np.isfinite(floats(each(f)(lifted(a), lifted(b)), part)).all(-1)
            family.case(op, dtype, [a[kept], b[kept]], each(f), ulps=64, overflow=False)
        family.case("sum", dtype, [a], lambda v: total(list(v)), ulps=32, whole=True)
        family.case("mean", dtype, [np.full(4, complex(3e38 if dtype == "c64" else 1e308, -2e38))],
            lambda v: total(list(v)) * (mpf(1) / 4), ulps=32)
        family.case("prod", dtype, [a[:3]], lambda v: v[0] * v[1] * v[2], ulps=64)
        for scale in (1e-30, 1, 1e18) if dtype == "c64" else (1e-200, 1, 1e150):
            m, n = (np.arange(4).reshape(2, 2) + 1j) * scale, np.array([[1, 2j], [-1, 0.5]])
            family.case("matmul", dtype, [m, n], times, ulps=32, whole=True)
            v = np.array([3 + 4j, -1j, 2]) * scale
            family.case("norm", dtype, [v], lambda x: sqrt(total([e.re * e.re + e.im * e.im for e in x])), ulps=32,
                outputs="part")
        odd = np.array([complex(np.nan, 0), complex(0, np.inf), complex(-np.inf, np.nan), 1, 0, complex(1e-42, 0)])
        for op, test in (("isnan", lambda e: e.re.v != e.re.v or e.im.v != e.im.v),
            ("isinf", lambda e: mp.isinf(e.re.v) or mp.isinf(e.im.v)),
                         ("isfinite", lambda e: abs(e.re.v) < INF and abs(e.im.v) < INF),
                         ("isreal", lambda e: e.im.v == 0),
                         ("logical_not", lambda e: e.re.v == 0 and e.im.v == 0)):
            family.case(op, dtype, [odd], each(lambda e, t=test: V(int(bool(t(e))))), grad=False, outputs="bool")
