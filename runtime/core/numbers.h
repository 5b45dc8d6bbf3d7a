#pragma once
// The elements of tensors as a flat list of f64 numbers, for finite differences and comparisons. A complex
// element gives two numbers, its real part first. For the tensors' thread.
#include <cstdint>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad {

class Device;

// In row-major order. `x` has any real dtype or a complex one; real values convert to double.
std::vector<double> numbers_of(const Tensor& x);
// The inverse of numbers_of(): a contiguous tensor of dtype f64, or c128 if `complex`.
Tensor from_numbers(const std::vector<double>& numbers, const Shape& shape, bool complex, Device& device);
// Weights in [0.5, 1.5) with the shape of `output`, f64 or c128, on the CPU. They depend only on `stream` and
// the position of the element (Philox words), so that every evaluation contracts the outputs with the same
// weights.
Tensor contraction_weights(const Tensor& output, uint64_t stream);

}  // namespace lunagrad
