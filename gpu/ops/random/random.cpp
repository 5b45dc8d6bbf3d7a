// Dropout, rand, randn, randint, bernoulli and randperm, with the same random words as the CPU device.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "gpu/ops/copy.h"
#include "gpu/ops/elementwise/complex.h"
#include "gpu/ops/iteration.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Random, shaders::Permutation;

struct RandomPushConstants {
  uint64_t result, operand;
  uint64_t seed, stream;
  uint32_t count, threshold;
  float factor;
  uint32_t first;  // block of words
  int64_t low;
  uint64_t range;
};
static_assert(sizeof(RandomPushConstants) <= kPushConstantBytes);

bool supports_random(const Call& call) { return call.output().dtype() != DType::f64; }
bool supports_permutation(const Call& call) { return supports_random(call) && indexable(call.output()); }
bool supports_dropout(const Call& call) {
  const DType type = call.input(0).dtype();
  return supports_random(call) && (type == DType::f32 || is_16bit_float(type));
}

// `operand`: a contiguous tensor of the result's size and type, or undefined. Large results take several
// dispatches, whose words follow each other.
void launch_draw(const Tensor& operand, const Call& call, uint32_t mode, RandomPushConstants push,
                 Recorder& recorder, Bytes arguments = {}) {
  const Tensor out = parts_in_a_row(call.output());
  push.seed = call.args[0].u;
  push.stream = call.args[1].u;
  constexpr uint32_t kEach = 4;  // elements per invocation
  constexpr int64_t kWhole = 8;  // a multiple keeps addresses aligned, and begins a block
  const int64_t most = std::max(kWhole, (most_elements() - 1) / kWhole * kWhole);
  for (int64_t at = 0; at < out.numel(); at += most) {
    Launch launch(recorder);
    push.count = uint32_t(std::min(most, out.numel() - at));
    push.first = uint32_t(at / (mode == Random::kTwoWords ? 2 : 4));
    push.result = launch.writes(window(out, {push.count}, {1}, at));
    if (operand.defined()) push.operand = launch.reads(window(operand, {push.count}, {1}, at));
    const bool integer = mode == Random::kInteger, aligned = push.result % 16 == 0;
    const bool in_fours =
        integer ? out.dtype() == DType::i32 && aligned
                : (mode == Random::kUniform || mode == Random::kNormal || mode == Random::kDropout) &&
                      moves_in_fours(out.dtype(), push.result) &&
                      (!push.operand || moves_in_fours(out.dtype(), push.operand));
    launch.run(Random{.mode = mode,
                      .type = uint32_t(out.dtype()),
                      .in_fours = in_fours,
                      .in_pairs = integer && out.dtype() == DType::i64 && aligned},
               {groups_for((uint64_t(push.count) + kEach - 1) / kEach, recorder)}, arguments, bytes_of(push));
  }
}

// The third argument is the probability (runtime/ops/random/dropout.cpp).
void run_dropout(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const double p = call.args[2].f;
  if (p == 1) return copy(call.output(), Tensor::number(0.0), recorder);
  RandomPushConstants push{};
  push.threshold = uint32_t(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
  push.factor = float(1 / (1 - p));
  launch_draw(contiguous(call.input(0)), call, Random::kDropout, push, recorder);
}

// rand and randn. Both parts of a complex normal number have variance 1/2.
template <uint32_t mode>
void run_floats(const Call& call, Recorder& recorder) {
  RandomPushConstants push{};
  push.factor = is_complex(call.output().dtype()) ? float(std::numbers::sqrt2 / 2) : 1;
  launch_draw({}, call, mode, push, recorder);
}

void run_integers(const Call& call, Recorder& recorder) {
  RandomPushConstants push{};
  push.low = call.integer(0);
  push.range = uint64_t(call.integer(1)) - uint64_t(call.integer(0));
  launch_draw({}, call, push.range <= 0x100000000u ? Random::kInteger : Random::kTwoWords, push, recorder);
}

struct PermutationPushConstants {
  uint64_t result, first, next;
  uint64_t seed, stream;
  uint32_t count, padding;
};
static_assert(sizeof(PermutationPushConstants) <= kPushConstantBytes);

void run_permutation(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& out = call.output();
  const Tensor first = Tensor::empty(out.shape(), DType::i32, out.device());
  const Scratch next(recorder, size_t(out.numel()) * sizeof(uint32_t));
  copy(first, Tensor::number(int64_t(-1)), recorder);
  PermutationPushConstants push{};
  push.seed = call.args[0].u;
  push.stream = call.args[1].u;
  push.count = uint32_t(out.numel());
  for (const bool follow : {false, true}) {
    Launch launch(recorder);
    push.first = follow ? launch.reads(first) : launch.writes(first);
    push.next = follow ? launch.reads(next) : launch.writes(next);
    if (follow) push.result = launch.writes(out);
    launch.run(Permutation{.mode = follow ? Permutation::kFollow : Permutation::kList,
                           .type = uint32_t(out.dtype())},
               {groups_for(push.count, recorder)}, {}, bytes_of(push));
  }
}

struct BernoulliArguments {
  uint64_t fault;
  uint32_t fault_kind;
};
void run_bernoulli(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const BernoulliArguments arguments{recorder.stream.fault_address(), uint32_t(FaultKind::probability)};
  launch_draw(contiguous(call.input(0)), call, Random::kBernoulli, {}, recorder, bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> random_kernels() {
  return {{find_op("_dropout"), {supports_dropout, run_dropout}},
          {find_op("rand"), {supports_random, run_floats<Random::kUniform>, true}},
          {find_op("randn"), {supports_random, run_floats<Random::kNormal>, true}},
          {find_op("randint"), {supports_random, run_integers}},
          {find_op("randperm"), {supports_permutation, run_permutation}},
          {find_op("bernoulli"), {supports_random, run_bernoulli}}};
}

}  // namespace lunagrad::gpu
