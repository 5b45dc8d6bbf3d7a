#pragma once
// The index space of kernels that visit every element of some tensors at once. Pure values.
#include <array>
#include <cstdint>
#include <span>

#include "runtime/shape.h"
#include "runtime/tensor.h"

namespace lunagrad::gpu {

inline constexpr int kMaxIterated = 6;

// Dims of size 1 dropped and neighbours joined where every operand allows it, outermost first.
struct Iteration {
  int dims = 0;  // 0: every operand lies in order, element i at place i
  uint64_t count = 0;
  uint32_t size[kMaxDims] = {};
  int64_t stride[kMaxIterated][kMaxDims] = {};  // in elements; 0 where an operand repeats
};

// Over `shape`, to which each operand broadcasts; null operands are skipped, their strides stay 0.
Iteration iterate(const Shape& shape, std::span<const Tensor* const> operands);

// Whether shaders can move elements at the address four at a time, as load_four() and store_four() do.
bool moves_in_fours(DType, uint64_t address);

// The strides with which x looks like `shape`.
Strides broadcast_strides(const Tensor& x, const Shape& shape);

}  // namespace lunagrad::gpu
