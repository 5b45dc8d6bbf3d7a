#include "gpu/ops/index/indexed_rows.h"

#include "gpu/ops/index/lanes.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Layout as in index_keys.comp.
struct KeyArguments {
  uint64_t index, fault, keys;
  uint32_t count, dims, dim, choices, kind, nowhere, wraps, repeats;
  uint32_t extent[8], stride[8];
  int64_t index_stride[8];
};
static_assert(offsetof(KeyArguments, index_stride) == 120);

}  // namespace

IndexedRows rows_of(const Shape& target, const Tensor& index, int dim, FaultKind fault) {
  if (target.empty() || index.ndim() == 0) return slices_of(target, index, 0, fault);
  const auto repeats = [&](int d) {
    return d != dim && index.size(d) == target[d] && (target[d] == 1 || index.strides()[d] == 0);
  };
  int first = 0, last = target.size() - 1;
  IndexedRows rows;
  rows.fault = fault;
  rows.choices = target[dim];
  while (repeats(first)) rows.outer *= uint64_t(target[first++]);
  while (repeats(last)) rows.inner *= uint64_t(target[last--]);
  rows.repeats = rows.inner;
  Shape shape, kept;
  Strides strides;
  for (int d = first; d <= last; ++d) {
    kept.push_back(target[d]);
    shape.push_back(index.size(d));
    strides.push_back(index.strides()[d]);
  }
  rows.index = window(index, shape, strides);
  rows.dim = dim - first;
  rows.strides = contiguous_strides(kept);
  rows.size = uint64_t(numel(kept));
  return rows;
}

IndexedRows slices_of(const Shape& target, const Tensor& index, int dim, FaultKind fault) {
  IndexedRows rows;
  rows.fault = fault;
  rows.index = reshape(index, {index.numel()});
  rows.choices = target.empty() ? 1 : target[dim];
  rows.strides = {1};
  rows.size = uint64_t(rows.choices);
  for (int d = 0; d < target.size(); ++d)
    if (d != dim) (d < dim ? rows.outer : rows.inner) *= uint64_t(target[d]);
  return rows;
}

bool selects_rows(const IndexedRows& rows) {
  constexpr int64_t kFew = 64;
  return rows.columns() > 1 && rows.index.size(rows.dim) > kFew;
}

void write_keys(const IndexedRows& rows, const Scratch& keys, Recorder& recorder) {
  const Shape& shape = rows.index.shape();
  Launch launch(recorder);
  KeyArguments a{};
  a.index = launch.reads(rows.index);
  a.keys = launch.writes(keys);
  a.fault = recorder.stream.fault_address();
  a.count = uint32_t(rows.count());
  a.dims = uint32_t(shape.size());
  a.dim = uint32_t(rows.dim);
  a.choices = uint32_t(rows.choices);
  a.kind = uint32_t(rows.fault);
  a.nowhere = uint32_t(rows.size);
  a.wraps = rows.fault == FaultKind::index_fill;
  a.repeats = uint32_t(rows.repeats);
  for (int d = 0; d < shape.size(); ++d) {
    a.extent[d] = uint32_t(shape[d]);
    a.stride[d] = uint32_t(rows.strides[d]);
    a.index_stride[d] = rows.index.strides()[d];
  }
  launch.run(shaders::IndexKeys{.index_type = uint32_t(rows.index.dtype())}, {groups_for(a.count, recorder)},
             bytes_of(a));
}

}  // namespace lunagrad::gpu
