// Dropout and uniform random numbers, f32: the same words of a draw as on the CPU.
#include <algorithm>
#include <cmath>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

enum class Mode : uint32_t { dropout, uniform };

struct Hot {
  uint64_t result, operand;
  uint64_t seed, stream;
  uint32_t count, threshold;
  float factor;
  uint32_t padding;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) {
  for (const Tensor& x : call.in)
    if (x.dtype() != DType::f32) return false;
  return call.output().dtype() == DType::f32 && call.output().numel() < int64_t(1) << 31;
}

void launch_draw(Launch& launch, const Call& call, Mode mode, Hot hot, Recorder& recorder) {
  hot.seed = call.args[0].u;
  hot.stream = call.args[1].u;
  hot.count = uint32_t(call.output().numel());
  hot.result = launch.writes(call.output());
  static const ShaderCode& code = find_shader("random");
  launch.run(code, {uint32_t(mode)}, {group_count((hot.count + 1023) / 1024, recorder)}, {}, bytes_of(hot));
}

// The probability is the call's third argument (runtime/ops/dropout.cpp).
void run_dropout(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const double p = call.args[2].f;
  if (p == 1) return copy(call.output(), Tensor::number(0.0), recorder);
  const Tensor x = contiguous(call.input(0));
  Launch launch(recorder);
  Hot hot{};
  hot.operand = launch.reads(x);
  hot.threshold = uint32_t(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
  hot.factor = float(1 / (1 - p));
  launch_draw(launch, call, Mode::dropout, hot, recorder);
}

void run_uniform(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  launch_draw(launch, call, Mode::uniform, Hot{}, recorder);
}

}  // namespace

std::vector<KernelEntry> random_kernels() {
  return {{find_op("_dropout"), {supports, run_dropout}}, {find_op("rand"), {supports, run_uniform}}};
}

}  // namespace lunagrad::gpu
