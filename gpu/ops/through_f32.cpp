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
  const auto is_upcast = [](const Tensor& x) { return x.defined() && is_16bit_float(x.dtype()); };
  Call upcast = call;
  for (Tensor& x : upcast.in)
    if (is_upcast(x)) x = to(x, DType::f32);
  for (Tensor& y : upcast.out)
    if (is_upcast(y)) y = Tensor::empty(y.shape(), DType::f32, y.device());
  run(upcast, recorder);
  for (size_t i = 0; i < call.out.size(); ++i)
    if (is_upcast(call.out[i])) copy(call.out[i], upcast.out[i], recorder);
}

}  // namespace lunagrad::gpu
