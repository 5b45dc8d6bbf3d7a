// scatter, index_copy and index_fill, of any element type.
#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/index/long_lanes.h"
#include "gpu/ops/index/segments.h"
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

void run_scatter(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& index = call.input(1);
  const bool one = call.input(2).is_number();
  const Tensor source = element_of(call.input(2), call.output(), recorder);
  const int dim = dim_of(call);
  const Changed out(call.output(), call.input(0), recorder);
  const Tensor& target = out.tensor();
  const bool long_lanes = has_long_lanes(index, dim);
  if (long_lanes || lanes_suffice(index, dim)) {
    const auto put = long_lanes ? run_long_lanes : run_lanes;
    put(LaneMode::put, {index.shape(), dim, size_along(target, dim)}, view_of(target, dim),
        one ? same_for_all(source, index.ndim()) : view_of(source, dim), view_of(index, dim),
        FaultKind::scatter, recorder);
  } else {
    put_by_index(target, one ? source : contiguous(window(source, index.shape(), source.strides())),
                 {contiguous(index), dim, size_along(target, dim), target.strides(), FaultKind::scatter},
                 recorder);
  }
  out.finish();
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
  if (index.numel() > kFew) {
    const Tensor memory = out.is_contiguous() ? out : Tensor::empty(out.shape(), out.dtype(), out.device());
    put_rows(memory, contiguous(x), contiguous(source), dim,
             {contiguous(index), 0, size_along(out, dim), {1}, fault}, recorder);
    if (!out.is_contiguous()) copy(out, memory, recorder);
    return;
  }
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
