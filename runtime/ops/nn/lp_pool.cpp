// lp_pool in terms of avg_pool (pool.cpp): the mean of powers, times the size of a window, to the power 1 /
// p. The largest element of a window decides its level. Each level multiplies the elements by its own power
// of two first, so that no sum of powers overflows or vanishes. Level 0 multiplies by 1.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops/families.h"
#include "runtime/ops/nn/pool_windows.h"
#include "runtime/ops/reductions/large_means.h"

namespace lunagrad {
namespace {

Tensor number(double x) { return Tensor::number(x); }

struct Levels {
  int low, high;           // exponents of the largest element of a window of level 0
  int above, below;        // how many further levels the type needs
  int step_up, step_down;  // exponents from one level to the next

  // The exponent of the largest element that a window of level k may have.
  int top(int k) const { return k >= 0 ? high + k * step_up : low + (k + 1) * step_down; }
  int shift(int k) const { return k * (k >= 0 ? step_up : step_down); }
  int of(double largest) const {
    int k = -below;
    while (k < above && largest > std::ldexp(1.0, top(k))) ++k;
    return k;
  }
};
// Exponents of the least sum whose small terms keep their digits
constexpr int kLeastF32 = -90, kLeastF64 = -900;

Levels levels_for(DType type, double p, double count) {
  const bool single = type == DType::f32;
  const double most = (single ? 126 : 1020) - std::log2(count), least = single ? kLeastF32 : kLeastF64;
  Levels levels{};
  levels.low = int(std::ceil(least / p));
  levels.high = std::max(levels.low + 1, int(std::floor(most / p)));
  const int width = levels.high - levels.low;
  const int up = std::max(0, (single ? 128 : 1024) - levels.high);
  const int down = std::max(0, levels.low - (single ? -149 : -1074));
  levels.above = (up + width - 1) / width;
  // Gradients are multiplied by the power of two, too. In f32 the steps below level 0 are short, so that no
  // more gradients vanish than must.
  const int least_width = single ? std::min(width, 36) : width;
  levels.below = (down + least_width - 1) / least_width;
  levels.step_up = levels.above ? (up + levels.above - 1) / levels.above : 0;
  levels.step_down = levels.below ? (down + levels.below - 1) / levels.below : 0;
  return levels;
}

template <int dims>
struct LpPool {
  const Call& call;
  double p, count;

  static const Op& form_of(const char* name) { return *find_op(name + std::to_string(dims) + "d"); }
  Tensor sums(const Tensor& x) const {
    static const Op& op = form_of("avg_pool");
    Values params{call.list(1), call.params[2], Dims{0}, call.flag(3), true};
    if (dims > 1) params.push_back(Value());
    return apply1(op, {pow(x, number(p))}, params) * count;
  }
  Tensor largest(const Tensor& sizes) const {
    static const Op& op = form_of("max_pool");
    Values params{call.list(1), call.params[2], Dims{0}, Dims{1}, call.flag(3)};
    if (dims == 3) params.push_back(false);
    return apply1(op, {sizes}, params);
  }
  // A window of zeros gets no gradient: the root of 0 has an infinite slope, and its powers have the slope 0.
  Tensor roots(const Tensor& sums) const {
    const Tensor zero = number(0.0), root = number(1 / p), empty = eq(sums, zero);
    const Tensor roots = pow(where(empty, number(1.0), sums), root);
    return where(empty, number(std::pow(0.0, 1 / p)), roots);
  }
  // The results for the windows of level k. Elements that are too large for the level count as 0.
  Tensor level(const Tensor& x, const Tensor& sizes, const Levels& levels, int k) const {
    const Tensor large = gt(sizes, number(std::ldexp(1.0, levels.top(k))));
    Tensor part = where(large, number(0.0), x);
    // Two factors, as one may be too large for the type.
    const int shift = levels.shift(k), half = shift / 2;
    if (shift != 0) part = part * std::ldexp(1.0, -half) * std::ldexp(1.0, half - shift);
    const Tensor y = roots(sums(part));
    return shift == 0 ? y : y * std::ldexp(1.0, half) * std::ldexp(1.0, shift - half);
  }
};

template <int dims>
Operands lp_pool_compose(const Call& call) {
  const Tensor& given = call.input(0);
  if (!is_floating(given.dtype()))
    fail(call.op->name, ": a floating type is needed (got ", given.dtype(), ")");
  const double p = call.real(0);
  if (p == 0) fail(call.op->name, ": norm_type may not be 0");
  const auto axes = window_axes(call, dims, given.shape(),
                                {call.list(1), call.params[2], Dims{0}, Dims{1}, call.flag(3), true});
  const LpPool<dims> pool{call, p, double(axes[0].kernel) * double(axes[1].kernel) * double(axes[2].kernel)};
  const Tensor x = to(given, accumulate_type(given.dtype()));
  const Tensor sums = pool.sums(x);
  const auto plain = [&]() -> Operands { return {to(pool.roots(sums), given.dtype())}; };
  if (!(p > 0) || !std::isfinite(p)) return plain();

  const bool single = x.dtype() == DType::f32;
  const double least = std::ldexp(1.0, single ? kLeastF32 : kLeastF64);
  const double most = single ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  if (surely_within(sums, least, most)) return plain();
  const Levels levels = levels_for(x.dtype(), p, pool.count);
  Tensor sizes, largest;
  {
    const NoGrad off;
    sizes = abs(x.detach());
    largest = pool.largest(sizes);
  }
  const Magnitudes range = magnitudes_of(largest);
  const bool empty = range.known && range.largest == 0;
  const int first = empty ? 0 : range.known ? levels.of(range.least) : -levels.below;
  const int last = empty ? 0 : range.known ? levels.of(range.largest) : levels.above;
  if (first == 0 && last == 0) return plain();
  Tensor y = pool.level(x, sizes, levels, first);
  for (int k = first + 1; k <= last; ++k)
    y = where(gt(largest, number(std::ldexp(1.0, levels.top(k - 1)))), pool.level(x, sizes, levels, k), y);
  return {to(y, given.dtype())};
}
std::vector<ParamSpec> lp_params() {
  return {{"norm_type", ParamKind::real, {}},
          {"kernel_size", ParamKind::integers, {}},
          {.name = "stride", .kind = ParamKind::integers, .optional = true},
          {"ceil_mode", ParamKind::boolean, false}};
}
constexpr const char* kLpDoc =
    "The norm_type-th root of the sum of each window's elements to the power norm_type.";
const Op kLpPool1d{
    .name = "lp_pool1d",
    .doc = kLpDoc,
    .inputs = {{"input"}},
    .params = lp_params(),
    .compose = lp_pool_compose<1>,
    .family = OpFamily::reduction,
    .examples = {{.inputs = {{.shape = {2, 3, 7}, .low = 0.25}},
                  .params = {2.0, Dims{3}, Dims{2}, true},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 7}}}, .params = {2.0, Dims{9}}, .error = "no window fits"}}};
const Op kLpPool2d{
    .name = "lp_pool2d",
    .doc = kLpDoc,
    .inputs = {{"input"}},
    .params = lp_params(),
    .compose = lp_pool_compose<2>,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {2, 2, 5, 6}, .low = 0.25}},
         .params = {3.0, Dims{2, 3}},
         .types = OpExample::Types::floating},
        {.inputs = {{.shape = {2, 5, 5}}}, .params = {0.0, Dims{2}}, .error = "norm_type may not be 0"}}};
const Op kLpPool3d{.name = "lp_pool3d",
                   .doc = kLpDoc,
                   .inputs = {{"input"}},
                   .params = lp_params(),
                   .compose = lp_pool_compose<3>,
                   .family = OpFamily::reduction,
                   .examples = {{.inputs = {{.shape = {1, 2, 4, 3, 4}, .low = 0.25}},
                                 .params = {2.0, Dims{2}},
                                 .types = OpExample::Types::floating}}};

}  // namespace

std::span<const Op* const> lp_pool_forms() {
  static const Op* const ops[] = {&kLpPool1d, &kLpPool2d, &kLpPool3d};
  return ops;
}

}  // namespace lunagrad
