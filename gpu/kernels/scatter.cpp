// scatter, index_copy and index_fill, of any element type.
#include <algorithm>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "gpu/kernels/lanes.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports(const Call& call) {
  const Tensor& source = call.input(2);
  return indexable(call.output()) && indexable(call.input(1)) && can_copy(source, call.output().dtype());
}

// The value as a tensor with the type of x on its device.
Tensor element_of(const Tensor& value, const Tensor& x, Recorder& recorder) {
  if (!value.is_number()) return value;
  const Tensor made = Tensor::empty({}, x.dtype(), x.device());
  copy(made, value, recorder);
  return made;
}

void run_scatter(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &out = call.output(), &index = call.input(1);
  const Tensor source = element_of(call.input(2), out, recorder);
  const int dim = dim_of(call);
  copy(out, call.input(0), recorder);
  run_lanes(LaneMode::put, {index.shape(), dim, size_along(out, dim)}, view_of(out, dim),
            call.input(2).is_number() ? same_for_all(source, index.ndim()) : view_of(source, dim),
            view_of(index, dim), FaultKind::scatter, recorder);
}

// index_copy and index_fill: the index has one dim and selects the same positions in all lanes.
template <bool fill>
void run_flat(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &out = call.output(), &index = call.input(1);
  const Tensor source = element_of(call.input(2), out, recorder);
  const int dim = dim_of(call);
  Shape shape = out.shape();
  copy(out, call.input(0), recorder);
  if (index.numel() == 0) return;
  if (shape.empty()) shape.push_back(1);  // a 0-d target counts as one of a single element
  shape[dim] = index.numel();
  run_lanes(LaneMode::put, {shape, dim, size_along(out, dim)}, view_of(out, dim),
            fill ? same_for_all(source, shape.size()) : view_of(source, dim), flat_index(index, shape.size()),
            fill ? FaultKind::index_fill : FaultKind::index_copy, recorder);
}

}  // namespace

std::vector<KernelEntry> scatter_kernels() {
  return {{find_op("scatter"), {supports, run_scatter, true}},
          {find_op("index_copy"), {supports, run_flat<false>, true}},
          {find_op("index_fill"), {supports, run_flat<true>, true}}};
}

}  // namespace lunagrad::gpu
