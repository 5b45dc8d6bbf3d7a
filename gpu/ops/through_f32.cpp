#include "gpu/ops/through_f32.h"

#include <algorithm>

#include "gpu/ops/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {

bool have_one_float_type(const Call& call) {
  const DType type = call.input(0).dtype();
  return (type == DType::f32 || is_16bit_float(type)) &&
         std::all_of(call.in.begin(), call.in.end(),
                     [&](const Tensor& x) { return !x.defined() || x.dtype() == type; });
}

void run_in_f32(const Call& call, void (*run)(const Call&, Recorder&), Recorder& recorder) {
  const NoGrad off;
  const auto widened = [](const Tensor& x) { return x.defined() && is_16bit_float(x.dtype()); };
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
