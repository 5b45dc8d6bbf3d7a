#pragma once
// For tests of results that must be bit-equal.
#include <cmath>

#include "runtime/tensor.h"

namespace lunagrad::tests {

// Whether shapes, types and numbers are equal, including the signs of zeros; all NaNs are equal.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  const std::vector<double> x = a.to_vector<double>(), y = b.to_vector<double>();
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) && std::isnan(y[i])) continue;
    if (x[i] != y[i] || std::signbit(x[i]) != std::signbit(y[i])) return false;
  }
  return true;
}

}  // namespace lunagrad::tests
