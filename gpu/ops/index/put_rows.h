#pragma once
// Writes by index. Among equal indices the last one counts.
#include "gpu/ops/index/indexed_rows.h"

namespace lunagrad::gpu {

// Writes elements of source to the positions of the contiguous target that the rows select, which have one
// column. source is contiguous and has one element for each index, or one for all.
void put_elements(const Tensor& target, const Tensor& source, const IndexedRows&, Recorder&);

// out = x, except for the selected rows: they are copied from source [outer, count, inner], or filled with
// its single element. All are contiguous; out and x may be the same.
void put_rows(const Tensor& out, const Tensor& x, const Tensor& source, const IndexedRows&, Recorder&);

}  // namespace lunagrad::gpu
