// Normalization over the last dims. layer_norm: Ba, Kiros, Hinton, "Layer normalization", 2016; rms_norm:
// Zhang, Sennrich, "Root mean square layer normalization", 2019. Also normalize, which divides vectors by
// their norm.
#include "runtime/ops/nn/cpu/norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/into_range.h"
#include "runtime/ops/nn/unit.h"
#include "runtime/ops/reductions/cpu/reduce.h"
#include "runtime/ops/reductions/cpu/reduce_again.h"
#include "runtime/ops/reductions/large_means.h"

namespace lunagrad {
namespace {

constexpr int64_t kNormGrain = 8192;  // elements

// Positions of the parameters.
constexpr int kShapeAt = 0, kEpsAt = 1, kWantedAt = 2;

void norm_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Dims& normalized = call.list(kShapeAt);
  require_floating(call);
  bool fits = !normalized.empty() && normalized.size() <= x.ndim();
  for (int d = 0; fits && d < normalized.size(); ++d)
    fits = normalized[d] == x.size(x.ndim() - normalized.size() + d);
  if (!fits)
    fail(call.op->name, ": normalized_shape ", normalized, " is not what the shape of the input, ", x.shape(),
         ", ends with");
  for (size_t i = 1; i < call.in.size(); ++i)
    if (call.has(int(i)) && !(call.in[i].shape() == normalized))
      fail(call.op->name, ": ", call.op->inputs[i].name, " has shape ", call.in[i].shape(),
           " where normalized_shape is ", normalized);
  call.emit(x.shape(), x.dtype());
}

// eps, or the epsilon of the type that the mean is computed in.
double eps_of(const Value& eps, DType dtype) {
  if (eps.present()) return eps.kind == Value::Kind::real ? eps.f : double(eps.i);
  return dtype == DType::f64 ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon();
}

int64_t columns_of(const Call& call) { return numel(call.list(kShapeAt)); }
int64_t rows_of(const Call& call, const Tensor& x) {
  int64_t rows = 1;
  for (int d = 0; d < x.ndim() - call.list(kShapeAt).size(); ++d) rows *= x.size(d);
  return rows;
}

template <class T, bool centred>
class Norm final : public RowKernel {
 public:
  explicit Norm(const Call& call)
      : RowKernel(rows_of(call, call.input(0)), columns_of(call)),
        weight_(data_or_null<T>(call, 1)),
        bias_(data_or_null<T>(call, 2)),
        eps_(eps_of(call.params[kEpsAt], call.input(0).dtype())) {}

  void run(int64_t, const void* const* in, void* out) const override {
    const T* const x = static_cast<const T*>(in[0]);
    T* const y = static_cast<T*>(out);
    if constexpr (centred)
      layer_norm_row(columns(), x, weight_, bias_, eps_, y);
    else
      rms_norm_row(columns(), x, weight_, eps_, y);
  }

 private:
  const T *weight_, *bias_;
  double eps_;
};

// Outputs: gradients of input, weight and, for layer_norm, bias; unwanted ones are empty.
void norm_grad_shape(Call& call) {
  const Tensor& x = call.input(1);
  for (int i = kWantedAt; i < int(call.params.size()); ++i) {
    const Shape& shape = i == kWantedAt ? x.shape() : call.list(kShapeAt);
    call.emit(call.flag(i) ? shape : Shape{0}, x.dtype());
  }
}

// The sums over rows are computed for each block and then added in order. Blocks depend only on the shape,
// so the sums do not depend on the number of threads.
template <class T, bool centred>
class NormGrad final : public RowKernel {
 public:
  explicit NormGrad(const Call& call)
      : RowKernel(rows_of(call, call.input(1)), columns_of(call)),
        call_(call),
        weight_(data_or_null<T>(call, 2)),
        eps_(eps_of(call.params[kEpsAt], call.input(1).dtype())) {
    if (!wants(1) && !wants(2)) return;
    constexpr int64_t kMostBlocks = 64, kLeastRows = 8;
    int64_t blocks = std::clamp<int64_t>(rows() / iterations_in(kNormGrain, columns()), 1, kMostBlocks);
    blocks = std::clamp<int64_t>(rows() / kLeastRows, 1, blocks);
    block_ = std::max<int64_t>(1, (rows() + blocks - 1) / blocks);
    sums_ = Tensor::empty({blocks, 2, columns()}, call.input(1).dtype());
    std::fill_n(sums_.data<T>(), sums_.numel(), T(0));
  }

  void run(int64_t row, const void* const* in, void* out) const override {
    const T *const g = static_cast<const T*>(in[0]), *const x = static_cast<const T*>(in[1]);
    T *const dx = static_cast<T*>(out), *const dweight = sum(1, row / block_);
    if constexpr (centred)
      layer_norm_grad_row(columns(), g, x, weight_, eps_, dx, dweight, sum(2, row / block_));
    else
      rms_norm_grad_row(columns(), g, x, weight_, eps_, dx, dweight);
  }

  void finish() const override {
    for (int result = 1; result < int(call_.out.size()); ++result) {
      if (!wants(result)) continue;
      T* const total = call_.output(result).data<T>();
      const int64_t blocks = sums_.size(0);
      parallel_for(columns(), iterations_in(kNormGrain, blocks), [&](int64_t begin, int64_t end) {
        std::fill(total + begin, total + end, T(0));
        for (int64_t block = 0; block < blocks; ++block) {
          const T* const part = sum(result, block);
          for (int64_t i = begin; i < end; ++i) total[i] += part[i];
        }
      });
    }
  }

 private:
  bool wants(int result) const { return result < int(call_.out.size()) && call_.flag(kWantedAt + result); }
  // The sums of a block for a result, or null if the result is not wanted.
  T* sum(int result, int64_t block) const {
    return wants(result) ? sums_.data<T>() + (2 * block + result - 1) * columns() : nullptr;
  }

  const Call& call_;
  const T* weight_;
  double eps_;
  Tensor sums_;  // of each block, for weight and bias
};

void norm_vjp(Backward& b, const Op& grad) {
  if (b.create_graph()) return differentiate_composition(b);
  Operands in{b.grad(), b.input(0), b.input(1)};
  Values params = b.node().attributes->params;
  for (int i = 0; i < b.inputs(); ++i) params.push_back(b.needs(i));
  const Operands gradients = apply(grad, std::move(in), std::move(params));
  for (int i = 0; i < b.inputs(); ++i)
    if (b.needs(i)) b.set(i, gradients[size_t(i)]);
}

Dims last_dims(const Call& call) {
  Dims dims;
  for (int d = call.input(0).ndim() - call.list(kShapeAt).size(); d < call.input(0).ndim(); ++d)
    dims.push_back(d);
  return dims;
}

// Operations for each element, by the formulas of the sections.
double layer_norm_flops(const Call& call) { return (5 + call.has(1) + call.has(2)) * elements(call.in[0]); }
double rms_norm_flops(const Call& call) { return (3 + call.has(1)) * elements(call.in[0]); }
// x^ = r (x - mean); dx = r (g w - mean(g w) - x^ mean(g w x^)), dw = sum g x^, db = sum g
double layer_norm_grad_flops(const Call& call) {
  const int input = call.flag(2) ? 7 + call.has(2) : 0;
  return (6 + input + 2 * call.flag(3) + call.flag(4)) * elements(call.in[1]);
}
// x^ = r x; dx = r (g w - x^ mean(g w x^)), dw = sum g x^
double rms_norm_grad_flops(const Call& call) {
  const int input = call.flag(2) ? 5 + call.has(2) : 0;
  return (3 + input + 2 * call.flag(3)) * elements(call.in[1]);
}

// --- layer_norm: y = (x - mean) / sqrt(variance + eps) w + b ---

const Op kLayerNormGrad{
    .name = "_layer_norm_grad",
    .doc = "The gradients of layer_norm from its result's gradient.",
    .inputs = {{"grad"}, {"input"}, {"weight", true}},
    .params = {{"normalized_shape", ParamKind::integers, {}},
               {"eps", ParamKind::real, {}},
               {"input_wanted", ParamKind::boolean, true},
               {"weight_wanted", ParamKind::boolean, true},
               {"bias_wanted", ParamKind::boolean, true}},
    .shape = norm_grad_shape,
    .cpu = run_by_rows,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .flops = {layer_norm_grad_flops,
              "6 for each element (statistics, normalized value), 8 for the gradient of the input (7 without "
              "a weight), 2 for the weight, 1 for the bias"}};

void layer_norm_vjp(Backward& b) { norm_vjp(b, kLayerNormGrad); }

Operands layer_norm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Dims dims = last_dims(call);
  const double eps = call.real(kEpsAt);
  const Tensor factor = factor_into_range(x, dims, eps), near = x * factor;
  const Tensor centred = near - mean(near, dims, true);
  Tensor y = centred * rsqrt(mean(centred * centred, dims, true) + factor * eps * factor);
  if (call.has(1)) y = y * call.input(1);
  if (call.has(2)) y = y + call.input(2);
  return {y};
}

const Op kLayerNorm{
    .name = "layer_norm",
    .doc = "(input - mean) / sqrt(variance + eps) over the last dims, times weight plus bias.",
    .inputs = {{"input"}, {"weight", true}, {"bias", true}},
    .params = {{"normalized_shape", ParamKind::integers, {}}, {"eps", ParamKind::real, 1e-5}},
    .shape = norm_shape,
    .cpu = run_by_rows,
    .vjp = layer_norm_vjp,
    .reads = {{.inputs = 7}},
    .compose = layer_norm_compose,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32,
    .flops = {layer_norm_flops,
              "5 for each element of the result (mean, difference, square and its sum, product), and 1 each "
              "for weight and bias"},
    .order = {"input", "normalized_shape", "weight", "bias", "eps"}};

// --- rms_norm: y = x / sqrt(mean(x^2) + eps) w ---

const ParamSpec kRmsEps{.name = "eps", .kind = ParamKind::real, .optional = true};

const Op kRmsNormGrad{.name = "_rms_norm_grad",
                      .doc = "The gradients of rms_norm from its result's gradient.",
                      .inputs = {{"grad"}, {"input"}, {"weight", true}},
                      .params = {{"normalized_shape", ParamKind::integers, {}},
                                 kRmsEps,
                                 {"input_wanted", ParamKind::boolean, true},
                                 {"weight_wanted", ParamKind::boolean, true}},
                      .shape = norm_grad_shape,
                      .cpu = run_by_rows,
                      .half_through_f32 = true,
                      .family = OpFamily::normalization,
                      .flops = {rms_norm_grad_flops,
                                "3 for each element (statistics, normalized value), 6 for the gradient of "
                                "the input (5 without a weight), 2 for the weight"}};

void rms_norm_vjp(Backward& b) { norm_vjp(b, kRmsNormGrad); }

Operands rms_norm_compose(const Call& call) {
  const Dims dims = last_dims(call);
  const double eps = eps_of(call.params[kEpsAt], call.input(0).dtype());
  const Tensor factor = factor_into_range(call.input(0), dims, eps), x = call.input(0) * factor;
  const Tensor y = x * rsqrt(mean(x * x, dims, true) + factor * eps * factor);
  return {call.has(1) ? y * call.input(1) : y};
}

const Op kRmsNorm{
    .name = "rms_norm",
    .doc = "input / sqrt(mean(input^2) + eps) over the last dims, times weight.",
    .inputs = {{"input"}, {"weight", true}},
    .params = {{"normalized_shape", ParamKind::integers, {}}, kRmsEps},
    .shape = norm_shape,
    .cpu = run_by_rows,
    .vjp = rms_norm_vjp,
    .reads = {{.inputs = 3}},
    .compose = rms_norm_compose,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32,
    .flops = {rms_norm_flops,
              "3 for each element of the result (square and its sum, product), and 1 for the weight"},
    .order = {"input", "normalized_shape", "weight", "eps"}};

Operands rms_norm_bias_compose(const Call& call) {
  const Tensor y = apply1(kRmsNorm, {call.input(0), call.has(1) ? call.input(1) : Tensor()}, call.params);
  return {call.has(2) ? to(y + call.input(2), y.dtype()) : y};
}
const Op kRmsNormBias{.name = "_rms_norm_bias",
                      .doc = "input / sqrt(mean(input^2) + eps) over the last dims, times weight plus bias.",
                      .inputs = {{"input"}, {"weight", true}, {"bias", true}},
                      .params = {{"normalized_shape", ParamKind::integers, {}}, kRmsEps},
                      .compose = rms_norm_bias_compose,
                      .family = OpFamily::normalization,
                      .order = {"input", "normalized_shape", "weight", "eps", "bias"},
                      .short_form = "rms_norm"};

// --- local_response_norm: x / (k + alpha mean of x^2 over `size` channels)^beta ---

Operands local_response_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t size = call.integer(0);
  if (!is_floating(x.dtype())) fail("local_response_norm: a floating type is needed (got ", x.dtype(), ")");
  if (x.ndim() < 3)
    fail("local_response_norm: an input [N, C, …] with 3 or more dims expected (got ", x.shape(), ")");
  if (size < 1 || size > (int64_t(1) << 31))
    fail("local_response_norm: size must be 1 to 2147483648 (got ", size, ")");
  if (x.numel() == 0) return {x};
  const Tensor upcast = to(x, accumulate_type(x.dtype()));
  const double alpha = call.real(1), beta = call.real(2), k = call.real(3);
  // A window spans no more channels than there are.
  const int64_t before = size / 2, after = (size - 1) / 2, most = x.size(1) - 1;
  const int64_t head = std::min(before, most), tail = std::min(after, most);
  // alpha m + k.
  const auto base = [&](const Tensor& elements, double added) {
    const Tensor squares =
        reshape(square(elements), {x.size(0), x.size(1), x.numel() / x.size(0) / x.size(1)});
    const Tensor means = avg_pool2d(pad(squares, {0, 0, head, tail}), {head + tail + 1, 1}, {1, 1}, {0},
                                    false, true, std::optional<int64_t>(size));
    return reshape(means, x.shape()) * alpha + added;
  };
  const Tensor power = Tensor::number(beta), plain = base(upcast, k);
  if (surely_finite(plain)) return {to(upcast / pow(plain, power), x.dtype())};
  // Where the squares are too large, the same with elements times 2^-e: (x 2^-e) / (base 2^-2e)^beta, times
  // 2^(e - 2 e beta).
  const int e = upcast.dtype() == DType::f64 ? 520 : 70;
  const Tensor small = upcast * std::ldexp(1.0, -e), again = base(small, k * std::ldexp(1.0, -2 * e));
  const Tensor finite = isfinite(plain), one = Tensor::number(1.0);
  const Tensor ordinary = upcast / pow(where(finite, plain, one), power);
  const Tensor large = small / pow(where(finite, one, again), power) * std::exp2(e - 2 * e * beta);
  return {to(where(finite, ordinary, large), x.dtype())};
}
const Op kLocalResponseNorm{
    .name = "local_response_norm",
    .doc = "input / (k + alpha m)^beta, where m is the mean of input^2 over size channels around its own.",
    .inputs = {{"input"}},
    .params = {{"size", ParamKind::integer, {}},
               {"alpha", ParamKind::real, 1e-4},
               {"beta", ParamKind::real, 0.75},
               {"k", ParamKind::real, 1.0}},
    .compose = local_response_compose,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32,
    .examples = {{.inputs = {{.shape = {2, 5, 3}}},
                  .params = {3, 0.5, 0.75, 1.0},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {1, 4, 2, 3}}},
                  .params = {4, 0.5, 0.5, 2.0},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {1, 2, 2, 1, 2}}}, .params = {7}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {4, 3}}}, .params = {2}, .error = "with 3 or more dims"},
                 {.inputs = {{.shape = {1, 4, 3}}}, .params = {0}, .error = "size must be 1"}}};

// --- normalize ---

// The results are u = x / n and n = max(|x|, eps). With a gradient for each:
//   dx = du / n + u (dn - sum(du u) / n), the second term 0 where n is eps
// No step divides by n twice, since n^2 may be out of range; the gradients of the norm and the quotient, one
// after the other, would. A device without the kernel computes those two.
constexpr int kUnitDimAt = 0, kUnitEpsAt = 1;

void unit_shape(Call& call) {
  const Tensor& x = call.input(0);
  require_floating(call);
  call.emit(x.shape(), x.dtype());
  Shape lengths = x.shape();
  if (!lengths.empty()) lengths[normalize_dim(call.op->name, call.integer(kUnitDimAt), lengths)] = 1;
  call.emit(lengths, x.dtype());
}
Operands unit_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const Tensor length = clamp(norm(x, 2, {call.integer(kUnitDimAt)}, true), call.real(kUnitEpsAt));
  return {x / length, length};
}
void unit_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  const Split split(with_one_dim(x.shape()),
                    normalize_dim(call.op->name, call.integer(kUnitDimAt), x.shape()));
  const auto run = [&]<class T>() {
    const T eps = T(call.real(kUnitEpsAt));
    T* const lengths = call.output(1).data<T>();
    for_rows(split, std::array{static_cast<const T*>(x.data<T>())}, call.output(0).data<T>(),
             [&](int64_t row, const auto& in, T* to) {
               double squares = 0;
               reduce_row(ReduceKind::sum_squares, 0, in[0], split.size, &squares);
               const auto elements = [&](const auto& f) {
                 for (int64_t i = 0; i < split.size; ++i) {
                   const double element = double(in[0][i]);
                   f(&element, 1);
                 }
               };
               const bool plain = sizeof(T) == 4 || power_in_range(squares);
               const T length = T(plain ? std::sqrt(squares) : norm_again(elements, 2));
               const T divisor = length < eps ? eps : length;
               lengths[row] = divisor;
               if (!std::isinf(length)) {
                 for (int64_t i = 0; i < split.size; ++i) to[i] = in[0][i] / divisor;
                 return;
               }
               // The norm is too large for T, but not beside elements times a power of two.
               constexpr double kDown = 0x1p-64;
               const double small = norm_again(
                   [&](const auto& f) {
                     elements([&](const double* x, int64_t n) {
                       const double scaled = *x * kDown;
                       f(&scaled, n);
                     });
                   },
                   2);
               for (int64_t i = 0; i < split.size; ++i) to[i] = T(double(in[0][i]) * kDown / small);
             });
  };
  x.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}
void unit_vjp(Backward& b) {
  const Tensor u = b.output(0), n = b.output(1), zero = Tensor::number(0.0);
  const Tensor own = b.has_grad(0) ? sum(b.grad(0) * u, {b.integer(kUnitDimAt)}, true) / n : Tensor();
  Tensor along = b.has_grad(1) ? b.grad(1) : Tensor();
  if (own.defined()) along = along.defined() ? along - own : -own;
  const Tensor turned = u * where(gt(n, Tensor::number(b.real(kUnitEpsAt))), along, zero);
  b.set(0, own.defined() ? b.grad(0) / n + turned : turned);
}
const Op kUnit{
    .name = "_unit",
    .doc = "input / max(its 2-norm along dim, eps), and the divisor.",
    .inputs = {{"input"}},
    .params = {{"dim", ParamKind::dim, {}}, {"eps", ParamKind::real, {}}},
    .shape = unit_shape,
    .cpu = unit_cpu,
    .vjp = unit_vjp,
    .reads = {{.outputs = 3}},
    .compose = unit_compose,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .flops = {for_input<3>, "3 for each element of the input: its square and their sum, a quotient"}};

Operands normalize_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype())) fail("normalize: a floating type is needed (got ", x.dtype(), ")");
  const int dim = normalize_dim("normalize", call.integer(1), x.shape());
  if (call.real(0) == 2) return {unit(x, dim, call.real(2))};
  return {x / clamp(norm(x, call.real(0), {dim}, true), call.real(2))};
}

const Op kNormalize{
    .name = "normalize",
    .doc = "input / max(its p-norm along dim, eps).",
    .inputs = {{"input"}},
    .params = {{"p", ParamKind::real, 2.0}, {"dim", ParamKind::dim, 1}, {"eps", ParamKind::real, 1e-12}},
    .compose = normalize_compose,
    .family = OpFamily::normalization,
    .autocast = AutocastPolicy::f32};

}  // namespace

Tensor unit(const Tensor& x, int dim, double eps) { return apply(kUnit, {x}, {dim, eps})[0]; }

Tensor layer_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight, const Tensor& bias,
                  double eps) {
  return apply1(kLayerNorm, {x, weight, bias}, {normalized_shape, eps});
}

Tensor rms_norm(const Tensor& x, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  return apply1(kRmsNorm, {x, weight}, {normalized_shape, eps ? Value(*eps) : Value()});
}
Tensor normalize(const Tensor& x, double p, int dim, double eps) {
  return apply1(kNormalize, {x}, {p, dim, eps});
}

namespace {

template <class T>
using LayerNorm = Norm<T, true>;
template <class T>
using RmsNorm = Norm<T, false>;
template <class T>
using LayerNormGrad = NormGrad<T, true>;
template <class T>
using RmsNormGrad = NormGrad<T, false>;

}  // namespace

std::span<const RowKernelMaker> norm_row_kernels() {
  static const RowKernelMaker all[] = {
      row_kernel_maker<LayerNorm>(kLayerNorm), row_kernel_maker<LayerNormGrad>(kLayerNormGrad),
      row_kernel_maker<RmsNorm>(kRmsNorm), row_kernel_maker<RmsNormGrad>(kRmsNormGrad)};
  return all;
}

std::span<const Op* const> norm_ops() {
  static const Op* const ops[] = {&kLayerNorm,   &kLayerNormGrad,     &kRmsNorm, &kRmsNormGrad,
                                  &kRmsNormBias, &kLocalResponseNorm, &kUnit,    &kNormalize};
  return ops;
}

}  // namespace lunagrad
