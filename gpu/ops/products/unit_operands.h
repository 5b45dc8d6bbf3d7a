#pragma once
// The last few operands of products on matrix units that had to be converted: f32 to the units' type, and
// 16-bit elements that cannot be loaded in runs of eight. Products share operands: a gradient is a factor of
// the gradients of both operands, and an input of several layers. A copy is found again while the bytes
// of the operand are the same (sorted_indices.h says how that is known). The memory counts as memory in use.
// It is freed with the operand, when others take its place, and before an allocation fails. Not thread-safe:
// the device's lock guards it.
#include <list>

#include "gpu/ops/kernels.h"
#include "gpu/ops/products/product.h"

namespace lunagrad::gpu {

// `largest`: the largest magnitude, if the elements are scaled.
struct UnitOperand {
  Tensor tensor, largest;
};

class UnitOperands final : public KeptMemory {
 public:
  // The tensor itself, or a copy in the type that the units multiply. Changes `side` to the copy's layout.
  UnitOperand operand(const Tensor&, ProductSide& side, const Product&, Recorder&);
  // The range is about to be freed.
  void forget(const Range*) noexcept;
  void clear() noexcept override;

 private:
  // What a copy follows from.
  struct Source {
    const Range* range;
    uint64_t address, written_epoch, upload;
    DType type, unit_type;
    bool scaled;
    int64_t close, far, close_step, far_step;
    Shape batch;
    Strides steps;
    bool operator==(const Source&) const = default;
  };
  struct Entry {
    Source source;
    UnitOperand copy;
    size_t bytes;
  };
  template <class Choose>
  void drop(Choose) noexcept;
  void keep(Entry);

  std::list<Entry> entries_;  // the last used one first
};

}  // namespace lunagrad::gpu
