// argmax and argmin; max and min along a dim with their indices.
#include <algorithm>

#include "gpu/ops/kernels.h"
#include "gpu/ops/reductions/reduce.h"
#include "runtime/ops.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad::gpu {
namespace {

using shaders::Reduce;

bool supports_extreme(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  return x.dtype() != DType::f64 && indexable(out) &&
         x.numel() / std::max<int64_t>(1, out.numel()) < most_elements();
}

template <bool largest>
void run_extreme(const Call& call, Recorder& recorder) {
  static const ShaderCode &code = find_shader("extreme"), &code_i64 = find_shader("extreme_i64");
  constexpr uint32_t kState = 16;
  const Tensor& x = call.input(0);
  const bool has_values = call.out.size() == 2;
  DimReduction work{x.dtype() == DType::i64 ? code_i64 : code,
                    {.reduction = largest ? Reduce::kLargest : Reduce::kSmallest},
                    kState,
                    is_floating(x.dtype()) ? kReducedFloats : 0,
                    x,
                    mask_of(call),
                    call.output(has_values ? 1 : 0)};
  if (has_values) work.second = &call.output(0);
  work.fetches = has_values;
  reduce_dims(work, recorder);
}

}  // namespace

std::vector<KernelEntry> extreme_kernels() {
  return {{find_op("argmax"), {supports_extreme, run_extreme<true>}},
          {find_op("argmin"), {supports_extreme, run_extreme<false>}},
          {find_op("_max"), {supports_extreme, run_extreme<true>}},
          {find_op("_min"), {supports_extreme, run_extreme<false>}}};
}

}  // namespace lunagrad::gpu
