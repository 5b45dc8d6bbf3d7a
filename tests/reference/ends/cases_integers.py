"""Integers at the limits of their types, and Lua numbers that a type lacks."""
import math
import numpy as np
from generate_ends import Operand
from ends.number import V

VALUES = {"u8": [0, 1, 7, 127, 128, 200, 255],
    "i32": [-2 ** 31, -2 ** 31 + 1, -12345, -1, 0, 1, 7, 46341, 2 ** 30, 2 ** 31 - 1],
          "i64": [-2 ** 63, -2 ** 62, -2 ** 32, -1, 0, 1, 7, 2 ** 31, 2 ** 53, 2 ** 62]}
BITS = {"u8": (0, 8), "i32": (1, 32), "i64": (1, 64)}
# Lua numbers: integers, fractions and what no integer type holds.
NUMBERS = [-1, 0, 1, 255, 256, 300, 2 ** 31, 2 ** 40, -2 ** 40, 0.5, -0.5, 1e30, -1e30, np.inf, -np.inf]


def wrapped(k, dtype):
    signed, bits = BITS[dtype]
    k %= 2 ** bits
    return k - 2 ** bits if signed and k >= 2 ** (bits - 1) else k


def divided(a, b):
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def shifted(a, b, dtype, left):
    count = BITS[dtype][1]
    if left:
        return wrapped(a << b, dtype) if 0 <= b < count else 0
    return a >> (b if 0 <= b < count else count)


TWO = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "rsub": lambda a, b: b - a, "mul": lambda a, b: a * b,
    "maximum": max, "minimum": min,
       "fmax": max, "fmin": min, "clamp_min": max, "clamp_max": min,
       "bitwise_and": lambda a, b: a & b, "bitwise_or": lambda a, b: a | b, "bitwise_xor": lambda a, b: a ^ b,
       "gcd": math.gcd}
QUOTIENTS = {"floor_divide": lambda a, b: a // b, "remainder": lambda a, b: a - b * (a // b),
    "fmod": lambda a, b: a - b * divided(a, b)}
TESTS = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
         "ge": lambda a, b: a >= b}
ONE = {"neg": lambda a: -a, "abs": abs, "square": lambda a: a * a, "sign": lambda a: (a > 0) - (a < 0),
    "sgn": lambda a: (a > 0) - (a < 0),
       "bitwise_not": lambda a: ~a, "positive": lambda a: a, "floor": lambda a: a, "ceil": lambda a: a,
       "trunc": lambda a: a, "relu": lambda a: max(a, 0)}


def exact(k):
    return int(float(k)) == k


def cases(family):
    for dtype, values in VALUES.items():
        def case(op, pairs, results, outputs="*", dtype=dtype):
            kept = [(p, r) for p, r in zip(pairs, results) if exact(r)]  # the kept numbers are f64
            columns = [Operand([p[k] for p, _ in kept], dtype) for k in range(len(kept[0][0]))]
            family.case(op, dtype, columns, lambda *_: np.array([V(int(r)) for _, r in kept], dtype=object), grad=False,
                        outputs=dtype if outputs == "*" else outputs)
        pairs = [(a, b) for a in values for b in values]
        for op, f in TWO.items():
            case(op, pairs, [wrapped(f(a, b), dtype) for a, b in pairs])
        nonzero = [(a, b) for a, b in pairs if b != 0 and not (b == -1 and a == min(values))]
        for op, f in QUOTIENTS.items():
            case(op, nonzero, [wrapped(f(a, b), dtype) for a, b in nonzero])
        for op, f in TESTS.items():
            case(op, pairs, [f(a, b) for a, b in pairs], "bool")
        for op, f in ONE.items():
            case(op, [(a,) for a in values], [wrapped(f(a), dtype) for a in values])
        counts = [(a, b) for a in values for b in (0, 1, 7, 8, 31, 40) + ((-1,) if dtype != "u8" else ())]
        for left in (True, False):
            case("bitwise_left_shift" if left else "bitwise_right_shift", counts,
                [shifted(a, b, dtype, left) for a, b in counts])
        small = [(a, b) for a, b in pairs if abs(a) < 2 ** 15 and abs(b) < 2 ** 15]
        case("lcm", small, [wrapped(abs(a * b) // math.gcd(a, b) if a and b else 0, dtype) for a, b in small])
        numbers(family, dtype, values)
    # Sums of narrow integers are computed in i64.
    family.case("sum", "i32", [Operand([2 ** 31 - 1, 2 ** 31 - 1, 5], "i32")],
        lambda x: np.array(V(2 ** 32 + 3), dtype=object), grad=False, outputs="i64")
    family.case("prod", "u8", [Operand([255, 255, 2], "u8")], lambda x: np.array(V(130050), dtype=object), grad=False,
        outputs="i64")
    family.case("cumsum", "u8", [Operand([255, 255, 2], "u8")],
        lambda x, dim: np.array([V(255), V(510), V(512)], dtype=object), {"dim": 0}, grad=False, outputs="i64")
    family.case("one_hot", "i64", [Operand([2, 0], "i64")],
        lambda x, num_classes: np.array([[V(0), V(0), V(1)], [V(1), V(0), V(0)]], dtype=object), {"num_classes": 3},
                grad=False, outputs="i64")
    for op, points in (("tril_indices", [[0, 1, 1], [0, 0, 1]]), ("triu_indices", [[0, 0, 1], [0, 1, 1]])):
        family.case(op, "i64", [], lambda row, col, p=points: np.array([[V(k) for k in r] for r in p], dtype=object),
            {"row": 2, "col": 2}, grad=False, outputs="i64")


def numbers(family, dtype, values):
    """A tensor and a number: comparisons use the numbers themselves."""
    tensor = Operand(values, dtype)
    for number in NUMBERS:
        for op, f in TESTS.items():
            family.case(op, dtype, [tensor, number],
                lambda *_: np.array([V(int(f(a, number))) for a in values], dtype=object), grad=False, outputs="bool")
    for number in (-300, -1, 1, 7, 255, 256, 300, 2 ** 31, 2 ** 40, -2 ** 40):
        low, high = limits(dtype)

        def case(op, f):
            results = [wrapped(int(f(a, number)), dtype) for a in values]
            kept = [k for k, r in enumerate(results) if exact(r)]
            family.case(op, dtype, [Operand(np.array(values)[kept], dtype), number],
                        lambda *_: np.array([V(results[k]) for k in kept], dtype=object), grad=False)
        for op in ("add", "sub", "mul", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd"):
            case(op, TWO[op])
        for op, f in QUOTIENTS.items():
            case(op, f)
        # A limit beyond the type has no effect, or is an error where it would be the result.
        for op, f in (("maximum", max), ("clamp_min", max), ("fmax", max), ("minimum", min), ("clamp_max", min), ("fmin", min)):
            if low <= number <= high or (number < low) == (f is max):
                case(op, f)
            else:
                family.wrong(op, dtype, [tensor, number], "without overflow")
        if number > high or number < min(low, -255):  # as in PyTorch, -1 to -255 wrap around in u8
            family.wrong("full", dtype, [], "without overflow",
                         {"size": [2], "fill_value": number, "dtype": dtype})
            family.wrong("masked_fill", dtype, [tensor, Operand([1] * len(values), "bool")], "without overflow",
                         {"value": number})


def limits(dtype):
    signed, bits = BITS[dtype]
    return (-2 ** (bits - 1), 2 ** (bits - 1) - 1) if signed else (0, 2 ** bits - 1)
