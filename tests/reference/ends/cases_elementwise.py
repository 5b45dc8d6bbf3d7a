"""Elementwise functions at every end of f32 and f64."""
import numpy as np
from mpmath import mp, mpf
from ends import elementwise as rows
from generate_ends import Operand
from ends.number import INF, NAN, V, backward, each, power, rounded

# Positive numbers of each type: the smallest subnormal, subnormal, normal, ordinary and the largest ones.
POINTS = {"f32": [1e-45, 1e-41, 1.1754943508222875e-38, 1e-30, 1e-20, 1e-12, 1e-4, 0.3, 0.5, 1, 1.75, 2.5, 3, 6, 11, 20,
    60, 88, 89.5,
                  1e4, 1e7, 1e12, 1e19, 1e20, 1e38, 3.4028234663852886e38],
          "f64": [5e-324, 1e-310, 2.2250738585072014e-308, 1e-200, 1e-38, 1e-20, 1e-9, 0.3, 0.5, 1, 1.75, 2.5, 3, 6, 11,
          20, 39, 88, 700,
                  713, 1e4, 1e9, 1e17, 1e20, 1e38, 1e155, 1e300, 1.7976931348623157e308]}
PAIRS = {"f32": [0.0, -0.0, 1e-42, -1e-20, 1e-38, 0.75, -2.5, 3, 1e20, -3e19, 3e38, np.inf, -np.inf],
         "f64": [0.0, -0.0, 1e-310, -1e-160, 0.75, -2.5, 1e160, -1.5e308, np.inf, -np.inf]}
FAR = [mp.mpf(10) ** 320, mp.mpf(10) ** 640]
# Ulps of functions that are sums, or whose argument is reduced or has a factor, which counts as many ulps as its
# power grows: x / sqrt(2) of ndtr at -20 counts 400.
ULPS = {"lgamma": 64, "digamma": 64, "erfinv": 16, "ndtri": 32, "zeta": 64, "i0": 64, "i0e": 32, "i1": 64, "i1e": 32, "erfcx": 16,
        "log_ndtr": 1024, "polygamma": 64, "mvlgamma": 64, "pow": 16, "float_power": 16, "gelu": 1024, "ndtr": 1024, "erfc": 16,
        "exp2": 8, "mish": 32, "silu": 32, "sinh": 8, "cosh": 8, "sinc": 16, "logit": 16}


def limit(values):
    """The limit of a function whose values at FAR are given: NaN if they do not tell."""
    near, far = [rounded(x, "f64") for x in values]
    if near == far or near != near:
        return mpf(near)
    if abs(far) > 1.5 * abs(near):
        return mp.sign(values[1]) * INF
    return mpf(0) if abs(far) < abs(near) / 1.5 else NAN


def with_limits(name, function):
    """The function, at +-inf the limits of its value and of its slope."""
    def of(x, **params):
        if not mp.isinf(x.v):
            return function(x, **params)
        sign = int(mp.sign(x.v))
        if name in rows.ENDLESS or name + ("+" if sign > 0 else "-") in rows.ENDLESS:
            return V(NAN if name != "entr" else -INF, ((x, NAN),))
        points = [V(sign * far) for far in FAR]
        slopes = []
        with mp.workprec(200):
            results = [function(p, **params) for p in points]
            for point, result in zip(points, results):
                backward([result], [mpf(1)])
                slopes.append(point.grad)
        value = limit([r.v for r in results])
        return V(value, ((x, NAN if value != value else limit(slopes)),), bool(results[1].neg or results[1].v < 0))
    return of


def spread(dtype):
    return np.array([0.0, -0.0] + [sign * x for x in POINTS[dtype] for sign in (1, -1)] + [np.inf, -np.inf])


def pairs(dtype):
    grid = np.array(PAIRS[dtype])
    return np.repeat(grid, len(grid)), np.tile(grid, len(grid))


def cases(family):
    halves(family)
    casts(family)
    nan = np.array([np.nan])
    for dtype in ("f32", "f64"):
        points = spread(dtype)
        for op, function in rows.ONE.items():
            for params in rows.PARAMS.get(op, [{}]):
                exact = each(lambda x, f=with_limits(op, function), p=params: f(x, **p))
                family.case(op, dtype, [points], lambda x, f=exact, **_: f(x), params, ulps=ULPS.get(op, 4),
                    zeros=op in SIGNED)
                family.case(op, dtype, [nan], lambda x, **_: each(lambda v: V(NAN))(x), params, grad=False)
        everything = np.append(points, np.nan)
        for op, test in rows.TESTS.items():
            family.case(op, dtype, [points if op == "signbit" else everything], each(lambda x, t=test: V(int(bool(t(x))))), grad=False, outputs="bool")
        top = float(np.finfo(np.float32 if dtype == "f32" else np.float64).max)
        family.case("nan_to_num", dtype, [everything], each(lambda x: rows.nan_to_num(x, top)))
        family.case("frexp", dtype, [points[:-2]], frexp, grad=False, outputs=("*", "i32"))
        two(family, dtype)
        three(family, dtype)


def halves(family):
    """16-bit types compute in f32; a result is rounded to 16 bits once more."""
    for dtype, sizes in (("f16", [6e-8, 3e-5, 1e-3, 0.3, 1, 2.5, 11, 300, 65504]),
        ("bf16", [1e-40, 1e-38, 1e-4, 0.3, 1, 2.5, 11, 300, 1e20, 3.3e38])):
        points = np.array([0.0, -0.0] + [sign * x for x in sizes for sign in (1, -1)] + [np.inf, -np.inf])
        for op, function in rows.ONE.items():
            for params in rows.PARAMS.get(op, [{}]):
                exact = each(lambda x, f=with_limits(op, function), p=params: f(x, **p))
                family.case(op, dtype, [points], lambda x, f=exact, **_: f(x), params, ulps=1, grad=False)
        grid = np.array([0.0, -0.0, sizes[0], -sizes[2], 0.75, -2.5, sizes[-1], -sizes[-1], np.inf, -np.inf])
        for op in ("add", "sub", "mul", "div", "maximum", "minimum", "fmod", "remainder", "floor_divide", "hypot",
            "copysign", "lt", "eq"):
            family.case(op, dtype, [np.repeat(grid, len(grid)), np.tile(grid, len(grid))], each(rows.TWO[op]),
                grad=False, ulps=1,
                        outputs="bool" if op in ("lt", "eq") else "*")


def casts(family):
    """Rounded once, with the ties, the limits and the subnormal numbers of the narrower type."""
    ties = [1 + 2.0 ** -8, 1 + 2.0 ** -8 + 2.0 ** -30, 1 + 3 * 2.0 ** -8, 1 + 2.0 ** -11, 1 + 2.0 ** -11 + 2.0 ** -40,
        1 + 2.0 ** -24, 1 + 2.0 ** -24 + 2.0 ** -50]
    limits = [65504, 65519, 65520, 3.38e38, 3.3895313892515355e38, 3.3961775292304e38, 3.4028234663852886e38,
        3.4028235677973366e38, 1e39, 1e308]
    small = [2.0 ** -24, 2.0 ** -25, 2.0 ** -25 * (1 + 2.0 ** -20), 3 * 2.0 ** -25, 2.0 ** -133, 2.0 ** -134,
        2.0 ** -134 * 1.5, 2.0 ** -149, 2.0 ** -150, 2.0 ** -150 * 1.5, 5e-324]
    points = np.array([sign * x for x in ties + limits + small for sign in (1, -1)] + [0.0, -0.0, np.inf, -np.inf,
        np.nan])
    for dtype in ("f64", "f32"):
        for to in ("f64", "f32", "f16", "bf16"):
            if to != dtype:
                family.case("_cast", dtype, [points], lambda x, dtype: each(lambda v: V(v.v, neg=v.neg))(x),
                    {"dtype": to}, grad=False, outputs=to, ulps=0, zeros=True)
        family.case("_cast", dtype, [points], lambda x, dtype: each(lambda v: V(int(v.v != 0)))(x), {"dtype": "bool"},
            grad=False, outputs="bool")
        whole = np.array([-2.75, -0.5, -0.0, 0.99, 2.0 ** 31 - 128, -2.0 ** 31])
        family.case("_cast", dtype, [whole], lambda x, dtype: each(lambda v: V(rows.truncated(v.v)))(x),
            {"dtype": "i32"}, grad=False, outputs="i32")
    for kind, values in (("i32", [2 ** 24 + 1, 2 ** 24 + 3, 2 ** 31 - 1, -2 ** 31]),
        ("i64", [2 ** 53, 2 ** 62, -2 ** 63, 2 ** 24 + 1])):
        for to in ("f32", "f64", "f16", "bf16"):
            family.case("_cast", kind, [Operand(values, kind)], lambda x, dtype: each(V)(x), {"dtype": to}, grad=False,
                outputs=to, ulps=0)


SIGNED = set("neg abs sqrt deg2rad rad2deg expm1 log1p sin tan asin atan sinh tanh asinh atanh erf floor ceil round trunc "
             "softsign i1 i1e erfinv".split())


def frexp(x):
    def part(which):
        def of(v):
            if v.v == 0:
                return V(0, neg=v.neg) if which == 0 else V(0)
            m, e = mp.frexp(v.v)
            return V(m if which == 0 else e)
        return each(of)(x)
    return part(0), part(1)


def two(family, dtype):
    a, b = pairs(dtype)
    tests = ("eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_xor", "isclose")
    for op, function in rows.TWO.items():
        if op == "prelu":
            continue
        if op in tests:
            grid = np.append(np.array(PAIRS[dtype]), np.nan)
            family.case(op, dtype, [np.repeat(grid, len(grid)), np.tile(grid, len(grid))], each(function), grad=False,
                outputs="bool")
            continue
        family.case(op, dtype, [a, b], each(function), ulps=ULPS.get(op, 4),
            zeros=op in ("atan2", "copysign", "fmod", "mul", "div"))
    grid = np.array(PAIRS[dtype])
    for op in ("maximum", "minimum", "fmax", "fmin", "atan2", "hypot", "logaddexp"):  # NaN beside a number
        nan = np.full(len(grid), np.nan)
        keep = op in ("fmax", "fmin")
        for first in (True, False):
            def chosen(x, y, first=first, keep=keep, op=op):
                return each(lambda v: V(v.v, neg=v.neg) if keep else V(NAN))(y if first else x)
            if op != "hypot":
                family.case(op, dtype, [nan, grid] if first else [grid, nan], chosen, grad=False)
    family.case("prelu", dtype, [grid.reshape(1, -1), np.array([-3e19])], lambda x, w: each(rows.TWO["prelu"])(x, w),
        ulps=8)
    family.case("nextafter", dtype, [a, b], each(lambda x, y: rows.nextafter(x, y, dtype)), grad=False)
    shifts = np.array([0, 1, -1, 100, -100, 2000, -2000, 40.0])
    family.case("ldexp", dtype, [np.repeat(grid, 8), Operand(np.tile(shifts, len(grid)), constant=True)],
                each(lambda x, e: V(x.v * mp.mpf(2) ** e.v if x.v != 0 else x.v, neg=x.neg)), grad=False)
    s, q = np.meshgrid([1.5, 2, 10, 50], [1e-20, 1e-3, 0.5, 1, 3, 1e4])
    family.case("zeta", dtype, [s.ravel(), q.ravel()], each(lambda x, y: V(rows.zeta(x, y))), grad=False, ulps=64)
    x = np.array([1e-20, 1e-3, 0.5, 1, 30, 1e4, 1e10])
    for n in (1, 2, 3):
        family.case("polygamma", dtype, [x],
            lambda v, n: each(lambda t: V(polygamma(n, t.v), ((t, polygamma(n + 1, t.v)),)))(v),
                    {"n": n}, ulps=64)
    x = np.array([1.25, 2, 30, 1e4, 1e10, 1e20])
    family.case("mvlgamma", dtype, [x], lambda v, p: each(mvlgamma)(v), {"p": 3}, ulps=64)
    base = np.array([1e-30, 1e-4, 0.75, 1, 3, 1e20, 1e38])
    family.case("float_power", dtype, [np.repeat(base, 5), np.tile([0, 1, -1, 2.5, -7], 7)], each(power), outputs="f64",
        ulps=64, zeros=False)


def polygamma(n, x):
    with mp.workprec(1200):
        return mp.psi(n, x)


def mvlgamma(x):
    with mp.workprec(1200):
        value = 3 * mp.log(mp.pi) / 2 + sum(mp.loggamma(x.v - mpf(j) / 2) for j in range(3))
        return V(value, ((x, sum(mp.psi(0, x.v - mpf(j) / 2) for j in range(3))),))


def three(family, dtype):
    large, small, top = (1e20, 1e-20, 3e38) if dtype == "f32" else (1e160, 1e-160, 1.5e308)
    a = np.array([0.0, -2, large, -large, small, top, -top / 4, 5, large])
    b = np.array([1.5, large, -large, small, small, 0.5, 0.25, -0.0, large])
    c = np.array([large, 0.5, small, small * small, -large, 0.5, -1, 2, small])
    family.case("addcmul", dtype, [a, b, c], lambda x, y, z, value: x + y * z * value, {"value": 0.5})
    family.case("affine", dtype, [a, b, c], lambda x, y, z: x * y + z)
    d = np.array([large, 0.5, small, top, -large, 0.5, -1, 2, 4.0])
    family.case("addcdiv", dtype, [a, b, d], lambda x, y, z, value: x + y / z * value, {"value": 0.5})
    lerp(family, dtype, large, small, top)
    condition = Operand([1, 0, 1, 0, 1, 0], "bool")
    x, y = np.array([np.nan, 1, -0.0, np.inf, small, 1]), np.array([1, np.nan, 1, -0.0, np.inf, -np.inf])
    family.case("where", dtype, {"condition": condition, "input": x, "other": y},
                lambda m, p, q: np.where(m != 0, p, q), zeros=True)


def lerp(family, dtype, large, small, top):
    a = np.array([0.0, -2, large, small, top, -top, 5, np.inf, 3, 3])
    b = np.array([1.5, large, -large, -small, top, -top, np.inf, 5, -np.inf, 4])
    w = np.array([0.25, 0.75, 0.5, 0.25, 0.25, 0.75, 0, 1, 0, 2])

    def of(x, y, z):
        one = V(1) - z
        parts = (V(0) if one.v == 0 else x * one) + (V(0) if z.v == 0 else y * z)
        return V(parts.v, ((x, one.v), (y, z.v), (z, y.v - x.v)))
    family.case("lerp", dtype, [a, b, w], each(of))

