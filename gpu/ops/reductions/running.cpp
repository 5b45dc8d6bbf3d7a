// cummax, cummin and logcumsumexp along a dim (gpu/ops/reductions/running.comp).
#include "gpu/ops/reductions/scan.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Running;

void run_running(const Call& call, uint32_t mode, bool reverse, Recorder& recorder) {
  constexpr size_t kItem = 16;
  const Tensor& x = call.input(0);
  run_scan(Running{.mode = mode, .type = uint32_t(x.dtype()), .raw_type = raw_type(x.dtype())},
           {call.output(0), x, mode == Running::kLogSum ? nullptr : &call.output(1),
            normalize_dim(call.op->name, call.integer(0), x.shape()), kItem, reverse},
           recorder);
}

bool supports_running_extreme(const Call& call) {
  return call.input(0).dtype() != DType::f64 && has_indexable_rows(call, 0);
}
template <uint32_t mode>
void run_running_extreme(const Call& call, Recorder& recorder) {
  run_running(call, mode, false, recorder);
}

bool supports_log_sums(const Call& call) {
  return call.input(0).dtype() == DType::f32 && has_indexable_rows(call, 0);
}
void run_log_sums(const Call& call, Recorder& recorder) {
  run_running(call, Running::kLogSum, call.flag(1), recorder);
}

}  // namespace

std::vector<KernelEntry> running_kernels() {
  return {{find_op("cummax"), {supports_running_extreme, run_running_extreme<Running::kLargest>}},
          {find_op("cummin"), {supports_running_extreme, run_running_extreme<Running::kSmallest>}},
          {find_op("_logcumsumexp"), {supports_log_sums, run_log_sums}}};
}

}  // namespace lunagrad::gpu
