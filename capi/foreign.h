#pragma once
// Tensors on memory of others, and the memory of tensors that others share. For the engine's thread; what
// frees the memory may run on any thread.
#include <memory>

#include "capi/engine.h"

namespace lunagrad::capi {

// Memory of others with the elements of a tensor.
struct ForeignElements {
  void* data;  // the first element
  DType dtype;
  Shape shape;
  const int64_t* strides;  // of as many dims as the shape; null: row-major
  bool read_only;
};

// The bytes from the first element's to the end of the last one's. LG_INVALID_ARGUMENT for negative sizes and
// strides, for what does not fit 63 bits, and for elements that are not aligned.
size_t extent_of(const ForeignElements&);
// A tensor on the memory, on the CPU. `owner` is moved from only when nothing fails any more.
Tensor foreign_tensor(const ForeignElements&, size_t bytes, std::unique_ptr<ForeignMemory>& owner);

// The memory of a storage as a shared value: it is freed with the last of the storage and its sharers.
std::shared_ptr<ForeignMemory> share_memory(Storage&);

}  // namespace lunagrad::capi
