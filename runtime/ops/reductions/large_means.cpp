#include "runtime/ops/reductions/large_means.h"

#include <algorithm>
#include <cmath>

#include "runtime/batching/batched.h"
#include "runtime/ops/families.h"
#include "runtime/ops/reductions/cpu/reduce.h"

namespace lunagrad {

namespace {

// Calls f(elements, count) and returns true if the elements can be read without waiting for a device.
template <class F>
bool read_at_once(const Tensor& x, F&& f) {
  if (is_batched(x) || !x.device().is_cpu() || context().capturing || !x.is_contiguous()) return false;
  if (x.dtype() == DType::f32) return f(x.data<float>(), x.numel()), true;
  if (x.dtype() == DType::f64) return f(x.data<double>(), x.numel()), true;
  return false;
}

}  // namespace

Magnitudes magnitudes_of(const Tensor& x) {
  Magnitudes found;
  found.known = read_at_once(x, [&]<class T>(const T* first, int64_t n) {
    T least = std::numeric_limits<T>::infinity(), largest = 0;
    for (int64_t i = 0; i < n; ++i) {
      const T size = std::fabs(first[i]);
      found.zero |= size == 0;
      if (size != 0) least = std::min(least, size);
      if (!(size <= largest)) largest = std::isnan(size) ? std::numeric_limits<T>::infinity() : size;
    }
    found.least = double(least), found.largest = double(largest);
  });
  return found;
}

bool surely_finite(const Tensor& x) {
  double sum = 0;
  const bool read =
      read_at_once(x, [&](const auto* first, int64_t n) { reduce_row(ReduceKind::sum, 0, first, n, &sum); });
  return read && std::isfinite(sum);
}

bool surely_within(const Tensor& x, double least, double most) {
  bool within = true;
  const bool read = read_at_once(x, [&](const auto* first, int64_t n) {
    if (n == 0) return;
    double low = double(*first), high = low;
    reduce_row(ReduceKind::min, 0, first, n, &low);
    reduce_row(ReduceKind::max, 0, first, n, &high);
    within = low >= least && high <= most;
  });
  return read && within;
}

Tensor mean_of_sums(const std::function<Tensor(const Scaling&)>& sum, const Tensor& count) {
  constexpr double kDown = 0x1p-64;
  const auto mean = [&](const Scaling& scaling) {
    const Tensor total = sum(scaling);
    return total / to(count, total.dtype());
  };
  const Tensor plain = mean([](const Tensor& x) { return x; });
  if (surely_finite(plain)) return plain;
  const Tensor again = mean([](const Tensor& x) { return to(x, accumulate_type(x.dtype())) * kDown; });
  return where(isfinite(plain), plain, to(again * (1 / kDown), plain.dtype()));
}

}  // namespace lunagrad
