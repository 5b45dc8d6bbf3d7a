// multinomial, with weights in f32, f16 or bf16 (gpu/ops/random/multinomial.comp).
#include <algorithm>
#include <bit>

#include "gpu/ops/index/sort.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Multinomial;

struct Arguments {
  uint64_t result, weights;
  uint64_t sums, keys, order;
  uint64_t fault;
  uint64_t seed, stream;
  uint32_t rows, n, samples, padded;
  uint32_t faults[3];
};

bool supports_multinomial(const Call& call) {
  const Tensor& weights = call.input(0);
  const int64_t most = most_elements();
  const int64_t n = weights.size(-1);
  return weights.dtype() != DType::f64 && n > 0 && call.output().numel() < most && weights.numel() < most &&
         weights.numel() / n * int64_t(padded_to(n)) < most;
}

void run_multinomial(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor weights = contiguous(call.input(0)), &out = call.output();
  const bool replacement = call.flag(1);
  Arguments arguments{};
  arguments.fault = recorder.stream.fault_address();
  arguments.seed = call.args[0].u;
  arguments.stream = call.args[1].u;
  arguments.n = uint32_t(weights.size(-1));
  arguments.rows = uint32_t(weights.numel() / weights.size(-1));
  arguments.samples = uint32_t(call.integer(0));
  arguments.padded = padded_to(weights.size(-1));
  arguments.faults[0] = uint32_t(FaultKind::weight);
  arguments.faults[1] = uint32_t(FaultKind::total_weight);
  arguments.faults[2] = uint32_t(FaultKind::few_weights);
  const auto dispatch = [&](Launch& launch, uint32_t mode, uint32_t groups) {
    launch.run(Multinomial{.mode = mode, .type = uint32_t(weights.dtype()), .replacement = replacement},
               {groups}, bytes_of(arguments));
  };
  const auto groups_with = [&](uint64_t each) { return groups_for(arguments.rows * each, recorder); };
  const uint64_t keys_count = uint64_t(arguments.rows) * arguments.padded;
  // With replacement: the partial sums before every few weights and the total. Without: the keys of the
  // padded rows.
  const uint64_t sums_count = arguments.rows * (uint64_t(arguments.n - 1) / Multinomial::kEach + 2);
  const Scratch numbers(recorder, (replacement ? sums_count : keys_count) * 8);
  {
    Launch launch(recorder);
    arguments.weights = launch.reads(weights);
    if (replacement) arguments.sums = launch.writes(numbers);
    dispatch(launch, Multinomial::kCheck, group_count(arguments.rows, recorder));
  }
  if (replacement) {
    Launch launch(recorder);
    arguments.weights = launch.reads(weights);
    arguments.sums = launch.reads(numbers);
    arguments.result = launch.writes(out);
    return dispatch(launch, Multinomial::kPick, groups_with(arguments.samples));
  }
  const Scratch order(recorder, keys_count * sizeof(uint32_t));
  {
    Launch launch(recorder);
    arguments.weights = launch.reads(weights);
    arguments.keys = launch.writes(numbers);
    arguments.order = launch.writes(order);
    dispatch(launch, Multinomial::kKeys, groups_with(arguments.padded));
  }
  sort_keys({numbers, order, arguments.rows, arguments.padded}, recorder);
  Launch launch(recorder);
  arguments.order = launch.reads(order);
  arguments.result = launch.writes(out);
  dispatch(launch, Multinomial::kTake, groups_with(arguments.samples));
}

}  // namespace

std::vector<KernelEntry> multinomial_kernels() {
  return {{find_op("multinomial"), {supports_multinomial, run_multinomial, false, needs_float64}}};
}

}  // namespace lunagrad::gpu
