"""Numbers of 700 bits with signed zeros and gradients: what the engine's results are compared with.

V is a number of unlimited exponent that remembers what it was computed from. Arrays of V are numpy arrays of objects, so
sums, products and movements of elements are numpy's. NaN as a gradient says that there is none: the value is NaN, or the
function has no derivative or no limit there.
"""
import numpy as np
from mpmath import mp, mpc, mpf

mp.prec = 700  # what a sum loses is far below the smallest number of a type, or the last bit of its result
INF, NAN = mp.inf, mp.nan
BITS = {"f64": (53, -1074, 1024), "f32": (24, -149, 128), "f16": (11, -24, 16), "bf16": (8, -133, 128)}


class V:
    __slots__ = ("v", "neg", "parents", "grad", "place")
    made = 0

    def __init__(self, v, parents=(), neg=False):
        self.v = v if isinstance(v, mpf) else mpf(v)
        self.neg = self.v == 0 and (neg or (isinstance(v, float) and np.signbit(v)))  # -0
        self.parents, self.grad = parents, mpf(0)
        V.made += 1
        self.place = V.made

    def __add__(self, other):
        if isinstance(other, C):
            return other + self
        b = lift(other)
        return V(self.v + b.v, ((self, 1), (b, 1)), self.neg and b.neg)

    def __neg__(self):
        return V(-self.v, ((self, -1),), self.v == 0 and not self.neg)

    def __sub__(self, other):
        return self + -lift(other)

    def __mul__(self, other):
        if isinstance(other, C):
            return other * self
        b = lift(other)
        return V(self.v * b.v, ((self, b.v), (b, self.v)), negative(self) != negative(b))

    def __truediv__(self, other):
        b = lift(other)
        y = quotient(self, b)
        return V(y, ((self, inverse(b)), (b, -quotient(V(y), b) if y == y else NAN)), negative(self) != negative(b))

    def __rsub__(self, other):
        return lift(other) - self

    def __rtruediv__(self, other):
        return lift(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        return self.v < lift(other).v

    def __le__(self, other):
        return self.v <= lift(other).v

    def __gt__(self, other):
        return self.v > lift(other).v

    def __ge__(self, other):
        return self.v >= lift(other).v

    def __eq__(self, other):
        return self.v == lift(other).v

    def __ne__(self, other):
        return self.v != lift(other).v

    def __bool__(self):
        return self.v != 0

    def conjugate(self):
        return self


def lift(x):
    return x if isinstance(x, V) else V(float(x) if isinstance(x, (np.floating, np.integer)) else x)


def negative(x):
    return x.neg or x.v < 0


def inverse(x):
    return (-INF if x.neg else INF) if x.v == 0 else 1 / x.v


def quotient(a, b):
    if b.v != 0:
        return a.v / b.v
    return NAN if a.v == 0 or a.v != a.v else -INF if negative(a) != negative(b) else INF


def guarded(f, *x):
    """NaN outside the domain."""
    try:
        y = f(*x)
    except (ValueError, ZeroDivisionError):
        return NAN
    return NAN if isinstance(y, mpc) and y.imag != 0 else mpf(y.real)


def function(f, derivative, odd=False, bits=None):
    """A function of V from mpmath's; derivative takes x and y."""
    def of(x):
        x = lift(x)
        with mp.workprec(bits or mp.prec):
            y = guarded(f, x.v)
            d = NAN if y != y else guarded(derivative, x.v, y)
        if x.neg and mp.isinf(d):  # beside -0 there is no function, or its slope has the other sign
            d = NAN
        return V(y, ((x, d),), odd and x.neg)
    return of


def piece(x, value, slope):
    """A number whose derivative by x is given."""
    return V(lift(value).v, ((x, slope),), lift(value).neg)


def or_inf(x):
    return INF if x == 0 else 1 / x


def erfc_value(x):
    """By its asymptotic series far out, where mpmath gives up."""
    if abs(x) < 40:
        return mp.erfc(x)
    term, total, k = mpf(1), mpf(1), 0
    while abs(term) > mpf(2) ** -mp.prec:
        k += 1
        term *= -(2 * k - 1) / (2 * x * x)
        total += term
    y = mp.exp(-x * x) / (abs(x) * mp.sqrt(mp.pi)) * total
    return y if x > 0 else 2 - y


exp = function(mp.exp, lambda x, y: y)
expm1 = function(mp.expm1, lambda x, y: mp.exp(x), odd=True)
log = function(lambda x: -INF if x == 0 else mp.log(x), lambda x, y: or_inf(x))
log1p = function(lambda x: -INF if x == -1 else mp.log1p(x) if x > -1 else NAN, lambda x, y: or_inf(1 + x), odd=True)
sqrt = function(mp.sqrt, lambda x, y: or_inf(2 * y), odd=True)
sin = function(mp.sin, lambda x, y: mp.cos(x), odd=True)
cos = function(mp.cos, lambda x, y: -mp.sin(x))
tan = function(mp.tan, lambda x, y: 1 + y * y, odd=True)
tanh = function(mp.tanh, lambda x, y: 1 / mp.cosh(x) ** 2, odd=True)
erf = function(mp.erf, lambda x, y: 2 / mp.sqrt(mp.pi) * mp.exp(-x * x), odd=True)
erfc = function(erfc_value, lambda x, y: -2 / mp.sqrt(mp.pi) * mp.exp(-x * x))


def sigmoid(x):
    x = lift(x)
    e = mp.exp(-abs(x.v))
    y = 1 / (1 + e)
    return V(y if x.v >= 0 else e * y if x.v < 0 else NAN, ((x, e * y * y),))


def absolute(x):
    x = lift(x)
    return V(abs(x.v), ((x, mp.sign(x.v)),))


def maximum(a, b):
    """NaN if one is; equal ones share the gradient."""
    a, b = lift(a), lift(b)
    if a.v != a.v or b.v != b.v:
        return V(NAN, ((a, NAN), (b, NAN)))
    first = mpf(1) if a > b else mpf(0.5) if a == b else mpf(0)
    return V(max(a.v, b.v), ((a, first), (b, 1 - first)), a.neg and b.neg)


def minimum(a, b):
    return -maximum(-lift(a), -lift(b))


def clamp(x, low, high):
    """Its gradient counts inside of the closed range alone."""
    y = low if x.v < low else high if x.v > high else x.v
    return V(y, ((x, mpf(low <= x.v <= high)),), x.neg)


def power(a, b):
    """a^b for any real operands, as C has it. The gradient of a^0 by a is 0; the gradient of 0^b by b is 0 where b >= 0."""
    a, b = lift(a), lift(b)
    return V(plain_power(a, b.v), ((a, mpf(0) if b.v == 0 else b.v * plain_power(a, b.v - 1)), (b, slope(a, b))))


def slope(a, b):
    if a.v == 0 and b.v >= 0:
        return mpf(0)
    return guarded(lambda: plain_power(a, b.v) * mp.log(a.v)) if a.v > 0 else NAN


def plain_power(a, b):
    x = a.v
    if x == 0 or mp.isinf(x) or x != x or mp.isinf(b) or b != b:  # a few values: as in C
        with np.errstate(all="ignore"):
            huge = 3e300 if b > 1e300 else -3e300 if b < -1e300 else float(b)  # even, as the number itself
            base = -0.0 if a.neg else 2.0 if 1 < x < INF else 0.5 if 0 < x < 1 else -2.0 if -INF < x < -1 else \
                -0.5 if -1 < x < 0 else float(x)
            return mpf(float(np.power(base, float(b) if mp.isinf(b) else huge)))
    if x > 0:
        return mp.exp(b * mp.log(x))
    if not mp.isint(b):
        return NAN
    return mp.exp(b * mp.log(-x)) * (-1 if int(b) % 2 else 1)


def rounded(x, dtype):
    """The nearest number of the type, ties to even, rounded once."""
    if x != x or mp.isinf(x):
        return float(x)
    bits, least, top = BITS[dtype]
    sign, man, exponent, length = x._mpf_
    quantum = max(exponent + length - bits, least)
    shift = quantum - exponent
    if shift > length + 2:
        return -0.0 if sign else 0.0
    if shift > 0:
        half, rest, man = 1 << (shift - 1), man & ((1 << shift) - 1), man >> shift
        man += rest > half or (rest == half and man & 1)
        exponent = quantum
    if int(man).bit_length() + exponent > top:
        return -np.inf if sign else np.inf
    y = np.ldexp(float(int(man)), int(exponent))
    return -float(y) if sign else float(y)


class C:
    """A complex number of two real ones, which have the gradients."""
    __slots__ = ("re", "im")

    def __init__(self, re, im=0):
        self.re, self.im = lift(re), lift(im)

    def __add__(self, other):
        b = complexed(other)
        return C(self.re + b.re, self.im + b.im)

    def __neg__(self):
        return C(-self.re, -self.im)

    def __sub__(self, other):
        return self + -complexed(other)

    def __mul__(self, other):
        if not isinstance(other, C):
            return C(self.re * other, self.im * other)
        return C(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)

    def __truediv__(self, other):
        b = complexed(other)
        size = b.re * b.re + b.im * b.im
        return C((self.re * b.re + self.im * b.im) / size, (self.im * b.re - self.re * b.im) / size)

    __radd__, __rmul__ = __add__, __mul__

    def __rtruediv__(self, other):
        return C(other) / self


def complexed(x):
    return x if isinstance(x, C) else C(x)


def floats(array, dtype):
    """The rounded values of an array of V; an array of C gives pairs in a new last dim."""
    array = np.asarray(array, dtype=object)
    if array.size and isinstance(array.reshape(-1)[0], C):
        return np.stack([floats(each(lambda z: z.re)(array), dtype), floats(each(lambda z: z.im)(array), dtype)], -1)
    out = np.empty(array.shape)
    for place, x in np.ndenumerate(array):
        y = rounded(lift(x).v, dtype)
        out[place] = -0.0 if y == 0 and lift(x).neg else y
    return out


def lifted(array):
    """Leaves of the elements."""
    array = np.asarray(array)
    out = np.empty(array.shape, dtype=object)
    for place, x in np.ndenumerate(array):
        out[place] = C(float(x.real), float(x.imag)) if np.iscomplexobj(array) else V(float(x))
    return out


def parts(array):
    """All V of an array of V or C, in order."""
    flat = list(np.asarray(array, dtype=object).reshape(-1))
    return [p for x in flat for p in ((x.re, x.im) if isinstance(x, C) else (x,))]


def backward(outputs, seeds):
    """Adds the gradients of sum(seed output) to all that the outputs were computed from."""
    reached, stack = {}, [y for y in outputs]
    while stack:
        y = stack.pop()
        if y.place not in reached:
            reached[y.place] = y
            y.grad = mpf(0)
            stack.extend(x for x, _ in y.parents)
    for y, seed in zip(outputs, seeds):
        y.grad += seed if y.v == y.v else NAN
    for place in sorted(reached, reverse=True):
        y = reached[place]
        if y.grad != 0:
            for x, partial in y.parents:
                x.grad += y.grad * partial


def each(f):
    """f of every element of arrays that broadcast."""
    return np.vectorize(f, otypes=[object])
