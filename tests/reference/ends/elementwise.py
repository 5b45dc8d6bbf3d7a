"""The rows of runtime/elementwise/elementwise.def and the functions made of them, one definition each."""
import numpy as np
from mpmath import mp, mpf
from ends.number import (INF, NAN, V, absolute, clamp, cos, erf, erfc, erfc_value, exp, expm1, function, guarded, lift,
    log, log1p,
                         maximum, minimum, negative, piece, power, quotient, sigmoid, sin, sqrt, tan, tanh)

PI, LN2 = mp.pi, mp.log(2)
SPECIAL = 300  # bits for functions that mpmath sums slowly


def sign_of(x):
    return mp.sign(x.v) if x.v == x.v else NAN


def constant(x, value, neg=False):
    return V(value, ((x, mpf(0)),), neg)


def rounding(f):
    def of(x):
        y = x.v if mp.isinf(x.v) or x.v != x.v else f(x.v)
        return constant(x, y, x.neg or x.v < 0)
    return of


def nearest_even(x):
    low = mp.floor(x)
    return low + (1 if x - low > 0.5 or (x - low == 0.5 and int(low) % 2) else 0)


def truncated(x):
    return mp.floor(x) if x > 0 else mp.ceil(x)


def erfcinv(q):
    """The x with erfc(x) = q, for q of 0 to 1, by Newton's method on the logarithms."""
    if q == 0:
        return INF
    x, wanted = mp.sqrt(max(-mp.log(q), mpf(0))) * mpf(0.9), mp.log(q)
    for _ in range(60):
        y = erfc_value(x)
        step = (mp.log(y) - wanted) * y * mp.sqrt(PI) / 2 * mp.exp(x * x)
        x += step
        if abs(step) <= abs(x) * mpf(2) ** -200 or x == 0:
            break
    return x


def erfinv(y):
    if abs(y) > 1:
        return NAN
    return mp.sign(y) * erfcinv(1 - abs(y)) if abs(y) > 0.25 else mp.erfinv(y)


def ndtri(p):
    if p < 0 or p > 1:
        return NAN
    return -mp.sqrt(2) * erfcinv(2 * p) if p < 0.5 else mp.sqrt(2) * erfcinv(2 * (1 - p))


def lgamma(x):
    if mp.isinf(x):
        return INF
    if x <= 0 and mp.isint(x):
        return INF
    return mp.loggamma(x).real


def digamma(x):
    if x == 0:
        return -INF
    return NAN if x < 0 and (mp.isint(x) or mp.isinf(x)) else mp.psi(0, x)


def scaled_bessel(n):
    """exp(-|x|) I_n(x); by its asymptotic series far out, where mpmath's sum needs as many digits as x."""
    def of(x):
        z = abs(x)
        if z > 2000:
            term, total, k = mpf(1), mpf(1), 0
            while abs(term) > mpf(2) ** -SPECIAL and k < 200:
                k += 1
                term *= -(4 * n * n - (2 * k - 1) ** 2) / (k * 8 * z)
                total += term
            y = total / mp.sqrt(2 * PI * z)
        else:
            y = mp.exp(-z) * mp.besseli(n, z)
        return -y if n == 1 and x < 0 else y
    return of


i0e, i1e = scaled_bessel(0), scaled_bessel(1)


def i1e_slope(x, y):
    return mpf(0.5) if x == 0 else i0e(x) - y * (mp.sign(x) + 1 / x)


sinpi = function(mp.sinpi, lambda x, y: PI * mp.cospi(x), odd=True)


def sinc(x):
    if abs(x.v) < mpf(2) ** -100:  # beyond the first term of its series nothing is left
        return V(1, ((x, -PI * PI * x.v / 3),))
    return sinpi(x) / (x * PI)


def entr(x):
    if x.v == 0:
        return V(0, ((x, NAN if x.neg else INF),))
    return -x * log(x) if x.v > 0 else V(-INF, ((x, NAN),))


def atanh(x):
    return x * INF if abs(x) == 1 else mp.atanh(x) if abs(x) < 1 else NAN


def silu(x):
    return x * sigmoid(x)


def softplus(x, beta=1, threshold=20):
    return x + 0 if x.v * beta > threshold else log1p(exp(x * beta)) / beta


def normal_cdf(x):
    return erfc(x * (-1 / mp.sqrt(2))) * 0.5


def gelu(x, approximate="none"):
    if approximate == "none":
        return x * normal_cdf(x)
    return x * sigmoid((x + x * x * x * mpf(0.044715)) * (2 * mp.sqrt(2 / PI)))  # (1 + tanh t) / 2


def below(x, bound, yes, no):
    """yes where x <= bound; both are functions."""
    return yes(x) if x.v <= bound or x.v != x.v else no(x)


def log_ndtr(x):
    return log(normal_cdf(x))


def mish(x):
    # tanh(log(1 + e)) = e (e + 2) / (e (e + 2) + 2)
    if x.v > 0:
        s = exp(-x)
        return x * ((1 + 2 * s) / (1 + 2 * s + 2 * s * s))
    e = exp(x)
    return x * (e * (e + 2) / (e * (e + 2) + 2))


def hardshrink(x, lambd=0.5):
    return constant(x, 0) if -lambd <= x.v <= lambd else x + 0


def softshrink(x, lambd=0.5):
    return x - lambd if x.v > lambd else x + lambd if x.v < -lambd else constant(x, 0)


def hardswish(x):
    return constant(x, 0, True) if x.v < -3 else x * (x + 3) / 6 if x.v <= 3 else x + 0


def inside(x, low, high):
    return piece(x, min(max(x.v, mpf(low)), mpf(high)), mpf(low < x.v < high)) if x.v == x.v else x


def nan_to_num(x, top):
    return constant(x, 0) if x.v != x.v else constant(x, mp.sign(x.v) * mpf(top)) if mp.isinf(x.v) else x + 0


smooth_digamma = function(digamma, lambda x, y: mp.psi(1, x), bits=SPECIAL)
SELU = mpf("1.0507009873554804934193349852946"), mpf("1.6732632423543772848170429916717")
ONE = {
    "neg": lambda x: -x, "abs": absolute, "sign": lambda x: constant(x, sign_of(x), x.neg), "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "sqrt": sqrt, "rsqrt": lambda x: 1 / sqrt(x), "conj": lambda x: x + 0,
    "norm_sq": lambda x: x * x, "deg2rad": lambda x: x * (PI / 180), "rad2deg": lambda x: x * (180 / PI),
    "positive": lambda x: x + V(-0.0), "sgn": lambda x: constant(x, sign_of(x), x.neg),
    "exp": exp, "exp2": lambda x: exp(x * LN2), "expm1": expm1, "log": log, "log1p": log1p,
    "log2": lambda x: log(x) / LN2, "log10": lambda x: log(x) / mp.log(10),
    "sin": sin, "cos": cos, "sinc": sinc, "tan": tan,
    "asin": function(mp.asin, lambda x, y: 1 / mp.sqrt(1 - x * x) if abs(x) < 1 else INF, odd=True),
    "acos": function(mp.acos, lambda x, y: -1 / mp.sqrt(1 - x * x) if abs(x) < 1 else -INF),
    "atan": function(mp.atan, lambda x, y: 1 / (1 + x * x), odd=True),
    "sinh": function(mp.sinh, lambda x, y: mp.cosh(x), odd=True), "cosh": function(mp.cosh, lambda x, y: mp.sinh(x)),
    "tanh": tanh, "asinh": function(mp.asinh, lambda x, y: 1 / mp.sqrt(x * x + 1), odd=True),
    "acosh": function(mp.acosh, lambda x, y: 1 / mp.sqrt(x * x - 1) if x > 1 else INF),
    "atanh": function(atanh, lambda x, y: 1 / (1 - x * x) if abs(x) < 1 else INF, odd=True),
    "erf": erf, "erfc": erfc,
    "erfinv": function(erfinv, lambda x, y: mp.sqrt(PI) / 2 * mp.exp(y * y), odd=True),
    "erfcx": lambda x: exp(x * x) * erfc(x), "ndtr": normal_cdf, "log_ndtr": log_ndtr,
    "ndtri": function(ndtri, lambda x, y: mp.sqrt(2 * PI) * mp.exp(y * y / 2)),
    "logit": lambda x: log(x) - log(1 - x), "entr": entr,
    "lgamma": function(lgamma, lambda x, y: digamma(x), bits=SPECIAL),
    "digamma": lambda x: V(INF, ((x, NAN),)) if x.neg else smooth_digamma(x),
    "i0": function(lambda x: mp.exp(abs(x)) * i0e(x), lambda x, y: mp.exp(abs(x)) * i1e(x), bits=SPECIAL),
    "i0e": function(i0e, lambda x, y: i1e(x) - mp.sign(x) * y, bits=SPECIAL),
    "i1": function(lambda x: mp.exp(abs(x)) * i1e(x),
    lambda x, y: mpf(0.5) if x == 0 else mp.exp(abs(x)) * i0e(x) - y / x,
                   odd=True, bits=SPECIAL),
    "i1e": function(i1e, i1e_slope, odd=True, bits=SPECIAL),
    "floor": rounding(mp.floor), "ceil": rounding(mp.ceil), "round": rounding(nearest_even),
    "trunc": rounding(truncated),
    "frac": lambda x: V(NAN if mp.isinf(x.v) else x.v - truncated(x.v), ((x, 1),), negative(x)),
    "sigmoid": sigmoid, "relu": lambda x: constant(x, 0) if x.v <= 0 else x + 0,
    "leaky_relu": lambda x: x + 0 if x.v > 0 else x * mpf(0.01),
    "elu": lambda x, alpha=1: x + 0 if x.v > 0 else expm1(x) * alpha,
    "selu": lambda x: x * SELU[0] if x.v > 0 else expm1(x) * (SELU[0] * SELU[1]),
    "celu": lambda x, alpha=1: x + 0 if x.v > 0 else expm1(x / alpha) * alpha,
    "gelu": gelu, "silu": silu, "mish": mish, "softplus": softplus, "softsign": lambda x: x / (1 + absolute(x)),
    "tanhshrink": lambda x: x - tanh(x),
    "threshold": lambda x, threshold, value: constant(x, value) if x.v <= threshold else x + 0,
    "softshrink": softshrink, "hardshrink": hardshrink, "hardtanh": lambda x: inside(x, -1, 1),
    "hardsigmoid": lambda x: inside(x + 3, 0, 6) / 6, "hardswish": hardswish, "relu6": lambda x: inside(x, 0, 6),
    "logsigmoid": lambda x: -log1p(exp(-x)) if x.v > 0 else x - log1p(exp(x)),
    "clamp": lambda x, min, max: clamp(x, mpf(min), mpf(max)),
    "rrelu": lambda x, lower, upper, training: x + 0 if x.v > 0 else x * ((mpf(lower) + mpf(upper)) / 2),
}
# Arguments of the rows that need some, and second forms.
PARAMS = {"threshold": [{"threshold": 0.5, "value": 1e20}], "clamp": [{"min": -2.0 ** 66, "max": 2.0 ** 66}],
    "elu": [{}, {"alpha": 0.5}],
          "celu": [{"alpha": 0.5}], "gelu": [{}, {"approximate": "tanh"}],
          "softplus": [{}, {"beta": 0.5, "threshold": 20.0}],
          "rrelu": [{"lower": 0.125, "upper": 0.375, "training": False}]}
# No limit at infinity although the definition has a value there.
ENDLESS = {"sin", "cos", "tan", "frac", "digamma-", "asin", "acos", "entr-"}


def trunc_quotient(a, b):
    with mp.workprec(2400):  # a quotient of f64 has up to 2100 bits
        return truncated(a.v / b.v)


def floor_quotient(a, b):
    with mp.workprec(2400):
        return mp.floor(a.v / b.v)


def by_parts(f, first, second):
    """A function of two numbers and its two derivatives; NaN has none."""
    def of(a, b):
        y = f(a, b)
        y = y if isinstance(y, V) else V(y)
        bad = y.v != y.v
        return V(y.v, ((a, NAN if bad else first(a, b, y.v)), (b, NAN if bad else second(a, b, y.v))), y.neg)
    return of


def zero(a, b, y=None):
    return mpf(0)


def one(a, b, y=None):
    return mpf(1)


def floor_divide(a, b):
    if b.v == 0:
        return quotient(a, b)
    if a.v != a.v or b.v != b.v or mp.isinf(a.v):
        return NAN
    below_zero = negative(a) != negative(b)
    if mp.isinf(b.v):
        return V(-1 if below_zero and a.v != 0 else 0, neg=below_zero)
    return V(floor_quotient(a, b), neg=below_zero)


def fmod(a, b):
    if a.v != a.v or b.v != b.v or mp.isinf(a.v) or b.v == 0:
        return NAN
    with mp.workprec(4800):
        return V(a.v if mp.isinf(b.v) else a.v - b.v * trunc_quotient(a, b), neg=negative(a))


def remainder(a, b):
    y = fmod(a, b)
    if not isinstance(y, V) or y.v == 0 or (y.v < 0) == negative(b):
        return y
    return V(y.v + b.v)


def floor_slope(a, b, y):
    return (mpf(1) if negative(a) != negative(b) and a.v != 0 else mpf(0)) if mp.isinf(b.v) else -floor_quotient(a, b)


def trunc_slope(a, b, y):
    return mpf(0) if mp.isinf(b.v) else -trunc_quotient(a, b)


def from_c(f, finite):
    """Where both numbers are finite and not 0, finite(a, b); else C's value."""
    def of(a, b):
        if a.v != 0 and b.v != 0 and not mp.isinf(a.v) and not mp.isinf(b.v) and a.v == a.v and b.v == b.v:
            return finite(a.v, b.v)
        def plain(x):
            return -0.0 if x.neg else float(mp.sign(x.v)) if 0 < abs(x.v) < INF else float(x.v)
        with np.errstate(all="ignore"):
            return V(float(f(plain(a), plain(b))))
    return of


def polar(a, b, part):
    if mp.isinf(a.v) or mp.isinf(b.v):
        return mpf(0)
    return NAN if a.v == 0 and b.v == 0 else part / (a.v * a.v + b.v * b.v)


def angle_value(a, b):
    y = from_c(np.arctan2, mp.atan2)(a, b)
    if isinstance(y, V) and abs(y.v) > 1:  # a multiple of pi / 4, which C rounds
        return V(mp.sign(y.v) * PI * mp.nint(abs(y.v) * 4 / PI) / 4)
    return V(mp.sign(y.v) * PI / 4) if isinstance(y, V) and abs(y.v) > 0.5 else y


def hypot_value(a, b):
    return INF if mp.isinf(a.v) or mp.isinf(b.v) else mp.sqrt(a.v * a.v + b.v * b.v)


def hypot_slope(x, other, y):
    if mp.isinf(x.v):
        return NAN if mp.isinf(other.v) else mp.sign(x.v)
    return mpf(0) if mp.isinf(other.v) else NAN if y == 0 else x.v / y


def logaddexp(base):
    """log_base(base^a + base^b)."""
    scale = mp.log(base)

    def value(a, b):
        if a.v != a.v or b.v != b.v:
            return NAN
        if mp.isinf(a.v) or mp.isinf(b.v):
            return max(a.v, b.v)
        return max(a.v, b.v) + mp.log1p(mp.exp(-abs(a.v - b.v) * scale)) / scale

    def share(a, b):
        if mp.isinf(a.v) and a.v == b.v:
            return NAN
        return mpf(1) if a.v - b.v == INF else mpf(0) if a.v - b.v == -INF else sigmoid(V((a.v - b.v) * scale)).v
    return by_parts(value, lambda a, b, y: share(a, b), lambda a, b, y: share(b, a))


def xlog(shift):
    def of(a, b):
        if b.v != b.v:
            return V(NAN, ((a, NAN), (b, NAN)))
        logarithm = log1p if shift else log
        inner = V(b.v + shift, neg=b.neg)
        if a.v == 0:
            return V(0, ((a, mpf(0) if inner.v <= 0 else logarithm(V(b.v)).v), (b, NAN if inner.v == 0 else mpf(0))))
        y = a * logarithm(V(b.v))
        slopes = (NAN, NAN) if y.v != y.v else (logarithm(V(b.v)).v, NAN if inner.neg else quotient(a, inner))
        return V(y.v, ((a, slopes[0]), (b, slopes[1])))
    return of


def of_order(select):
    """The value that select chooses among two numbers; the gradient follows it."""
    def of(a, b):
        first = select(a, b)
        chosen = a if first else b
        return V(chosen.v, ((a, mpf(first)), (b, mpf(not first))), chosen.neg)
    return of


def copysign(a, b):
    size = abs(a.v)
    sign = -1 if negative(b) else 1
    return V(sign * size, ((a, mpf(0) if a.v == 0 else mp.sign(a.v) * sign), (b, mpf(0))), negative(b))


def compared(test):
    return lambda a, b: V(int(bool(test(a, b))))


def zeta(a, b):
    with mp.workprec(SPECIAL):
        return guarded(mp.zeta, a.v, b.v)


def nextafter(a, b, dtype):
    kind = np.float32 if dtype == "f32" else np.float64
    def plain(x):
        return kind(-0.0 if x.neg else float(x.v))
    return V(float(np.nextafter(plain(a), plain(b))))


TWO = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": lambda a, b: a / b,
    "rsub": lambda a, b: b - a,
    "floor_divide": by_parts(floor_divide, zero, zero), "remainder": by_parts(remainder, one, floor_slope),
    "fmod": by_parts(fmod, one, trunc_slope), "pow": power,
    "atan2": by_parts(angle_value, lambda a, b, y: polar(a, b, b.v), lambda a, b, y: polar(a, b, -a.v)),
    "logaddexp": logaddexp(mp.e), "logaddexp2": logaddexp(2),
    "hypot": by_parts(hypot_value, lambda a, b, y: hypot_slope(a, b, y), lambda a, b, y: hypot_slope(b, a, y)),
    "copysign": copysign, "xlogy": xlog(0), "xlog1py": xlog(1),
    "heaviside": by_parts(lambda a, b: b if a.v == 0 else mpf(a.v > 0), zero, zero),
    "clamp_min": of_order(lambda a, b: a.v >= b.v), "clamp_max": of_order(lambda a, b: a.v <= b.v),
    "maximum": maximum, "minimum": minimum,
    "fmax": of_order(lambda a, b: a.v >= b.v or b.v != b.v), "fmin": of_order(lambda a, b: a.v <= b.v or b.v != b.v),
    "prelu": lambda a, b: a + b * 0 if a.v > 0 else a * b,
    "eq": compared(lambda a, b: a.v == b.v), "ne": compared(lambda a, b: a.v != b.v),
    "lt": compared(lambda a, b: a.v < b.v),
    "le": compared(lambda a, b: a.v <= b.v), "gt": compared(lambda a, b: a.v > b.v),
    "ge": compared(lambda a, b: a.v >= b.v),
    "logical_and": compared(lambda a, b: a.v != 0 and b.v != 0),
    "logical_or": compared(lambda a, b: a.v != 0 or b.v != 0),
    "logical_xor": compared(lambda a, b: (a.v != 0) != (b.v != 0)),
    "isclose": compared(lambda a, b: a.v == b.v or abs(b.v) < INF and
                        abs(a.v - b.v) <= mpf(1e-8) + mpf(1e-5) * abs(b.v)),
}
TESTS = {"isnan": lambda x: x.v != x.v, "isinf": lambda x: mp.isinf(x.v), "isfinite": lambda x: abs(x.v) < INF,
         "isposinf": lambda x: x.v == INF, "isneginf": lambda x: x.v == -INF, "signbit": negative,
         "isreal": lambda x: True,
         "logical_not": lambda x: x.v == 0}
