// group_norm: Wu, He, "Group normalization", 2018; instance_norm is a group_norm with one channel in each
// group: Ulyanov, Vedaldi, Lempitsky, 2016.
#include <algorithm>
#include <cmath>
#include <vector>

#include "runtime/cpu/range.h"
#include "runtime/ops/by_rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/nn/channel_norm_operands.h"
#include "runtime/ops/nn/cpu/channel_norm.h"
#include "runtime/ops/nn/cpu/norm.h"

namespace lunagrad {
namespace {

// Positions of the parameters.
enum GroupNormParam { kNumGroups, kGroupNormEps, kGroupNormInputWanted };

// The input, batch x groups x channels of a group x size; a row is a group of an item.
struct Groups {
  int64_t batch, count, channels, size = 1;
  Groups(const Shape& x, int64_t groups) : batch(x[0]), count(groups), channels(x[1] / groups) {
    for (int d = 2; d < x.size(); ++d) size *= x[d];
  }
  int64_t rows() const { return batch * count; }
  int64_t elements() const { return channels * size; }  // of one group
};

template <class T>
struct Moments {
  T mean;
  double square;  // variance + eps
  Moments(int64_t n, const T* x, double eps) {
    mean = T(sum_stretch(n, x) / double(n));
    square = squares_stretch(n, x, mean) / double(n) + eps;
  }
  double rstd() const { return 1 / std::sqrt(square); }
};

// Calls f(row, its moments, 1). If the squares of the row are out of range (cpu/range.h), calls f with a copy
// of the row times a power of two, the moments of the copy, and that power.
template <class T, class F>
void with_moments(int64_t n, const T* x, double eps, F&& f) {
  const Moments<T> plain(n, x, eps);
  if (SquareRange<T>::holds(plain.square)) return f(x, plain, T(1));
  const T factor = SquareRange<T>::factor(plain.square);
  std::vector<T> scaled(x, x + n);
  for (T& v : scaled) v *= factor;
  f(scaled.data(), Moments<T>(n, scaled.data(), eps * double(factor) * double(factor)), factor);
}

void group_norm_shape(Call& call) {
  const Tensor& x = call.input(0);
  require_floating(call);
  if (x.ndim() < 2) fail("group_norm: the input must be [N, C, …] (got shape ", x.shape(), ")");
  const int64_t groups = call.integer(0), channels = x.size(1);
  if (groups < 1 || channels % groups != 0)
    fail("group_norm: ", channels, " channels do not divide into ", groups, " groups");
  for (int i = 1; i <= 2; ++i)
    if (call.has(i) && !(call.input(i).shape() == Shape{channels}))
      fail("group_norm: ", call.op->inputs[size_t(i)].name, " must have shape [", channels, "] (got ",
           call.input(i).shape(), ")");
  call.emit(x.shape(), x.dtype());
}

template <class T>
class GroupNorm final : public RowKernel {
 public:
  explicit GroupNorm(const Call& call) : GroupNorm(call, {call.input(0).shape(), call.integer(kNumGroups)}) {}

  void run(int64_t row, const void* const* in, void* out) const override {
    const T* const x = static_cast<const T*>(in[0]);
    T* const y = static_cast<T*>(out);
    const int64_t channel = row % groups_.count * groups_.channels;
    const T *const w = weight_ ? weight_ + channel : nullptr, *const b = bias_ ? bias_ + channel : nullptr;
    if (groups_.size == 1) return layer_norm_row(groups_.channels, x, w, b, eps_, y);
    with_moments(columns(), x, eps_, [&](const T* from, const Moments<T>& m, T) {
      const double r = m.rstd();
      for (int64_t c = 0; c < groups_.channels; ++c) {
        const T scale = T(r * (w ? double(w[c]) : 1)), shift = b ? b[c] : T(0);
        const int64_t at = c * groups_.size;
        normalize_stretch(false, groups_.size, from + at, &m.mean, &scale, &shift, y + at);
      }
    });
  }

 private:
  GroupNorm(const Call& call, const Groups& groups)
      : RowKernel(groups.rows(), groups.elements()),
        groups_(groups),
        weight_(data_or_null<T>(call, 1)),
        bias_(data_or_null<T>(call, 2)),
        eps_(call.real(kGroupNormEps)) {}

  Groups groups_;
  const T *weight_, *bias_;
  double eps_;
};

void group_norm_grad_shape(Call& call) {
  const Tensor& x = call.input(1);
  for (int i = 0; i < 3; ++i) {
    const Shape& shape = i == 0 ? x.shape() : Shape{x.size(1)};
    call.emit(call.flag(kGroupNormInputWanted + i) ? shape : Shape{0}, x.dtype());
  }
}

// With r = 1 / sqrt(variance + eps) of a group of m elements and A = sum w g, B = sum w g (x - mean) over it:
//   dx = w r g - r A / m - (x - mean) r^3 B / m,  dw = sum of r g (x - mean),  db = sum of g
template <class T>
class GroupNormGrad final : public RowKernel {
 public:
  explicit GroupNormGrad(const Call& call)
      : GroupNormGrad(call, {call.input(1).shape(), call.integer(kNumGroups)}) {}

  void run(int64_t row, const void* const* in, void* out) const override {
    const T *const g = static_cast<const T*>(in[0]), *const x = static_cast<const T*>(in[1]);
    T* const dx = static_cast<T*>(out);
    const T* const w = weight_ ? weight_ + row % groups_.count * groups_.channels : nullptr;
    T *const dweight = sums(1) + row * groups_.channels, *const dbias = sums(2) + row * groups_.channels;
    if (groups_.size == 1) return layer_norm_grad_row(groups_.channels, g, x, w, eps_, dx, dweight, dbias);
    with_moments(columns(), x, eps_, [&](const T* from, const Moments<T>& moments, T factor) {
      run_row(g, from, moments, w, dx, dweight, dbias);
      // dx is the gradient of the scaled row; the gradient of the row itself is dx times the factor.
      for (int64_t i = 0; dx && factor != 1 && i < columns(); ++i) dx[i] *= factor;
    });
  }

  void finish() const override {
    const int64_t channels = groups_.count * groups_.channels;
    for (int result = 1; result <= 2; ++result) {
      if (!call_.flag(kGroupNormInputWanted + result)) continue;
      std::vector<double> totals(size_t(channels), 0.0);
      sum_columns(groups_.batch, channels, channels, sums(result), totals.data());
      std::copy(totals.begin(), totals.end(), call_.output(result).data<T>());
    }
  }

 private:
  GroupNormGrad(const Call& call, const Groups& groups)
      : RowKernel(groups.rows(), groups.elements()),
        call_(call),
        groups_(groups),
        weight_(data_or_null<T>(call, 2)),
        eps_(call.real(kGroupNormEps)),
        sums_(Tensor::empty({2, groups.rows(), groups.channels}, call.input(1).dtype())) {
    std::fill_n(sums_.data<T>(), sums_.numel(), T(0));
  }

  void run_row(const T* g, const T* x, const Moments<T>& moments, const T* w, T* dx, T* dweight,
               T* dbias) const {
    const int64_t m = columns(), size = groups_.size;
    const double r = moments.rstd();
    double a = 0, b = 0;
    for (int64_t c = 0; c < groups_.channels; ++c) {
      double dots[2] = {};
      dot_stretch(size, g + c * size, x + c * size, moments.mean, dots);
      dweight[c] = T(r * dots[1]);
      dbias[c] = T(dots[0]);
      a += (w ? double(w[c]) : 1) * dots[0];
      b += (w ? double(w[c]) : 1) * dots[1];
    }
    const T slope = T(-r * r * r * b / double(m)), rest = T(-r * a / double(m));
    for (int64_t c = 0; dx && c < groups_.channels; ++c) {
      const T scale = T(r * (w ? double(w[c]) : 1));
      const int64_t at = c * size;
      normalize_grad_stretch(false, size, g + at, x + at, &moments.mean, &scale, &slope, &rest, dx + at);
    }
  }

  // The sums for a result, separately for each item, so that the totals do not depend on the number of
  // threads.
  T* sums(int result) const { return sums_.data<T>() + (result - 1) * rows() * groups_.channels; }

  const Call& call_;
  Groups groups_;
  const T* weight_;
  double eps_;
  Tensor sums_;
};

// Counted as in layer_norm (norm.cpp).
double group_norm_flops(const Call& call) { return (5 + call.has(1) + call.has(2)) * elements(call.in[0]); }
double group_norm_grad_flops(const Call& call) {
  const int input = call.flag(2) ? 7 + call.has(2) : 0;
  return (6 + input + 2 * call.flag(3) + call.flag(4)) * elements(call.in[1]);
}

const Op kGroupNormGrad{
    .name = "_group_norm_grad",
    .doc = "The gradients of group_norm from its result's gradient.",
    .inputs = {{"grad"}, {"input"}, {"weight", true}},
    .params = {{"num_groups", ParamKind::integer, {}},
               {"eps", ParamKind::real, {}},
               {"input_wanted", ParamKind::boolean, true},
               {"weight_wanted", ParamKind::boolean, true},
               {"bias_wanted", ParamKind::boolean, true}},
    .shape = group_norm_grad_shape,
    .cpu = run_by_rows,
    .half_through_f32 = true,
    .family = OpFamily::normalization,
    .flops = {group_norm_grad_flops,
              "6 for each element (statistics, normalized value), 8 for the gradient of the input "
              "(7 without a weight), 2 for the weight, 1 for the bias"}};

void group_norm_vjp(Backward& b) {
  if (b.create_graph()) return differentiate_composition(b);
  const Operands gradients = apply(kGroupNormGrad, {b.grad(), b.input(0), b.input(1)},
                                   {b.integer(0), b.real(1), b.needs(0), b.needs(1), b.needs(2)});
  for (int i = 0; i < 3; ++i)
    if (b.needs(i)) b.set(i, gradients[size_t(i)]);
}

// As a layer norm of each group, for which devices have a kernel.
Operands group_norm_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t groups = call.integer(0), channels = x.size(1);
  const int64_t size = x.numel() / std::max<int64_t>(1, x.size(0) * groups);
  const Tensor rows = reshape(x, {x.size(0), groups, size});
  const Tensor y = reshape(layer_norm(rows, {size}, {}, {}, call.real(1)), x.shape());
  Shape over_channels(x.ndim(), 1);
  over_channels[1] = channels;
  const auto of_channels = [&](int input) { return reshape(call.input(input), over_channels); };
  if (call.has(1) && call.has(2)) return {addcmul(of_channels(2), y, of_channels(1))};
  return {call.has(1) ? y * of_channels(1) : call.has(2) ? y + of_channels(2) : y};
}

const Op kGroupNorm{.name = "group_norm",
                    .doc =
                        "(input - mean) / sqrt(variance + eps) for each group of channels of each item, "
                        "times weight plus bias.",
                    .inputs = {{"input"}, {"weight", true}, {"bias", true}},
                    .params = {{"num_groups", ParamKind::integer, {}}, {"eps", ParamKind::real, 1e-5}},
                    .shape = group_norm_shape,
                    .cpu = run_by_rows,
                    .vjp = group_norm_vjp,
                    .reads = {{.inputs = 7}},
                    .compose = group_norm_compose,
                    .half_through_f32 = true,
                    .family = OpFamily::normalization,
                    .autocast = AutocastPolicy::f32,
                    .flops = {group_norm_flops,
                              "5 for each element of the result (mean, difference, square and its sum, "
                              "product), and 1 each for weight and bias"},
                    .order = {"input", "num_groups", "weight", "bias", "eps"}};

// --- instance_norm ---

// The running statistics move towards the average of the instances. The recompute of a checkpoint does not
// move them again.
void move_statistics(const Call& call, double momentum) {
  if (context().checkpoint && context().checkpoint->recomputing()) return;
  const NoGrad off;
  Tensor x = call.input(kNormInput);
  if (is_16bit_float(x.dtype())) x = to(x, DType::f32);
  Dims dims;
  for (int d = 2; d < x.ndim(); ++d) dims.push_back(d);
  const auto move = [&](int running, const Tensor& statistic) {
    if (!call.has(running)) return;
    const Tensor& old = call.input(running);
    copy_(old, old * (1 - momentum) + to(mean(statistic, {0}), old.dtype()) * momentum);
  };
  move(kRunningMean, mean(x, dims));
  move(kRunningVar, var(x, dims, 1));
}

Operands instance_norm_compose(const Call& call) {
  const Tensor& x = call.input(kNormInput);
  if (x.ndim() < 3) fail("instance_norm: the input must be [N, C, …] (got shape ", x.shape(), ")");
  const Tensor weight = call.has(kNormWeight) ? call.input(kNormWeight) : Tensor();
  const Tensor bias = call.has(kNormBias) ? call.input(kNormBias) : Tensor();
  for (int i = kRunningMean; i <= kRunningVar; ++i)
    if (call.has(i) && !(call.input(i).shape() == Shape{x.size(1)}))
      fail("instance_norm: ", call.op->inputs[size_t(i)].name, " must have shape [", x.size(1), "] (got ",
           call.input(i).shape(), ")");
  if (!call.flag(0))
    return {batch_norm(x, call.has(kRunningMean) ? call.input(kRunningMean) : Tensor(),
                       call.has(kRunningVar) ? call.input(kRunningVar) : Tensor(), weight, bias, false, 0,
                       call.real(2))};
  const int64_t instances = x.size(0) * x.size(1);
  if (instances > 0 && x.numel() == instances)
    fail("instance_norm: each channel needs more than one value (got shape ", x.shape(), ")");
  if (x.size(1) == 0) return {x};
  // Under autocast and with f32 weights group_norm returns f32.
  const Tensor y = to(group_norm(x, x.size(1), weight, bias, call.real(2)), x.dtype());
  if ((call.has(kRunningMean) || call.has(kRunningVar)) && x.numel() > 0) move_statistics(call, call.real(1));
  return {y};
}

const Op kInstanceNorm{
    .name = "instance_norm",
    .doc = "(input - mean) / sqrt(variance + eps) for each channel of each item, times weight plus bias.",
    .inputs = {{"input"}, {"running_mean", true}, {"running_var", true}, {"weight", true}, {"bias", true}},
    .params = {{"use_input_stats", ParamKind::boolean, true},
               {"momentum", ParamKind::real, 0.1},
               {"eps", ParamKind::real, 1e-5}},
    .compose = instance_norm_compose,
    .family = OpFamily::normalization};

}  // namespace

Tensor group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  return apply1(kGroupNorm, {x, weight, bias}, {num_groups, eps});
}
Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats, double momentum,
                     double eps) {
  return apply1(kInstanceNorm, {x, running_mean, running_var, weight, bias},
                {use_input_stats, momentum, eps});
}

std::span<const RowKernelMaker> group_norm_row_kernels() {
  static const RowKernelMaker all[] = {row_kernel_maker<GroupNorm>(kGroupNorm),
                                       row_kernel_maker<GroupNormGrad>(kGroupNormGrad)};
  return all;
}

std::span<const Op* const> group_norm_ops() {
  static const Op* const ops[] = {&kGroupNorm, &kGroupNormGrad, &kInstanceNorm};
  return ops;
}

}  // namespace lunagrad
