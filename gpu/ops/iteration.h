#pragma once
// The index space of kernels that visit the elements of several tensors together. Pure values.
#include <array>
#include <cstdint>
#include <span>

#include "runtime/core/shape.h"
#include "runtime/core/tensor.h"

namespace lunagrad::gpu {

inline constexpr int kMaxIterated = 6;

// The dims of a shape, outermost first. Dims of size 1 are left out, and adjacent dims are merged where the
// strides of all operands allow it.
struct Iteration {
  int dims = 0;  // 0: all operands are contiguous and have `count` elements
  uint64_t count = 0;
  uint32_t size[kMaxDims] = {};
  int64_t stride[kMaxIterated][kMaxDims] = {};  // in elements; 0 where an operand is broadcast
};

// Operands are broadcast to `shape`. Null operands are skipped; their strides are 0.
Iteration iterate(const Shape& shape, std::span<const Tensor* const> operands);

// Whether load_four() and store_four() of memory.glsl can access elements of this type at the address.
bool moves_in_fours(DType, uint64_t address);

// The strides of x broadcast to `shape`.
Strides broadcast_strides(const Tensor& x, const Shape& shape);

}  // namespace lunagrad::gpu
