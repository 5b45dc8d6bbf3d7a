// Functions of single elements that are compositions of rows of elementwise.def: derivatives of lgamma,
// powers in double precision, rounding to decimals, signs of complex numbers.
#include <cmath>

#include "runtime/core/default_dtype.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/shape/creation.h"

namespace lunagrad {
namespace {

using Example = OpExample;

void need_integers(const char* op, const Tensor& x) {
  if (is_differentiable(x.dtype())) fail(op, ": integers or booleans are needed (got ", x.dtype(), ")");
}

// --- gamma ---

// psi^(n)(x) = (-1)^(n + 1) n! zeta(n + 1, x)
Operands polygamma_compose(const Call& call) {
  const int64_t n = call.integer(0);
  if (n < 0) fail("polygamma: n must not be negative (got ", n, ")");
  const Tensor& x = call.input(0);
  if (n == 0) return {digamma(x)};
  const double factor = (n % 2 == 0 ? -1 : 1) * std::tgamma(double(n) + 1);
  return {zeta(Tensor::number(double(n) + 1), x) * factor};
}
const Op kPolygamma{.name = "polygamma",
                    .doc = "The n-th derivative of digamma at input; n = 0 is digamma itself.",
                    .inputs = {{"input"}},
                    .params = {{"n", ParamKind::integer, {}}},
                    .compose = polygamma_compose,
                    .in_place = InPlaceForm::writes,
                    .family = OpFamily::elementwise,
                    .autocast = AutocastPolicy::promote,
                    .order = {"n", "input"},
                    .examples = {{.inputs = {{{2, 3}, 0.5, 4}}, .params = {0}},
                                 {.inputs = {{{2, 3}, 0.5, 4}}, .params = {1}},
                                 {.inputs = {{{2, 3}, 1, 4}}, .params = {2}},
                                 {.inputs = {{{3}, 1, 4}}, .params = {3}},
                                 {.inputs = {{{3}}}, .params = {-1}, .error = "n must not be negative"}}};

// log of the multivariate gamma function: p (p - 1) / 4 log pi + the sum of lgamma(x - j / 2), j < p
Operands mvlgamma_compose(const Call& call) {
  const int64_t p = call.integer(0);
  if (p < 1) fail("mvlgamma: p must be at least 1 (got ", p, ")");
  if (p > 1024) fail("mvlgamma: p must be at most 1024 (got ", p, ")");
  const Tensor& x = call.input(0);
  Tensor total = lgamma(x);
  for (int64_t j = 1; j < p; ++j) total = total + lgamma(x - double(j) / 2);
  return {total + double(p * (p - 1)) * 0.25 * 1.14472988584940017414};
}
const Op kMvlgamma{.name = "mvlgamma",
                   .doc = "The logarithm of the multivariate gamma function of dimension p.",
                   .inputs = {{"input"}},
                   .params = {{"p", ParamKind::integer, {}}},
                   .compose = mvlgamma_compose,
                   .in_place = InPlaceForm::writes,
                   .family = OpFamily::elementwise,
                   .autocast = AutocastPolicy::f32,
                   .examples = {{.inputs = {{{2, 3}, 2, 5}}, .params = {1}},
                                {.inputs = {{{2, 3}, 2, 5}}, .params = {3}},
                                {.inputs = {{{3}, 2, 5}}, .params = {0}, .error = "at least 1"}}};

// --- powers ---

Tensor in_double(const Tensor& x) {
  if (x.is_number()) return x;
  return to(x, is_complex(x.dtype()) ? DType::c128 : DType::f64);
}
Operands float_power_compose(const Call& call) {
  return {pow(in_double(call.input(0)), in_double(call.input(1)))};
}
const Op kFloatPower{.name = "float_power",
                     .doc = "input to the power exponent, computed in f64 or c128.",
                     .inputs = {{"input"}, {"exponent"}},
                     .compose = float_power_compose,
                     .in_place = InPlaceForm::writes,
                     .family = OpFamily::elementwise,
                     .autocast = AutocastPolicy::own,
                     .number_inputs = 0b11,
                     .examples = {{.inputs = {{{2, 3}, 0.5, 3}, {{3}, -2, 2}}}}};

Operands ldexp_compose(const Call& call) {
  const Tensor& other = call.input(1);
  if (other.is_number()) return {call.input(0) * Tensor::number(std::exp2(other.item()))};
  return {call.input(0) * pow(Tensor::number(2.0), other)};
}
const Op kLdexp{.name = "ldexp",
                .doc = "input times 2 to the power other.",
                .inputs = {{"input"}, {"other"}},
                .compose = ldexp_compose,
                .in_place = InPlaceForm::writes,
                .family = OpFamily::elementwise,
                .number_inputs = 0b11,
                .examples = {{.inputs = {{{2, 3}}, {{3}, -3, 3}}}}};

Operands rsub_compose(const Call& call) {
  const Tensor &x = call.input(0), &other = call.input(1);
  const Value& alpha = call.params[0];
  // Throws: sub refuses bool.
  if (x.dtype() == DType::boolean && other.dtype() == DType::boolean) return {sub(other, x)};
  if (alpha == Value(1) || alpha == Value(1.0)) return {sub(call.input(1), x)};
  const double number = alpha.kind == Value::Kind::real ? alpha.f : double(alpha.i);
  // Still a number, without a device.
  if (x.is_number()) return {sub(call.input(1), Tensor::number(x.item() * number))};
  const Tensor factor = alpha.kind == Value::Kind::real ? Tensor::number(alpha.f) : Tensor::number(alpha.i);
  return {sub(call.input(1), x * factor)};
}
const Op kRsub{.name = "rsub",
               .doc = "other - alpha input.",
               .inputs = {{"input"}, {"other"}},
               .params = {{"alpha", ParamKind::number, 1}},
               .compose = rsub_compose,
               .family = OpFamily::elementwise,
               .number_inputs = 0b11,
               .examples = {{.inputs = {{{2, 3}}, {{3}}}, .types = OpExample::Types::number},
                            {.inputs = {{{2, 3}}, {{3}}}, .params = {2}, .types = OpExample::Types::number}}};

// --- rounding ---

Operands round_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t decimals = call.integer(0);
  if (decimals == 0) return {round(x)};
  if (!is_floating(x.dtype())) fail("round: decimals are for floating-point tensors (got ", x.dtype(), ")");
  if (decimals > 308 || decimals < -308) fail("round: decimals must lie in -308 to 308 (got ", decimals, ")");
  const double scale = std::pow(10.0, double(decimals < 0 ? -decimals : decimals));
  return {decimals > 0 ? round(x * scale) / scale : round(x / scale) * scale};
}
const Op kRoundDecimals{.name = "_round_decimals",
                        .doc = "input rounded to decimals places behind the point, halves to the even digit.",
                        .inputs = {{"input"}},
                        .params = {{"decimals", ParamKind::integer, 0}},
                        .compose = round_compose,
                        .family = OpFamily::elementwise,
                        .short_form = "round"};

// --- signs ---

Operands sgn_compose(const Call& call) {
  const Tensor& z = call.input(0);
  if (!is_complex(z.dtype())) return {sign(z)};
  const Tensor size = abs(z);
  return {z / where(eq(size, Tensor::number(0.0)), Tensor::number(1.0), size)};
}
const Op kSgn{
    .name = "sgn",
    .doc = "sign of real numbers; of complex ones the number of magnitude 1 in the same direction.",
    .inputs = {{"input"}},
    .compose = sgn_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::elementwise,
    .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{2, 3}, -2, 2, ExampleOperand::Kind::complex}}}}};

Operands positive_compose(const Call& call) {
  if (call.input(0).dtype() == DType::boolean) fail("positive: bool tensors have no sign");
  return {call.input(0)};
}
const Op kPositive{.name = "positive",
                   .doc = "input itself.",
                   .inputs = {{"input"}},
                   .compose = positive_compose,
                   .family = OpFamily::elementwise,
                   .examples = {{.inputs = {{{2, 3}}}, .types = OpExample::Types::number}}};

Operands isreal_compose(const Call& call) {
  const Tensor& z = call.input(0);
  if (is_complex(z.dtype())) return {eq(imag(z), Tensor::number(0.0))};
  return {ones(z.shape(), DType::boolean, z.device())};
}
const Op kIsreal{
    .name = "isreal",
    .doc = "Whether the imaginary part of input is 0.",
    .inputs = {{"input"}},
    .compose = isreal_compose,
    .family = OpFamily::elementwise,
    .examples = {{.inputs = {{{2, 3}}}}, {.inputs = {{{2, 3}, -2, 2, ExampleOperand::Kind::complex}}}}};

Operands polar_compose(const Call& call) {
  const Tensor &size = call.input(0), &angle = call.input(1);
  return {complex(size * cos(angle), size * sin(angle))};
}
void polar_shape(Call& call) {
  for (const int i : {0, 1})
    if (const DType type = call.input(i).dtype(); type != DType::f32 && type != DType::f64)
      fail("polar: f32 or f64 is needed (got ", type, ")");
  const bool in_f64 = promote(call.input(0).dtype(), call.input(1).dtype()) == DType::f64;
  call.emit(broadcast_shapes("polar", call.input(0).shape(), call.input(1).shape()),
            in_f64 ? DType::c128 : DType::c64);
}
// dz = exp(i angle) (dabs + i abs dangle); a gradient of z is kept as dL/dRe - i dL/dIm.
void polar_vjp(Backward& b) {
  const Tensor re = real(b.grad()), im = imag(b.grad());
  const Tensor &size = b.input(0), &angle = b.input(1);
  const Tensor cosine = cos(angle), sine = sin(angle);
  if (b.needs(0)) b.set(0, addcmul(re * cosine, im, sine, -1));
  if (b.needs(1)) b.set(1, -size * addcmul(re * sine, im, cosine));
}
const Op kPolar{.name = "polar",
                .doc = "The complex numbers of magnitude abs and angle in radians.",
                .inputs = {{"abs"}, {"angle"}},
                .shape = polar_shape,
                .vjp = polar_vjp,
                .reads = {{.inputs = 2}, {.inputs = 3}},
                .compose = polar_compose,
                .family = OpFamily::elementwise,
                .autocast = AutocastPolicy::own,
                .flops = {for_results<4>, "4 for each element: a sine, a cosine and two products"},
                .examples = {{.inputs = {{{2, 3}, 0, 2, ExampleOperand::Kind::real},
                                         {{2, 3}, -3, 3, ExampleOperand::Kind::real}},
                              .types = kFloating}}};

// --- bits ---

Operands bitwise_not_compose(const Call& call) {
  const Tensor& x = call.input(0);
  need_integers("bitwise_not", x);
  return {x.dtype() == DType::boolean ? logical_not(x) : bitwise_xor(x, Tensor::number(int64_t(-1)))};
}
const Op kBitwiseNot{.name = "bitwise_not",
                     .doc = "All bits of input inverted; of a bool tensor logical_not.",
                     .inputs = {{"input"}},
                     .compose = bitwise_not_compose,
                     .integer_inputs = 1,
                     .in_place = InPlaceForm::writes,
                     .family = OpFamily::elementwise,
                     .examples = {{.inputs = {{{2, 3}, -9, 9, ExampleOperand::Kind::index}}},
                                  {.inputs = {{{2, 3}, 0, 1, ExampleOperand::Kind::boolean}}},
                                  {.inputs = {{{2, 3}}}, .error = "integers or booleans"}}};

// --- activation ---

Operands rrelu_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const double lower = call.real(0), upper = call.real(1);
  if (!(lower <= upper)) fail("rrelu: lower must not exceed upper (got ", lower, " and ", upper, ")");
  if (!call.flag(2)) return {leaky_relu(x, (lower + upper) / 2)};
  Tensor slope;
  {
    const NoGrad off;
    slope = rand(x.shape(), x.dtype(), x.device()) * (upper - lower) + lower;
  }
  return {where(ge(x, Tensor::number(0.0)), x, x * slope)};
}
const Op kRrelu{
    .name = "rrelu",
    .doc =
        "input where it is positive, else input times a slope: a random one of lower ... upper for "
        "each element in training, else their mean.",
    .inputs = {{"input"}},
    .params = {{"lower", ParamKind::real, 1.0 / 8},
               {"upper", ParamKind::real, 1.0 / 3},
               {"training", ParamKind::boolean, false}},
    .compose = rrelu_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::elementwise,
    .examples = {{.inputs = {{{2, 3}}}}}};

// --- creation ---

Operands logspace_compose(const Call& call) {
  const double base = call.real(3);
  const DType dtype = dtype_or(call.params[4], default_dtype());
  if (call.integer(2) < 0)
    fail("logspace: the number of steps must not be negative (got ", call.integer(2), ")");
  const Tensor exponents = linspace(call.real(0), call.real(1), call.integer(2), DType::f64, cpu_device());
  return {to(to(pow(Tensor::number(base), exponents), dtype), *context().device)};
}
const Op kLogspace{.name = "logspace",
                   .doc = "steps numbers from base^start to base^end, both included, at equal ratios.",
                   .inputs = {},
                   .params = {{"start", ParamKind::real, {}},
                              {"end", ParamKind::real, {}},
                              {"steps", ParamKind::integer, {}},
                              {"base", ParamKind::real, 10.0},
                              kDType},
                   .compose = logspace_compose,
                   .family = OpFamily::other,
                   .examples = {{.params = {-1.0, 2.0, 4, 10.0, DType::f64}},
                                {.params = {0.0, 3.0, 7, 2.0, DType::f64}},
                                {.params = {0.0, 3.0, -1, 2.0}, .error = "must not be negative"}}};

template <bool lower>
Operands triangle_indices(const Call& call) {
  const char* op = lower ? "tril_indices" : "triu_indices";
  const int64_t rows = call.integer(0), columns = call.integer(1);
  if (rows < 0 || columns < 0) fail(op, ": sizes must not be negative (got ", rows, " and ", columns, ")");
  const Tensor whole = ones({rows, columns}, DType::u8);
  const Tensor part = lower ? tril(whole, call.integer(2)) : triu(whole, call.integer(2));
  return {to(contiguous(transpose(nonzero(part), 0, 1)), dtype_or(call.params[3], DType::i64))};
}
Op triangle_indices_op(const char* name, const char* doc, Operands (*compose)(const Call&)) {
  return {.name = name,
          .doc = doc,
          .inputs = {},
          .params = {{"row", ParamKind::integer, {}},
                     {"col", ParamKind::integer, {}},
                     {"offset", ParamKind::integer, 0},
                     kDType},
          .compose = compose,
          .family = OpFamily::other,
          .examples = {{.params = {3, 4}},
                       {.params = {4, 3, -1}},
                       {.params = {2, 3, 1}},
                       {.params = {-1, 3}, .error = "must not be negative"}}};
}
const Op kTrilIndices = triangle_indices_op(
    "tril_indices", "The rows and columns (from 0) of the elements on and below a diagonal, as [2, n].",
    triangle_indices<true>);
const Op kTriuIndices = triangle_indices_op(
    "triu_indices", "The rows and columns (from 0) of the elements on and above a diagonal, as [2, n].",
    triangle_indices<false>);

}  // namespace

std::span<const Op* const> special_ops() {
  static const Op* const ops[] = {&kPolygamma,     &kMvlgamma, &kFloatPower, &kLdexp,       &kRsub,
                                  &kRoundDecimals, &kSgn,      &kPositive,   &kIsreal,      &kPolar,
                                  &kBitwiseNot,    &kRrelu,    &kLogspace,   &kTrilIndices, &kTriuIndices};
  return ops;
}

}  // namespace lunagrad
