// Poisson numbers, the same as on the CPU (gpu/ops/random/poisson.comp).
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct PushConstants {
  uint64_t result, rates;
  uint64_t fault;
  uint64_t seed, stream;
  uint32_t count, kind;
};
static_assert(sizeof(PushConstants) <= kPushConstantBytes);

bool supports(const Call& call) { return call.input(0).dtype() != DType::f64 && indexable(call.output()); }
bool always(const Call&) { return true; }

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rates = contiguous(call.input(0));
  Launch launch(recorder);
  PushConstants push{};
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

std::vector<KernelEntry> poisson_kernels() { return {{find_op("poisson"), {supports, run, false, always}}}; }

}  // namespace lunagrad::gpu
