// Poisson numbers, the same as on the CPU (shaders/poisson.comp).
#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Hot {
  uint64_t result, rates;
  uint64_t fault;
  uint64_t seed, stream;
  uint32_t count, kind;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) { return call.input(0).dtype() != DType::f64 && indexable(call.output()); }
bool always(const Call&) { return true; }

void run(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor rates = contiguous(call.input(0));
  Launch launch(recorder);
  Hot hot{};
  hot.result = launch.writes(call.output());
  hot.rates = launch.reads(rates);
  hot.fault = recorder.stream.fault_address();
  hot.seed = call.args[0].u;
  hot.stream = call.args[1].u;
  hot.count = uint32_t(rates.numel());
  hot.kind = uint32_t(FaultKind::rate);
  launch.run(shaders::Poisson{.type = uint32_t(rates.dtype())}, {groups_for(hot.count, recorder)}, {},
             bytes_of(hot));
}

}  // namespace

std::vector<KernelEntry> poisson_kernels() { return {{find_op("poisson"), {supports, run, false, always}}}; }

}  // namespace lunagrad::gpu
