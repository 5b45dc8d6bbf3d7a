#include "gpu/ops/iteration.h"

namespace lunagrad::gpu {

Strides broadcast_strides(const Tensor& x, const Shape& shape) {
  Strides strides(shape.size(), 0);
  const int shift = shape.size() - x.ndim();
  for (int i = 0; i < x.ndim(); ++i) strides[i + shift] = x.shape()[i] == 1 ? 0 : x.strides()[i];
  return strides;
}

bool moves_in_fours(DType type, uint64_t address) {
  const bool known = type == DType::f32 || type == DType::f16 || type == DType::bf16;
  return known && address % (4 * uint64_t(item_size(type))) == 0;
}

Iteration iterate(const Shape& shape, std::span<const Tensor* const> operands) {
  Iteration merged;
  merged.count = uint64_t(numel(shape));
  bool in_order = true;
  for (const Tensor* x : operands)
    if (x) in_order = in_order && x->is_contiguous() && x->numel() == int64_t(merged.count);
  if (in_order) return merged;

  std::array<Strides, kMaxIterated> strides;
  for (size_t k = 0; k < operands.size(); ++k)
    strides[k] = operands[k] ? broadcast_strides(*operands[k], shape) : Strides(shape.size(), 0);
  // Innermost first while merging, reversed at the end.
  int dims = 0;
  uint64_t size[kMaxDims];
  int64_t stride[kMaxIterated][kMaxDims];
  for (int d = shape.size() - 1; d >= 0; --d) {
    if (shape[d] == 1) continue;
    bool joins = dims > 0;
    for (size_t k = 0; joins && k < operands.size(); ++k)
      joins = strides[k][d] == stride[k][dims - 1] * int64_t(size[dims - 1]);
    if (joins) {
      size[dims - 1] *= uint64_t(shape[d]);
      continue;
    }
    size[dims] = uint64_t(shape[d]);
    for (size_t k = 0; k < operands.size(); ++k) stride[k][dims] = strides[k][d];
    ++dims;
  }
  if (dims == 0) {  // one element
    size[0] = 1;
    for (size_t k = 0; k < operands.size(); ++k) stride[k][0] = 0;
    dims = 1;
  }
  merged.dims = dims;
  for (int d = 0; d < dims; ++d) {
    merged.size[d] = uint32_t(size[dims - 1 - d]);
    for (size_t k = 0; k < operands.size(); ++k) merged.stride[k][d] = stride[k][dims - 1 - d];
  }
  return merged;
}

}  // namespace lunagrad::gpu
