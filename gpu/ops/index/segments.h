#pragma once
// Sums and writes by index. The cost grows with the number of indices, not with the target. Both always give
// the same bits.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// Where indices point: along `dim` to one of `choices` positions, along the other dims to their own position,
// in a contiguous target with these strides. An index out of range is noted as a fault of the given kind;
// negative indices of index_fill count from the end.
struct IndexedPlaces {
  Tensor index;  // contiguous
  int dim;
  int64_t choices;
  Strides strides;
  FaultKind fault;
};

// target [outer, size, inner] += alpha * source [outer, number of indices, inner]. Each source row is added
// to the row that its index selects. Both are contiguous, f32 or integers. The indices are sorted with their
// positions, then the rows of equal indices are added up in order.
struct IndexedSums {
  uint64_t outer, size, inner;
  double alpha;
};
void add_by_index(const Tensor& target, const Tensor& source, const IndexedSums&, const IndexedPlaces&,
                  Recorder&);

// Writes elements of source to the target positions that the indices select. source is contiguous and has one
// element for each index, or one for all. Among equal indices the last one counts.
void put_by_index(const Tensor& target, const Tensor& source, const IndexedPlaces&, Recorder&);

// out = x, except for the rows along `dim` that the one-dim index selects: they are copied from source, or
// filled with its single element. All are contiguous; out and x may be the same. Among equal indices the last
// one counts.
void put_rows(const Tensor& out, const Tensor& x, const Tensor& source, int dim, const IndexedPlaces&,
              Recorder&);

}  // namespace lunagrad::gpu
