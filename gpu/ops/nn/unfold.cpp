// The gradient of unfold, f32 and c64: adds each window to the positions that it was read from. It loops over
// the offsets within a window: at one offset, all windows have different positions.
#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports_fold(const Call& call) {
  return part_type(call.input(0).dtype()) == DType::f32 && indexable(call.input(0)) &&
         indexable(call.output());
}

void run_fold(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &g = call.input(0), &out = call.output();
  const int dim = int(call.integer(0));
  const int64_t step = call.integer(1), size = g.size(-1);
  copy(out, Tensor::number(0.0), recorder);
  Shape shape = g.shape();
  shape.erase(shape.size() - 1);
  Strides strides = out.strides();
  strides[dim] *= step;
  for (int64_t j = 0; j < size; ++j) {
    const Tensor met = window(out, shape, strides, j * out.strides()[dim]);
    copy(met, met + select(g, -1, j), recorder);
  }
}

}  // namespace

std::vector<KernelEntry> unfold_kernels() {
  return {{find_op("_fold_windows"), {supports_fold, run_fold, true}}};
}

}  // namespace lunagrad::gpu
