// Summaries of many tensors: one dispatch over all elements, one over the results of the blocks.
#include <algorithm>
#include <vector>

#include "gpu/ops/kernels.h"
#include "runtime/ops.h"
#include "runtime/statistics/summary_op.h"

namespace lunagrad::gpu {
namespace {

struct Entry {
  uint64_t from;
  uint32_t count, type;
  uint32_t first_block, blocks;
};
struct SummaryPushConstants {
  uint64_t partial, result;
  uint32_t tensors, blocks;
};
static_assert(sizeof(SummaryPushConstants) <= kPushConstantBytes);

using shaders::Summary;
constexpr uint32_t kBlock = kGroupSize * Summary::kEach;
constexpr size_t kMostTensors = 4096;  // per dispatch

bool supports_summary(const Call& call) {
  return std::all_of(call.in.begin(), call.in.end(),
                     [](const Tensor& x) { return x.dtype() != DType::f64 && indexable(x); });
}

void run_summary(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Operands dense;
  for (const Tensor& x : call.in) dense.push_back(contiguous(x));
  const size_t row = Summary::kNumbers * sizeof(float);
  for (size_t begin = 0; begin < dense.size(); begin += kMostTensors) {
    const size_t end = std::min(dense.size(), begin + kMostTensors);
    std::vector<Entry> entries;
    SummaryPushConstants push{};
    push.tensors = uint32_t(end - begin);
    for (size_t i = begin; i < end; ++i) {
      const auto count = uint32_t(dense[i].numel()), blocks = (count + kBlock - 1) / kBlock;
      entries.push_back({0, count, uint32_t(dense[i].dtype()), push.blocks, blocks});
      push.blocks += blocks;
    }
    const Scratch partial(recorder, push.blocks * row);
    {
      Launch launch(recorder);
      for (size_t i = begin; i < end; ++i) entries[i - begin].from = launch.reads(dense[i]);
      push.partial = launch.writes(partial);
      launch.run(Summary{.reduction = false}, {group_count(push.blocks, recorder)},
                 std::as_bytes(std::span(entries)), bytes_of(push));
    }
    Launch launch(recorder);
    push.partial = launch.reads(partial);
    push.result = launch.writes(call.output()) + begin * row;
    launch.run(Summary{.reduction = true}, {group_count(push.tensors, recorder)},
               std::as_bytes(std::span(entries)), bytes_of(push));
  }
}

}  // namespace

std::vector<KernelEntry> summary_kernels() { return {{&summary_op(), {supports_summary, run_summary}}}; }

}  // namespace lunagrad::gpu
