// Covariances and correlations of variables in rows, and the distance of two tensors.
#include "runtime/core/default_dtype.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/into_range.h"

namespace lunagrad {
namespace {

constexpr auto kComplex = ExampleOperand::Kind::complex;
constexpr auto kNumber = OpExample::Types::number;

// 16 bits are too coarse for sums of products.
Tensor upcast(const Tensor& x) {
  if (is_16bit_float(x.dtype())) return to(x, DType::f32);
  return is_differentiable(x.dtype()) ? x : to(x, accumulate_type(default_dtype()));
}
// Converts the result to the type of a floating or complex input, or for an integer input to the default
// type.
Tensor cast_back(const Tensor& result, const Tensor& input) {
  return to(result, is_differentiable(input.dtype()) ? input.dtype() : default_dtype());
}

// The checked observation weights, or an undefined tensor if there are none.
Tensor weights_of(const Call& call, int which, int64_t observations) {
  if (!call.has(which)) return {};
  const Tensor& w = call.input(which);
  const char* const name = call.op->inputs[size_t(which)].name;
  if (w.ndim() != 1 || w.size(0) != observations)
    fail("cov: ", name, " must be a vector with an element for each of the ", observations,
         " observations (got shape ", w.shape(), ")");
  if (is_complex(w.dtype()) || (which == 1 && is_differentiable(w.dtype())))
    fail("cov: ", name, which == 1 ? " must be integers" : " must be real numbers", " (got ", w.dtype(), ")");
  if (w.numel() > 0 && amin(w.detach()).item() < 0) fail("cov: ", name, " must not be negative");
  return w;
}

Tensor covariance(const Tensor& input, double correction, const Tensor& counts, const Tensor& importance) {
  Tensor x = upcast(input);
  if (x.ndim() < 2) x = reshape(x, {1, x.numel()});
  const int64_t observations = x.size(1);
  if (!counts.defined() && !importance.defined()) {
    const Tensor away = x - mean(x, {1}, true);
    const double degrees = std::max(0.0, double(observations) - correction);
    return squeeze(matmul(away, conj(transpose(away, 0, 1))) / degrees);
  }
  const DType type = real(x).dtype();
  Tensor weights = counts.defined() ? to(counts, type) : to(importance, type);
  if (counts.defined() && importance.defined()) weights = weights * to(importance, type);
  const Tensor total = sum(weights);
  const Tensor away = x - sum(x * weights, {1}, true) / total;
  Tensor degrees = total - correction;
  if (importance.defined() && correction != 0)
    degrees = total - sum(weights * to(importance, type)) / total * correction;
  return squeeze(matmul(away, conj(transpose(away * weights, 0, 1))) / clamp(degrees, 0.0));
}

void need_rows(const char* op, const Tensor& x) {
  if (x.ndim() > 2)
    fail(op, ": a vector or a matrix with a variable in each row expected (got shape ", x.shape(), ")");
}

Operands cov_compose(const Call& call) {
  const Tensor& x = call.input(0);
  need_rows("cov", x);
  const int64_t observations = x.ndim() == 2 ? x.size(1) : x.numel();
  const Tensor made = covariance(x, double(call.integer(0)), weights_of(call, 1, observations),
                                 weights_of(call, 2, observations));
  return {cast_back(made, x)};
}
const Op kCov{
    .name = "cov",
    .doc =
        "The covariances of the variables in the rows of input: products of deviations from the means, "
        "summed over the observations in its columns and divided by their number less correction. fweights "
        "are counts of the observations, aweights their importance.",
    .inputs = {{"input"}, {"fweights", true}, {"aweights", true}},
    .params = {{"correction", ParamKind::integer, 1}},
    .compose = cov_compose,
    .integer_inputs = 2,
    .family = OpFamily::reduction,
    .order = {"input", "correction", "fweights", "aweights"},
    .examples = {{.inputs = {{{3, 5}},
                             {.kind = ExampleOperand::Kind::absent},
                             {.kind = ExampleOperand::Kind::absent}}},
                 {.inputs = {{{2, 4}}, {.shape = {4}, .low = 1, .high = 4, .kind = kIndex}, {{4}, 0.5, 2}},
                  .params = {0}},
                 {.inputs = {{{4}},
                             {.shape = {4}, .low = 1, .high = 4, .kind = kIndex},
                             {.kind = ExampleOperand::Kind::absent}}},
                 {.inputs = {{{2, 3, 4}}}, .error = "cov: a vector or a matrix"},
                 {.inputs = {{{2, 4}}, {.shape = {3}, .low = 1, .high = 4, .kind = kIndex}},
                  .error = "an element for each of the 4 observations"}}};

Operands corrcoef_compose(const Call& call) {
  need_rows("corrcoef", call.input(0));
  // Each row is multiplied by a factor, so that no product overflows or vanishes. This does not change the
  // coefficients.
  const Tensor given = call.input(0).ndim() ? upcast(call.input(0)) : call.input(0);
  const bool scaled = given.numel() > 0 && given.ndim() > 0;
  const Tensor c =
      covariance(scaled ? given * factor_into_range(given, {given.ndim() - 1}) : given, 1, {}, {});
  if (c.ndim() == 0) return {cast_back(c / c, call.input(0))};
  const Tensor deviation = sqrt(real(diagonal(c)));
  const Tensor r = c / unsqueeze(deviation, 1) / unsqueeze(deviation, 0);
  if (!is_complex(r.dtype())) return {cast_back(clamp(r, -1.0, 1.0), call.input(0))};
  return {complex(clamp(real(r), -1.0, 1.0), clamp(imag(r), -1.0, 1.0))};
}
const Op kCorrcoef{.name = "corrcoef",
                   .doc = "The correlation coefficients of the variables in the rows of input.",
                   .inputs = {{"input"}},
                   .compose = corrcoef_compose,
                   .family = OpFamily::reduction,
                   .examples = {{.inputs = {{{3, 5}}}},
                                {.inputs = {{{2, 4}, -2, 2, kComplex}}},
                                {.inputs = {{{2, 3, 4}}}, .error = "corrcoef: a vector or a matrix"}}};

// The 2-norm of input - other, in one pass where the device has the kernel.
void distance_shape(Call& call) { call.emit(Shape{}, call.input(0).dtype()); }
Operands distance_compose(const Call& call) { return {norm(call.input(0) - call.input(1))}; }
void distance_vjp(Backward& b) {
  const Tensor y = b.output(), zero = Tensor::number(0.0);
  const Tensor slope = (b.input(0) - b.input(1)) * where(eq(y, zero), zero, b.grad() / y);
  if (b.needs(0)) b.set(0, slope);
  if (b.needs(1)) b.set(1, -slope);
}
const Op kDistance{.name = "_distance",
                   .doc = "The 2-norm of all elements of input - other.",
                   .inputs = {{"input"}, {"other"}},
                   .shape = distance_shape,
                   .vjp = distance_vjp,
                   .reads = {{.inputs = 3, .outputs = 1}},
                   .compose = distance_compose,
                   .family = OpFamily::reduction,
                   .autocast = AutocastPolicy::f32,
                   .flops = {for_input<3>, "3 for each element of the input"}};

Operands dist_compose(const Call& call) {
  const Tensor &x = call.input(0), &y = call.input(1);
  if (call.real(0) == 2 && x.shape() == y.shape() && x.dtype() == y.dtype() && is_floating(x.dtype()))
    return apply(kDistance, {x, y});
  const Tensor away = call.input(0) - call.input(1);
  return {norm(is_differentiable(away.dtype()) ? away : to(away, default_dtype()), call.real(0))};
}
const Op kDist{.name = "dist",
               .doc = "The p-norm of all elements of input - other.",
               .inputs = {{"input"}, {"other"}},
               .params = {{"p", ParamKind::real, 2.0}},
               .compose = dist_compose,
               .family = OpFamily::reduction,
               .examples = {{.inputs = {{{2, 3}}, {{3}}}, .types = kNumber},
                            {.inputs = {{{2, 3}}, {{2, 3}}}, .params = {1.0}, .types = kNumber},
                            {.inputs = {{{4}}, {{4}}}, .params = {3.0}, .types = kNumber}}};

}  // namespace

std::span<const Op* const> covariance_ops() {
  static constexpr const Op* ops[] = {&kCov, &kCorrcoef, &kDist, &kDistance};
  return ops;
}

}  // namespace lunagrad
