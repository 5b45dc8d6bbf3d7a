"""The rows of runtime/elementwise/elementwise.def."""
import torch
import torch.nn.functional as F
from generate import Number, bools, real, typed, values

NAN, INF = float("nan"), float("inf")
SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 64.0]
# PyTorch gives NaN at infinities for these, which have limits there.
LIMITED = "gelu softsign silu mish hardswish".split()
NOT_INFINITE = [x for x in SPECIAL if abs(x) != INF]
INTEGERS = "i64 i32 u8"

# Ops of one operand by the range that they are sampled in. The wide ranges hold the points where pieces meet.
UNARY = {
    (-3, 3): "exp exp2 expm1 sinh cosh tanh asinh atan erf elu selu celu gelu softsign tanhshrink leaky_relu",
    (-6, 6): "sin cos sigmoid silu mish softplus logsigmoid hardswish",
    (0.125, 5): "log log2 log10 sqrt rsqrt reciprocal",
    (-0.875, 4): "log1p",
    (-0.96875, 0.96875): "asin acos atanh",
    (1.125, 5): "acosh",
    (-1.25, 1.25): "tan",
}
# These ops keep integers as integers.
UNARY_NUMBER = "neg square floor ceil round trunc relu hardtanh relu6"
QUESTIONS = "isnan isinf isfinite logical_not"
COMPARE = "eq ne lt le gt ge logical_and logical_or logical_xor"


def cases(case):
    for (low, high), names in UNARY.items():
        for op in names.split():
            case(op, [real(3, 8, low=low, high=high)], types="i64 u8 bool" if hasattr(torch, op) else "")
            case(op, [values(NOT_INFINITE if op in LIMITED else SPECIAL)], grad=False)
    case("frac", [real(3, 8, low=-3, high=3)])
    case("frac", [values(SPECIAL)], grad=False)
    for op in UNARY_NUMBER.split():
        case(op, [real(4, 16, low=-8, high=8)], types=INTEGERS)
        case(op, [values([-2.5, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2.5, 6])])
        case(op, [values(SPECIAL)], grad=False)
    case("abs", [real(3, 8, low=-3, high=3)], types=INTEGERS)
    case("abs", [values(SPECIAL)], grad=False)
    case("sign", [real(3, 8, low=-3, high=3)], types="i64 i32 u8 bool")
    case("sign", [values(SPECIAL[1:])], grad=False)  # of NaN PyTorch says 0, the engine NaN
    for op in QUESTIONS.split():
        case(op, [values(SPECIAL)])
        case(op, [real(3, 4)], floats=False, types="i64 i32 u8 bool")
    activations(case)
    binary(case)
    ternary(case)


def activations(case):
    x = real(3, 8, low=-4, high=4)
    # PyTorch's gradient of hardsigmoid in f64 has a factor 1/6 of f32.
    case("hardsigmoid", [real(3, 8, low=-6, high=6)], by=lambda x: F.relu6(x + 3) / 6)
    case("hardsigmoid", [values(SPECIAL)], grad=False)
    case("leaky_relu", [x], negative_slope=0.25)
    case("elu", [x], alpha=0.5)
    case("celu", [x], alpha=0.5)
    case("gelu", [x], approximate="tanh")
    case("gelu", [values(NOT_INFINITE)], approximate="tanh", grad=False, tolerance=2)
    case("softplus", [x], beta=2.0, threshold=3.0)
    case("threshold", [real(4, 8, low=-4, high=4)], threshold=0.5, value=-1.0)
    case("threshold", [values([0.5, 0.25, 0.75, NAN])], threshold=0.5, value=2.0, grad=False)
    case("hardtanh", [x], min_val=-0.5, max_val=2.0)
    for bounds in ({"min": -1.0}, {"max": 0.5}, {"min": -1.0, "max": 0.5}):
        case("clamp", [values([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0])], **bounds)
        case("clamp", [values(SPECIAL)], grad=False, **bounds)
    case("clamp", [real(3, 4, low=-9, high=9)], floats=False, types=INTEGERS, min=1, max=5)
    case("nan_to_num", [values(SPECIAL)], nan=2.0, posinf=8.0, neginf=-8.0)
    case("nan_to_num", [real(2, 3)], types="i64 u8")


def pairs(case, op, low, high, types="", **options):
    """Equal shapes, each side broadcast, 0-d, no elements, a number on either side."""
    def operand(*shape):
        return real(*shape, low=low, high=high)
    case(op, [operand(3, 4), operand(3, 4)], types=types, **options)
    case(op, [operand(2, 1, 4), operand(3, 1)], types=types, **options)
    case(op, [operand(4), operand(2, 3, 4)], types=types, **options)
    # The gradient of the 0-d side is a sum that cancels.
    case(op, [operand(2, 3), operand()], tolerance=16, **options)
    case(op, [operand(0, 3), operand(3)], **options)


def binary(case):
    for op in ("add", "mul", "maximum", "minimum"):
        pairs(case, op, -3, 3, "i64 i32 u8 bool")
        case(op, [values(SPECIAL + [2.0, NAN]), values(SPECIAL[::-1] + [2.0, 3.0])], grad=False)
    pairs(case, "sub", -3, 3, INTEGERS)
    case("maximum", [values([1.0, 2.0, 3.0]), values([2.0, 2.0, 2.0])])
    case("minimum", [values([1.0, 2.0, 3.0]), values([2.0, 2.0, 2.0])])
    pairs(case, "div", 0.5, 3)
    case("div", [typed("i64", 3, 4), typed("i64", 3, 4, low=1, high=6)], floats=False, types="i64")
    case("div", [values(SPECIAL), values(SPECIAL[::-1])], grad=False)
    for op in ("floor_divide", "remainder", "fmod"):
        case(op, [real(3, 4, low=-5, high=5), real(3, 4, low=0.5, high=3)], grad=op != "floor_divide")
        case(op, [real(3, 4, low=-5, high=5), real(4, low=-3, high=-0.5)], grad=op != "floor_divide")
        for sign in (1, -1):
            case(op, [typed("i64", 3, 4, low=-20, high=20), values([[sign * 3], [sign * 4], [sign * 7]])],
                 floats=False, types="i64 i32")
    pairs(case, "pow", 0.25, 3)
    case("pow", [values([-2.0, -1.5, 0.0, 0.0, 2.0, -2.0]), values([2.0, 3.0, 0.0, 2.0, -1.0, 0.0])])
    case("pow", [values(SPECIAL + [2.0]), values([2.0, NAN, 0.0, INF, 1.0, -INF, 0.5, -1.0, 3.0, 0.5, 0.0])],
         grad=False)
    case("pow", [typed("i64", 3, 4), typed("i64", 3, 4, low=0, high=5)], floats=False, types="i64 i32 u8")
    pairs(case, "atan2", -3, 3)
    case("atan2", [values([0.0, -0.0, 0.0, INF, -1.0]), values([-1.0, -1.0, 0.0, INF, -0.0])], grad=False)
    pairs(case, "logaddexp", -3, 3)
    case("logaddexp", [values([INF, -INF, -INF, 90.0]), values([INF, -INF, 1.0, -90.0])], grad=False)
    for op in COMPARE.split():
        case(op, [values([1, 2, 3, NAN, INF, 0.0]), values([1, 1, 4, NAN, INF, -0.0])])
        case(op, [real(2, 1, 3), real(2, 1)], types="i64 i32 u8 bool")
    # Types meet, and numbers widen only their own kind.
    one = values([[1.5, -2.0, 0.25]])
    for op in ("add", "mul", "sub"):
        case(op, [typed("i64", 2, 3), typed("f32", 3)], floats=False, types="f32")
        case(op, [typed("u8", 2, 3, low=0), typed("i32", 3)], floats=False, types="i32")
        case(op, [typed("f16", 2, 3), typed("i64", 2, 3)], floats=False, types="f16")
        case(op, [typed("bf16", 2, 3), typed("f16", 2, 3)], floats=False, types="f32")
        case(op, [one, Number(2.5)])
        case(op, [typed("i64", 2, 3), Number(2)], floats=False, types="i64")
        case(op, [typed("i32", 2, 3), Number(0.5)], floats=False, types="f32")
    case("add", [bools(2, 3), typed("i64", 2, 3)], floats=False, types="i64")
    case("eq", [typed("i64", 2, 3), Number(1)], floats=False, types="i64")


def ternary(case):
    x = lambda *shape: real(*shape, low=-2, high=2)
    case("where", [bools(3, 4), x(3, 4), x(3, 4)], by=torch.where, types="i64 i32 u8 bool")
    case("where", [bools(3, 1), x(4), x(1, 4)], by=torch.where)
    case("lerp", [x(3, 4), x(3, 4), x(3, 4)], by=torch.lerp)
    case("lerp", [x(3, 4), x(4), x(3, 1)], by=torch.lerp)
    case("addcmul", [x(3, 4), x(3, 4), x(4)], by=torch.addcmul, types=INTEGERS)
    case("addcmul", [x(3, 4), x(3, 1), x(3, 4)], value=-0.5)
    positive = real(3, 4, low=0.5, high=3)
    case("addcdiv", [x(3, 4), x(4), positive])
    case("addcdiv", [x(3, 4), x(3, 4), positive], value=2.0)
    affine = lambda a, b, c: a * b + c
    case("affine", [x(3, 4), x(4), x(3, 1)], by=affine)
    case("affine", [x(3, 4), x(3, 4), x(3, 4)], by=affine, types=INTEGERS)
    case("nextafter", [real(2, 3), real(3)], floats=False, types="f64 f32", grad=False)
