#include "runtime/ops/reductions/cpu/reduce_again.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lunagrad {
namespace {

template <class F>
void for_each(const ElementPieces& pieces, F&& f) {
  pieces([&](const double* x, int64_t n) {
    for (int64_t i = 0; i < n; ++i) f(x[i]);
  });
}

// The largest magnitude; NaN if an element is NaN.
double largest_magnitude(const ElementPieces& pieces) {
  double largest = 0;
  for_each(pieces, [&](double x) {
    const double size = std::fabs(x);
    if (size > largest || std::isnan(size)) largest = size;
  });
  return largest;
}

}  // namespace

double sum_again(const ElementPieces& pieces, double divisor) {
  constexpr double kDown = 0x1p-64;
  double sum = 0;
  for_each(pieces, [&](double x) { sum += x * kDown; });
  return sum / divisor / kDown;
}

double norm_again(const ElementPieces& pieces, double p) {
  // The magnitude with the largest power.
  double extreme = p > 0 ? 0 : std::numeric_limits<double>::infinity();
  bool any_nan = false;
  for_each(pieces, [&](double x) {
    any_nan = any_nan || std::isnan(x);
    extreme = p > 0 ? std::max(extreme, std::fabs(x)) : std::min(extreme, std::fabs(x));
  });
  if (any_nan) return std::numeric_limits<double>::quiet_NaN();
  if (extreme == 0 || std::isinf(extreme)) return extreme;
  double sum = 0;
  for_each(pieces, [&](double x) { sum += std::pow(std::fabs(x) / extreme, p); });
  return extreme * std::pow(sum, 1 / p);
}

double variance_again(const ElementPieces& pieces, double degrees, bool root) {
  const double largest = largest_magnitude(pieces);
  if (!std::isfinite(largest)) return std::numeric_limits<double>::quiet_NaN();
  const int power = largest > 0 ? std::ilogb(largest) : 0;
  double count = 0, sum = 0, squares = 0;
  for_each(pieces, [&](double x) {
    sum += std::ldexp(x, -power);
    ++count;
  });
  const double mean = sum / count;
  for_each(pieces, [&](double x) {
    const double away = std::ldexp(x, -power) - mean;
    squares += away * away;
  });
  const double variance = squares / degrees;
  return root ? std::ldexp(std::sqrt(variance), power) : std::ldexp(std::ldexp(variance, power), power);
}

}  // namespace lunagrad
