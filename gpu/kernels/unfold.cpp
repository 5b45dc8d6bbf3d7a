// The gradient of unfold, f32 and c64: windows added up at the places that they come from, one place in the
// window after the other, since the places that it has in all windows are different.
#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

bool supports(const Call& call) {
  return part_type(call.input(0).dtype()) == DType::f32 && call.input(0).numel() < int64_t(1) << 31 &&
         call.output().numel() < int64_t(1) << 31;
}

void run(const Call& call, Recorder& recorder) {
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
    const Tensor met(out.storage_ref(), LayoutRef(new Layout(shape, strides)),
                     out.offset() + j * out.strides()[dim], out.dtype());
    copy(met, met + select(g, -1, j), recorder);
  }
}

}  // namespace

std::vector<KernelEntry> unfold_kernels() { return {{find_op("_fold_windows"), {supports, run, true}}}; }

}  // namespace lunagrad::gpu
