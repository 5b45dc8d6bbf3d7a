#pragma once
// Rows of a tensor that an index selects. A tensor and an index are seen as [outer, size, inner] and [outer,
// count, inner], where the index repeats along outer and inner: it has one key for each of its count rows,
// not one for each element. Pure values, except for write_keys().
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

struct IndexedRows {
  FaultKind fault = FaultKind::none;  // of an index out of range
  Tensor index;                       // view with any strides, without the dims along which the index repeats
  int dim = 0;                        // the view's dim along which it selects
  int64_t choices = 1;                // size of the target along that dim
  Strides strides;                    // of the target's rows, for each dim of the view
  uint64_t outer = 1;                 // of the target, which is contiguous
  uint64_t size = 1;
  uint64_t inner = 1;
  uint64_t repeats = 1;  // how often each entry of the view follows in the index that the script gave

  uint64_t count() const { return uint64_t(index.numel()); }
  uint64_t columns() const { return outer * inner; }
};

// The rows of a target of this shape that an index of as many dims selects along `dim`. The index repeats
// along a dim where it was expanded to the target's size. A target without dims has one dim of size 1.
IndexedRows rows_of(const Shape& target, const Tensor& index, int dim, FaultKind);
// The same for an index of one dim, or none, that selects whole slices.
IndexedRows slices_of(const Shape& target, const Tensor& index, int dim, FaultKind);

// Whether an index selects enough whole rows, in lanes that are long enough, to be sorted or searched once
// for all columns.
bool selects_rows(const IndexedRows&);

// Writes the row that each entry of the index selects, u32, or `size` for an index out of range, which is
// noted as a fault. Negative indices of index_fill count from the end.
void write_keys(const IndexedRows&, const Scratch& keys, Recorder&);

}  // namespace lunagrad::gpu
