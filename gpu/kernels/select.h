#pragma once
// The first elements of long rows in sorted order, without sorting the rows (shaders/select.comp).
#include "gpu/kernels.h"
#include "gpu/kernels/rows.h"

namespace lunagrad::gpu {

// Of each row of x its first elements in ascending or descending order, in the order of their positions:
// chosen [rows, wanted] of the type of x, and `places` [rows, wanted] of u32, the positions in the row.
// `rows` are those of x; 0 < wanted <= their length.
struct Selection {
  const Tensor& x;
  const Rows& rows;
  bool descending;
  uint32_t wanted;
};
void select_first(const Selection&, const Tensor& chosen, const Scratch& places, Recorder&);

// Of each row the last of these elements alone: values [rows] of the type of x, and `places` [rows] of i64.
// `which` is that of _kthvalue (runtime/ops/sort.cpp), which may follow from the row's count of NaN instead.
void select_place(const Selection&, uint32_t which, const Tensor& values, const Tensor& places, Recorder&);

}  // namespace lunagrad::gpu
