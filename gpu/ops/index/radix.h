#pragma once
// Stable radix sorts on the device, eight bits per pass (gpu/ops/index/radix.comp).
#include <optional>

#include "gpu/ops/kernels.h"
#include "gpu/ops/rows.h"

namespace lunagrad::gpu {

// Whether rows of this length, with x's elements in all, can be sorted.
bool can_sort_rows(const Tensor& x, int64_t length);

// Sorts the rows of x and writes the first `kept` elements of each row to `values`, and their positions in
// the row to `places` (i64), unless it is null. With `order`, u32 [rows, row length], its elements at these
// positions are written instead. `rows` describes x, values and places, with the row length of x for all
// three.
struct SortedRows {
  const Tensor &x, &values;
  const Tensor* places;
  Rows rows;
  uint32_t kept;
  bool descending;
  const Scratch* order = nullptr;
};
void sort_rows(const SortedRows&, Recorder&);

// Sorts 32-bit keys by their lowest `bits`, each with its original index. A kernel fills unsorted(); keys()
// and order() are valid after sort(), which frees the rest of the memory. With 0 bits they stay as they are,
// and there is no order().
class SortedKeys {
 public:
  SortedKeys(uint32_t count, uint32_t bits, Recorder&);
  const Scratch& unsorted() const { return *keys_[0]; }
  void sort(Recorder&);
  bool in_order() const { return passes_ == 0; }
  const Scratch& keys() const { return *keys_[passes_ % 2]; }
  const Scratch& order() const { return *order_[passes_ % 2]; }

 private:
  uint32_t count_, passes_;
  std::optional<Scratch> keys_[2], order_[2];
};

}  // namespace lunagrad::gpu
