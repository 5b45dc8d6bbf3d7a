// scatter, index_copy and index_fill, of any element type.
#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/index/long_lanes.h"
#include "gpu/ops/index/put_rows.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_scatter(const Call& call) {
  const Tensor& source = call.input(2);
  return indexable(call.output()) && indexable(call.input(1)) && can_copy(source, call.output().dtype());
}

// The value as a tensor of x's type on x's device.
Tensor element_of(const Tensor& value, const Tensor& x, Recorder& recorder) {
  if (!value.is_number()) return value;
  const Tensor made = Tensor::empty({}, x.dtype(), x.device());
  copy(made, value, recorder);
  return made;
}

// put_rows() for operands in any layout.
void put_rows_anywhere(const Tensor& out, const Tensor& x, const Tensor& source, const IndexedRows& rows,
                       Recorder& recorder) {
  const Tensor memory = out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), out.device());
  put_rows(memory, contiguous(x), source, rows, recorder);
  if (!out.is_contiguous()) copy(out, memory, recorder);
}

void run_scatter(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &index = call.input(1), &x = call.input(0), &out = call.output();
  const bool one = call.input(2).is_number();
  const Tensor source = element_of(call.input(2), out, recorder);
  const auto whole_source = [&] {
    return one ? source : contiguous(window(source, index.shape(), source.strides()));
  };
  const int dim = dim_of(call);
  const IndexedRows rows = rows_of(out.shape(), index, dim, FaultKind::scatter);
  const RunLanes lanes = lanes_for(index, dim, rows);
  if (!lanes && rows.columns() > 1) return put_rows_anywhere(out, x, whole_source(), rows, recorder);
  const Changed changed(out, x, recorder);
  const Tensor& target = changed.tensor();
  if (lanes)
    lanes(LaneMode::put, {index.shape(), dim, size_along(target, dim)}, view_of(target, dim),
          one ? same_for_all(source, index.ndim()) : view_of(source, dim), view_of(index, dim),
          FaultKind::scatter, recorder);
  else
    put_elements(target, whole_source(), rows, recorder);
  changed.finish();
}

// index_copy and index_fill: the index has one dim and selects the same positions in all lanes.
template <bool fill>
void run_flat(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), &index = call.input(1), &out = call.output();
  const Tensor source = element_of(call.input(2), out, recorder);
  const int dim = dim_of(call);
  const FaultKind fault = fill ? FaultKind::index_fill : FaultKind::index_copy;
  constexpr int64_t kFew = 64;
  if (index.numel() > kFew)
    return put_rows_anywhere(out, x, contiguous(source), slices_of(out.shape(), index, dim, fault), recorder);
  const Changed changed(out, x, recorder);
  const Tensor& target = changed.tensor();
  Shape shape = target.shape();
  if (index.numel() == 0) return changed.finish();
  if (shape.empty()) shape.push_back(1);  // a 0-d target is treated as one dim of size 1
  shape[dim] = index.numel();
  run_lanes(LaneMode::put, {shape, dim, size_along(target, dim)}, view_of(target, dim),
            fill ? same_for_all(source, shape.size()) : view_of(source, dim), flat_index(index, shape.size()),
            fault, recorder);
  changed.finish();
}

}  // namespace

std::vector<KernelEntry> scatter_kernels() {
  return {{find_op("scatter"), {supports_scatter, run_scatter, true}},
          {find_op("index_copy"), {supports_scatter, run_flat<false>, true}},
          {find_op("index_fill"), {supports_scatter, run_flat<true>, true}}};
}

}  // namespace lunagrad::gpu
