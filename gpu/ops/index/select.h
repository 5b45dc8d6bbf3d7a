#pragma once
// The first elements of long rows in sorted order, without sorting the rows (gpu/ops/index/select.comp).
#include "gpu/ops/kernels.h"
#include "gpu/ops/rows.h"

namespace lunagrad::gpu {

// Writes the first elements of each row of x in ascending or descending order, but unsorted: first the
// elements before the last one (the bound) by position, then those equal to it by position. `chosen` is
// [rows, wanted] in x's type. `places`, u32 [rows, wanted], are their positions in the row. `rows` describes
// x, which is contiguous; 0 < wanted <= row length.
struct Selection {
  const Tensor& x;
  const Rows& rows;
  bool descending;
  uint32_t wanted;
};
void select_first(const Selection&, const Tensor& chosen, const Scratch& places, Recorder&);

// Writes only the last of these elements of each row: values [rows] in x's type, and `places`, i64 [rows].
// `which` is the parameter of _kthvalue (runtime/ops/index/sort.cpp); with it the element may instead depend
// on the row's count of NaN.
void select_place(const Selection&, uint32_t which, const Tensor& values, const Tensor& places, Recorder&);

}  // namespace lunagrad::gpu
