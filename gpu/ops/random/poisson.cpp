// Poisson numbers, the same as on the CPU (gpu/ops/random/poisson.comp).
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct PoissonPushConstants {
  uint64_t result, rates;
  uint64_t fault;
  uint64_t seed, stream;
  uint32_t count, kind;
};
static_assert(sizeof(PoissonPushConstants) <= kPushConstantBytes);

bool supports_poisson(const Call& call) {
  return call.input(0).dtype() != DType::f64 && indexable(call.output());
}

void run_poisson(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rates = contiguous(call.input(0));
  Launch launch(recorder);
  PoissonPushConstants push{};
  push.result = launch.writes(call.output());
  push.rates = launch.reads(rates);
  push.fault = recorder.stream.fault_address();
  push.seed = call.args[0].u;
  push.stream = call.args[1].u;
  push.count = uint32_t(rates.numel());
  push.kind = uint32_t(FaultKind::rate);
  launch.run(shaders::Poisson{.type = uint32_t(rates.dtype())}, {groups_for(push.count, recorder)}, {},
             bytes_of(push));
}

}  // namespace

std::vector<KernelEntry> poisson_kernels() {
  return {{find_op("poisson"), {supports_poisson, run_poisson, false, needs_float64}}};
}

}  // namespace lunagrad::gpu
