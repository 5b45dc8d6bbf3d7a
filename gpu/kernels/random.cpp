// Dropout (f32), and uniform, normal, integer and two-valued random numbers: the same words of a draw as on the CPU.
#include <algorithm>
#include <cmath>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

enum class Mode : uint32_t { dropout, uniform, normal, integer, bernoulli };

struct Hot {
  uint64_t result, operand;
  uint64_t seed, stream;
  uint32_t count, threshold;
  float factor;
  uint32_t padding;
  int64_t low;
  uint64_t range;
};
static_assert(sizeof(Hot) <= kHotBytes);

bool supports(const Call& call) {
  return call.output().dtype() != DType::f64 && call.output().numel() < int64_t(1) << 31;
}
bool supports_dropout(const Call& call) { return supports(call) && call.input(0).dtype() == DType::f32; }

void launch_draw(Launch& launch, const Call& call, Mode mode, Hot hot, Recorder& recorder) {
  hot.seed = call.args[0].u;
  hot.stream = call.args[1].u;
  hot.count = uint32_t(call.output().numel());
  hot.result = launch.writes(call.output());
  static const ShaderCode& code = find_shader("random");
  launch.run(code, {uint32_t(mode), uint32_t(call.output().dtype())}, {group_count((hot.count + 1023) / 1024, recorder)}, {}, bytes_of(hot));
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

template <Mode mode>
void run_floats(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  launch_draw(launch, call, mode, Hot{}, recorder);
}

uint64_t range_of(const Call& call) { return uint64_t(call.integer(1)) - uint64_t(call.integer(0)); }
// One word for each; a wider range takes two on the CPU.
bool supports_integers(const Call& call) {
  return supports(call) && !is_floating(call.output().dtype()) && range_of(call) <= 0x100000000u;
}
void run_integers(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  Hot hot{};
  hot.low = call.integer(0);
  hot.range = range_of(call);
  launch_draw(launch, call, Mode::integer, hot, recorder);
}

void run_bernoulli(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor chances = contiguous(call.input(0));
  Launch launch(recorder);
  Hot hot{};
  hot.operand = launch.reads(chances);
  hot.threshold = uint32_t(FaultKind::probability);
  hot.low = int64_t(recorder.stream.fault_address());
  launch_draw(launch, call, Mode::bernoulli, hot, recorder);
}

}  // namespace

std::vector<KernelEntry> random_kernels() {
  return {{find_op("_dropout"), {supports_dropout, run_dropout}},
          {find_op("rand"), {supports, run_floats<Mode::uniform>}},
          {find_op("randn"), {supports, run_floats<Mode::normal>}},
          {find_op("randint"), {supports_integers, run_integers}},
          {find_op("bernoulli"), {supports, run_bernoulli}}};
}

}  // namespace lunagrad::gpu
