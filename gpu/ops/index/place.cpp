// scatter_reduce with products, extremes and means, and ops composed of it: index_reduce, segment_reduce.
#include "gpu/ops/copy.h"
#include "gpu/ops/index/long_lanes.h"
#include "gpu/ops/index/segments.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_scatter_reduce(const Call& call) {
  const DType type = call.output().dtype();
  return (type == DType::f32 || is_integral(type)) && indexable(call.output()) && indexable(call.input(1));
}

void run_scatter_reduce(const Call& call, Recorder& recorder) {
  constexpr LaneMode kModes[] = {LaneMode::product, LaneMode::largest, LaneMode::smallest};
  constexpr Reduction kReductions[] = {Reduction::product, Reduction::largest, Reduction::smallest};
  const NoGrad off;
  const Tensor &out = call.output(), &index = call.input(1), &source = call.input(2);
  const int dim = dim_of(call);
  copy(out, call.input(0), recorder);
  const IndexedRows rows = rows_of(out.shape(), index, dim, FaultKind::scatter_reduce);
  if (const RunLanes lanes = lanes_for(index, dim, rows))
    lanes(kModes[call.integer(1)], {index.shape(), dim, size_along(out, dim)}, view_of(out, dim),
          view_of(source, dim), view_of(index, dim), FaultKind::scatter_reduce, recorder);
  else
    reduce_by_index(kReductions[call.integer(1)], out,
                    contiguous(window(source, index.shape(), source.strides())), rows, 1.0, recorder);
}

// Lanes have no means: these calls are composed of sums.
bool supports_scatter_mean(const Call& call) {
  const Tensor &out = call.output(), &index = call.input(1);
  if (out.dtype() != DType::f32 || !indexable(out) || !indexable(index)) return false;
  const int dim = dim_of(call);
  return !lanes_for(index, dim, rows_of(out.shape(), index, dim, FaultKind::scatter_reduce));
}

void run_scatter_mean(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &out = call.output(0), &numbers = call.output(1), &index = call.input(1),
               &source = call.input(2);
  copy(out, call.input(0), recorder);
  copy(numbers, Tensor::number(1.0), recorder);
  mean_by_index(out, numbers, contiguous(window(source, index.shape(), source.strides())),
                rows_of(out.shape(), index, dim_of(call), FaultKind::scatter_reduce), call.flag(1), recorder);
}

}  // namespace

std::vector<KernelEntry> place_kernels() {
  return {{find_op("_scatter_reduce"), {supports_scatter_reduce, run_scatter_reduce}},
          {find_op("_scatter_mean"), {supports_scatter_mean, run_scatter_mean}}};
}

}  // namespace lunagrad::gpu
