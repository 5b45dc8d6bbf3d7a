#pragma once
// Matrices for the tests of linear algebra.
#include "tests/gpu/compare.h"

namespace lunagrad::tests {

inline Tensor random_matrices(const Shape& shape, uint64_t stream, bool complex_numbers) {
  const Tensor x = random(shape, stream);
  return complex_numbers ? complex(x, random(shape, stream + 1000)) : x;
}
// On the CPU, in f64 or c128.
inline Tensor in_double(const Tensor& x) {
  return to(to(x, cpu_device()), is_complex(x.dtype()) ? DType::c128 : DType::f64);
}
inline Tensor adjoint(const Tensor& x) {
  const Tensor turned = transpose(x, -2, -1);
  return is_complex(x.dtype()) ? conj(turned) : turned;
}

}  // namespace lunagrad::tests
