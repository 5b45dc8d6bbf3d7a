#include "gpu/kernels/halves.h"

#include "gpu/kernels/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {

void run_in_f32(const Call& call, void (*run)(const Call&, Recorder&), Recorder& recorder) {
  const NoGrad off;
  const auto widened = [](const Tensor& x) { return x.defined() && is_half(x.dtype()); };
  Call wide = call;
  for (Tensor& x : wide.in)
    if (widened(x)) x = to(x, DType::f32);
  for (Tensor& y : wide.out)
    if (widened(y)) y = Tensor::empty(y.shape(), DType::f32, y.device());
  run(wide, recorder);
  for (size_t i = 0; i < call.out.size(); ++i)
    if (widened(call.out[i])) copy(call.out[i], wide.out[i], recorder);
}

}  // namespace lunagrad::gpu
