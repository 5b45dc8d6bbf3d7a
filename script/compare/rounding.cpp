#include "script/compare/rounding.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/core/numbers.h"
#include "runtime/ops.h"
#include "script/compare/side.h"

namespace lunagrad {
namespace {

// A kernel adds in many parts: SIMD lanes, threads, workgroups. No part is longer than this.
constexpr double kLongestSum = 1 << 20;
// Relative changes of operands, in f64: far below every rounding of f32, far above the rounding of f64.
const double kChange = std::ldexp(1.0, -40);
// A larger change of an output, relative to its largest element, is a jump, as of floor.
const double kJump = std::ldexp(1.0, 24);
constexpr int kRandomChanges = 4;

struct Format {
  double unit, smallest, largest;
};
Format format_of(DType type) {
  switch (part_type(type)) {
    case DType::f16:
      return {0x1p-11, 0x1p-22, 65504};
    case DType::bf16:
      return {0x1p-8, std::numeric_limits<float>::min(), 0x1.fep127};
    case DType::f32:
      return {0x1p-24, std::numeric_limits<float>::min(), std::numeric_limits<float>::max()};
    case DType::f64:
      return {0x1p-53, std::numeric_limits<double>::min(), std::numeric_limits<double>::max()};
    default:
      return {0, 0, std::numeric_limits<double>::max()};
  }
}

double rms(const std::vector<double>& values) {
  double squares = 0;
  for (const double value : values) squares += value * value;
  return values.empty() ? 0 : std::sqrt(squares / double(values.size()));
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

// |a - b|. Infinite when only one of them is NaN, or when one is an infinity and the other type could hold
// the number.
double difference(double a, double b, const Rounding& rounding) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const bool too_large = std::max(std::abs(a), std::abs(b)) == INFINITY &&
                         std::min(std::abs(a), std::abs(b)) >= rounding.largest && (a > 0) == (b > 0);
  const double error = too_large ? 0 : std::abs(a - b);
  return std::isnan(error) ? INFINITY : error;
}

// x (1 + u w) for each element. w is 1, or with `stream` a random number of variance 1.
Tensor changed(const Tensor& x, const uint64_t* stream) {
  Tensor factor = Tensor::number(1 + kChange);
  if (stream) {
    const double spread = 2 * std::sqrt(3.0);
    factor = (contraction_weights(x, *stream) - 1.0) * (kChange * spread) + 1.0;
  }
  Tensor result = laid_out_like(x * factor, x);
  result.body()->is_number = x.is_number();
  return result;
}

bool may_change(const Tensor& x) { return x.defined() && x.numel() > 0 && is_differentiable(x.dtype()); }

}  // namespace

Rounding rounding_of(DType reference, DType other, double terms, double factor) {
  const Format a = format_of(reference), b = format_of(other);
  const double unit = std::max(a.unit, b.unit);
  const bool half = unit > format_of(DType::f32).unit;
  const double added = half ? format_of(DType::f32).unit : unit;
  const double k = std::clamp(terms, 1.0, kLongestSum);
  return {factor * ((half ? 4 : 16) * unit + std::sqrt(k) * added), factor * std::max(a.smallest, b.smallest),
          std::min(a.largest, b.largest)};
}

double terms_of(const KeptNode& node, const TensorList& inputs, const TensorList& outputs,
                const Tensor& result) {
  Call call;
  call.op = node.op;
  call.in = Operands(inputs);
  call.out = Operands(outputs);
  call.params = node.params;
  call.args = node.args;
  double work = is_custom(*node.op) ? 0 : call_flops(call);
  for (const TensorList* list : {&inputs, &outputs})
    for (const Tensor& x : *list)
      if (x.defined()) work = std::max(work, double(x.numel()));
  return work / double(std::max<int64_t>(result.numel(), 1));
}

std::vector<std::vector<double>> sensitivities(const Evaluation& f, const TensorList& operands) {
  const TensorList base = f(operands);
  std::vector<std::vector<double>> values(base.size()), found(base.size());
  for (size_t i = 0; i < base.size(); ++i)
    if (may_change(base[i])) {
      values[i] = numbers_of(base[i]);
      found[i].assign(values[i].size(), 0);
    }
  const auto look = [&](const TensorList& at) {
    const TensorList results = f(at);
    for (size_t i = 0; i < found.size() && i < results.size(); ++i) {
      if (found[i].empty() || !results[i].defined()) continue;
      const std::vector<double> now = numbers_of(results[i]);
      const double jump = kJump * largest_of(values[i]);
      for (size_t k = 0; k < now.size(); ++k) {
        const double change = std::abs(now[k] - values[i][k]) / kChange;
        if (change > found[i][k] && change <= jump) found[i][k] = change;
      }
    }
  };
  // Changing one operand at a time finds the terms of an elementwise op, which a random change may cancel by
  // its sign. Random changes find the terms of sums, which cancel when all change alike.
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!may_change(operands[i])) continue;
    TensorList at = operands;
    {
      const NoGrad off;
      at[i] = changed(operands[i], nullptr);
    }
    look(at);
  }
  for (int round = 0; round < kRandomChanges; ++round) {
    TensorList at = operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      const NoGrad off;
      const uint64_t stream = uint64_t(round) * operands.size() + i;
      if (may_change(operands[i])) at[i] = changed(operands[i], &stream);
    }
    look(at);
  }
  return found;
}

TensorError compare_tensors(const Tensor& reference, const Tensor& other, const Rounding& rounding,
                            const std::vector<double>& sensitivity) {
  TensorError found;
  found.shape = {reference.shape().begin(), reference.shape().end()};
  found.dtype = dtype_name(reference.dtype());
  const std::vector<double> a = numbers_of(moved(reference, cpu_device())),
                            b = numbers_of(moved(other, cpu_device()));
  const double typical = rms(sensitivity), scale = std::max(largest_of(a), rounding.smallest);
  const int64_t parts = is_complex(reference.dtype()) ? 2 : 1;
  double worst = -1;
  for (size_t i = 0; i < a.size(); ++i) {
    double magnitude = std::isfinite(a[i]) ? std::abs(a[i]) : 0;
    if (!sensitivity.empty()) magnitude = std::max({magnitude, sensitivity[i], typical});
    const double error = difference(a[i], b[i], rounding);
    const double allowed = rounding.relative * magnitude + rounding.smallest;
    // Integers have no rounding error: any difference counts.
    const double share = error == 0 ? 0 : allowed > 0 ? error / allowed : INFINITY;
    if (share <= worst) continue;
    worst = share;
    found.error = error == 0 ? 0 : scale > 0 ? error / scale : error;
    found.allowed = scale > 0 ? allowed / scale : 0;
    const Dims at = position_of(int64_t(i) / parts, reference.shape());
    found.at.assign(at.begin(), at.end());
    found.reference = a[i];
    found.other = b[i];
  }
  return found;
}

double relative_error(const Tensor& reference, const Tensor& other, const Rounding& rounding) {
  const std::vector<double> a = numbers_of(moved(reference, cpu_device())),
                            b = numbers_of(moved(other, cpu_device()));
  double error = 0;
  for (size_t i = 0; i < a.size(); ++i) error = std::max(error, difference(a[i], b[i], rounding));
  const double scale = std::max(largest_of(a), rounding.smallest);
  return scale > 0 ? error / scale : error;
}

}  // namespace lunagrad
