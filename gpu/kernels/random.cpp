// Dropout (f32), uniform, normal, integer and two-valued random numbers, and permutations: those of the CPU.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpu/kernels/complex.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

enum class Mode : uint32_t { dropout, uniform, normal, integer, bernoulli, wide };

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
  const DType type = call.output().dtype();
  return type != DType::f64 && call.output().numel() < int64_t(1) << (is_complex(type) ? 30 : 31);
}
bool supports_dropout(const Call& call) { return supports(call) && call.input(0).dtype() == DType::f32; }

void launch_draw(Launch& launch, const Call& call, Mode mode, Hot hot, Recorder& recorder) {
  const Tensor out = parts_in_a_row(call.output());
  hot.seed = call.args[0].u;
  hot.stream = call.args[1].u;
  hot.count = uint32_t(out.numel());
  hot.result = launch.writes(out);
  static const ShaderCode& code = find_shader("random");
  launch.run(code, {uint32_t(mode), uint32_t(out.dtype())},
             {group_count((uint64_t(hot.count) + 1023) / 1024, recorder)}, {}, bytes_of(hot));
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

// Of a complex number both parts have variance 1/2.
template <Mode mode>
void run_floats(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  Hot hot{};
  hot.factor = is_complex(call.output().dtype()) ? float(std::numbers::sqrt2 / 2) : 1;
  launch_draw(launch, call, mode, hot, recorder);
}

void run_integers(const Call& call, Recorder& recorder) {
  Launch launch(recorder);
  Hot hot{};
  hot.low = call.integer(0);
  hot.range = uint64_t(call.integer(1)) - uint64_t(call.integer(0));
  launch_draw(launch, call, hot.range <= 0x100000000u ? Mode::integer : Mode::wide, hot, recorder);
}

struct PermutationHot {
  uint64_t result, first, next;
  uint64_t seed, stream;
  uint32_t count, padding;
};
static_assert(sizeof(PermutationHot) <= kHotBytes);

void run_permutation(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  const Tensor first = Tensor::empty(out.shape(), DType::i32, out.device());
  const Scratch next(recorder, size_t(out.numel()) * sizeof(uint32_t));
  copy(first, Tensor::number(int64_t(-1)), recorder);
  PermutationHot hot{};
  hot.seed = call.args[0].u;
  hot.stream = call.args[1].u;
  hot.count = uint32_t(out.numel());
  static const ShaderCode& code = find_shader("permutation");
  for (const bool follow : {false, true}) {
    Launch launch(recorder);
    hot.first = follow ? launch.reads(first) : launch.writes(first);
    hot.next = follow ? launch.reads(next) : launch.writes(next);
    if (follow) hot.result = launch.writes(out);
    launch.run(code, {uint32_t(follow), uint32_t(out.dtype())},
               {group_count((uint64_t(hot.count) + 255) / 256, recorder)}, {}, bytes_of(hot));
  }
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
          {find_op("rand"), {supports, run_floats<Mode::uniform>, true}},
          {find_op("randn"), {supports, run_floats<Mode::normal>, true}},
          {find_op("randint"), {supports, run_integers}},
          {find_op("randperm"), {supports, run_permutation}},
          {find_op("bernoulli"), {supports, run_bernoulli}}};
}

}  // namespace lunagrad::gpu
