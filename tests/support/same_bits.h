#pragma once
// For tests of results that must be bit-equal.
#include <cmath>
#include <complex>

#include "runtime/core/tensor.h"

namespace lunagrad::tests {

inline bool same_bits(double x, double y) {
  return (std::isnan(x) && std::isnan(y)) || (x == y && std::signbit(x) == std::signbit(y));
}
inline bool same_bits(std::complex<double> x, std::complex<double> y) {
  return same_bits(x.real(), y.real()) && same_bits(x.imag(), y.imag());
}

template <class T>
bool same_elements(const Tensor& a, const Tensor& b) {
  const std::vector<T> x = a.to_vector<T>(), y = b.to_vector<T>();
  for (size_t i = 0; i < x.size(); ++i)
    if (!same_bits(x[i], y[i])) return false;
  return true;
}

// Whether shapes, types and numbers are equal, including the signs of zeros; all NaNs are equal.
inline bool same_bits(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape()) || a.dtype() != b.dtype()) return false;
  return is_complex(a.dtype()) ? same_elements<std::complex<double>>(a, b) : same_elements<double>(a, b);
}

}  // namespace lunagrad::tests
