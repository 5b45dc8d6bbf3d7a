// nonzero, of any type that can be cast to bool.
#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Nonzero;

struct NonzeroArguments {
  uint64_t result, truth, before;
  uint32_t count, dims;
  uint32_t size[kMaxDims];
  Divisor by[kMaxDims];
};
constexpr uint64_t kNonzeroBlock = kGroupSize * Nonzero::kEach;

bool supports_nonzero(const Call& call) {
  return call.input(0).dtype() != DType::f64 && indexable(call.input(0));
}

void run_nonzero(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), truth = contiguous(to(x, DType::boolean));
  const uint64_t blocks = (uint64_t(x.numel()) + kNonzeroBlock - 1) / kNonzeroBlock;
  const Scratch before(recorder, blocks * sizeof(uint32_t));
  NonzeroArguments a{};
  a.count = uint32_t(x.numel());
  a.dims = uint32_t(x.ndim());
  for (int d = 0; d < x.ndim(); ++d) {
    a.size[d] = uint32_t(x.size(d));
    a.by[d] = Divisor(a.size[d]);
  }
  for (const uint32_t mode : {Nonzero::kCount, Nonzero::kAddUp, Nonzero::kPut}) {
    Launch launch(recorder);
    if (mode != Nonzero::kAddUp) a.truth = launch.reads(truth);
    if (mode == Nonzero::kPut) a.result = launch.writes(call.output());
    if (mode != Nonzero::kCount) a.before = launch.reads(before);
    if (mode != Nonzero::kPut) a.before = launch.writes(before);
    launch.run(Nonzero{.mode = mode, .aligned = a.truth % 8 == 0},
               {mode == Nonzero::kAddUp ? 1 : group_count(blocks, recorder)}, bytes_of(a));
  }
}

}  // namespace

std::vector<KernelEntry> nonzero_kernels() {
  return {{find_op("nonzero"), {supports_nonzero, run_nonzero, true}}};
}

}  // namespace lunagrad::gpu
