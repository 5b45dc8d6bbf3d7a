#pragma once
// Stable radix sorts on the device, by eight bits a pass (shaders/radix.comp).
#include <optional>

#include "gpu/kernels.h"
#include "gpu/kernels/rows.h"

namespace lunagrad::gpu {

// Whether rows of so many elements in all can be sorted.
bool can_sort_rows(const Tensor& x, int64_t length);

// Sorts the rows of x and writes the first `kept` elements of each into `values`, and their positions in the
// row into `places` (i64), or what `order` has for these positions: [rows, their length] of u32. `rows` are
// those of x, of values and of places, all as long as those of x.
struct SortedRows {
  const Tensor &x, &values, &places;
  Rows rows;
  uint32_t kept;
  bool descending;
  const Scratch* order = nullptr;
};
void sort_rows(const SortedRows&, Recorder&);

// Keys of 32 bits, of which the lowest `bits` are sorted, each with the number that it had before. A kernel
// fills unsorted(); after sort() the others are valid.
class SortedKeys {
 public:
  SortedKeys(uint32_t count, uint32_t bits, Recorder&);
  const Scratch& unsorted() const { return keys_[0]; }
  void sort(Recorder&);
  const Scratch& keys() const { return keys_[passes_ % 2]; }
  const Scratch& order() const { return order_[passes_ % 2]; }

 private:
  uint32_t count_, passes_;
  Scratch keys_[2], order_[2];
};

}  // namespace lunagrad::gpu
