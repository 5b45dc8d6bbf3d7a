#pragma once
// Sums and writes by index, at a cost that grows with the indices and not with the target. Both give the same
// bits every time.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Where indices lead: in a contiguous target with these strides along dim `dim`, which has `choices`
// positions; along the other dims to their own positions. A fault of this kind is noted where an index is out
// of range; negative indices of index_fill count from the end.
struct IndexedPlaces {
  Tensor index;  // contiguous
  int dim;
  int64_t choices;
  Strides strides;
  FaultKind fault;
};

// target [outer, size, inner] += alpha * source [outer, count of the indices, inner], each row where its
// index leads among `size` ones. Both are contiguous, of f32 or integers. The indices are sorted with their
// positions, then the rows of equal ones are added up in order.
struct IndexedSums {
  uint64_t outer, size, inner;
  double alpha;
};
void add_by_index(const Tensor& target, const Tensor& source, const IndexedSums&, const IndexedPlaces&,
                  Recorder&);

// The elements of target where the indices lead = those of source, which is contiguous and has one element
// for each index, or one for all. Of equal indices the last one counts.
void put_by_index(const Tensor& target, const Tensor& source, const IndexedPlaces&, Recorder&);

// out = x, except that the rows along `dim` where the indices, of one dim, lead are those of source, or have
// its single element. All are contiguous; out and x may be one. Of equal indices the last one counts.
void put_rows(const Tensor& out, const Tensor& x, const Tensor& source, int dim, const IndexedPlaces&,
              Recorder&);

}  // namespace lunagrad::gpu
