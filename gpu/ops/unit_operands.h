#pragma once
// The last few operands that were converted for matrix units: to the units' type, or to a layout that they
// can load. Calls share operands: a gradient is a factor of the gradients of both operands, and an input of
// several layers. A copy is found again while the bytes of the operand are the same (index/sorted_indices.h
// says how that is known). The memory counts as memory in use. It is freed with the operand, when others take
// its place, and before an allocation fails. Not thread-safe: the device's lock guards it.
#include <list>
#include <vector>

#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// `largest`: the largest magnitude, if the elements are scaled.
struct UnitOperand {
  Tensor tensor, largest;
};

// The layouts of an operand and of its copy, as numbers that differ when the layouts differ.
using UnitLayout = std::vector<int64_t>;

class UnitOperands final : public KeptMemory {
 public:
  // The copy of these bytes in this type and layout: a kept one, or what convert() returns, which is kept.
  template <class Convert>
  UnitOperand shared(const Tensor& x, DType unit_type, UnitLayout layout, Convert&& convert) {
    Source source = source_of(x, unit_type, std::move(layout));
    if (const UnitOperand* const kept = find(source)) return *kept;
    const UnitOperand made = convert();
    keep({std::move(source), made, made.tensor.nbytes()});
    return made;
  }
  // The range is about to be freed.
  void forget(const Range*) noexcept;
  void clear() noexcept override;

 private:
  // What a copy follows from.
  struct Source {
    const Range* range;
    uint64_t address, written_epoch, upload;
    DType type, unit_type;
    UnitLayout layout;
    bool operator==(const Source&) const = default;
  };
  struct Entry {
    Source source;
    UnitOperand copy;
    size_t bytes;
  };
  static Source source_of(const Tensor&, DType unit_type, UnitLayout);
  const UnitOperand* find(const Source&);
  template <class Choose>
  void drop(Choose) noexcept;
  void keep(Entry);

  std::list<Entry> entries_;  // the last used one first
};

}  // namespace lunagrad::gpu
