// The optimizers' steps, one dispatch over all parameters of a group, and gradient clipping by the common
// norm. 16-bit elements are computed in f32. A group of several types takes one dispatch per type.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"
#include "runtime/optimizer/rules.h"

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostTensors = 4096;  // per dispatch
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

bool supports(const Call& call) {
  return std::all_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
    return std::find(std::begin(kTypes), std::end(kTypes), x.dtype()) != std::end(kTypes) && indexable(x);
  });
}

// Makes the operands contiguous; copies are written back afterwards.
Operands in_order(const Call& call) {
  Operands dense;
  for (const Tensor& x : call.in) dense.push_back(contiguous(x));
  return dense;
}
void write_back(const Call& call, size_t i, const Tensor& dense) {
  if (!dense.same(call.in[i])) copy_(call.in[i], dense);
}

// Calls f for each dtype with the indices of the non-empty tensors of that dtype among the first n, at most
// kMostTensors at a time.
template <class F>
void for_each_dispatch(const Operands& tensors, size_t n, F&& f) {
  for (const DType type : kTypes) {
    std::vector<size_t> chosen;
    for (size_t i = 0; i <= n; ++i) {
      if (i < n && tensors[i].dtype() == type && tensors[i].numel() > 0) chosen.push_back(i);
      if (chosen.empty() || (i < n && chosen.size() < kMostTensors)) continue;
      f(type, chosen);
      chosen.clear();
    }
  }
}

struct Entry {
  uint64_t param, grad, state[kMostStates];
  uint32_t count;
  uint32_t first_block;
};
struct PushConstants {
  uint32_t tensors, blocks;
  float number[kMostRuleNumbers];
};
static_assert(sizeof(PushConstants) <= kPushConstantBytes);
constexpr uint32_t kBlock = 1024;

const ShaderCode& shader_of(Rule rule) {
  static const std::vector<const ShaderCode*> codes = [] {
    std::vector<const ShaderCode*> found;
    for (int i = 0; i < kRuleCount; ++i)
      found.push_back(&find_shader("optimizer_" + std::string(rule_traits(Rule(i)).name)));
    return found;
  }();
  return *codes[size_t(rule)];
}

void run_step(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const RuleUse use = use_rule(rule_of(*call.op), call.args);
  const size_t lists = 2 + size_t(std::popcount(use.states)), n = call.in.size() / lists;
  PushConstants push{};
  for (size_t i = 0; i < use.numbers.size(); ++i) push.number[i] = float(use.numbers[i]);
  const Operands dense = in_order(call);
  const ShaderCode& code = shader_of(use.rule);
  for_each_dispatch(dense, n, [&](DType type, const std::vector<size_t>& chosen) {
    Launch launch(recorder);
    std::vector<Entry> entries;
    push.blocks = 0;
    for (const size_t i : chosen) {
      Entry entry{};
      entry.param = launch.writes(dense[i]);
      entry.grad = launch.reads(dense[n + i]);
      for (size_t state = 0, list = 2; state < kMostStates; ++state)
        if (use.states >> state & 1) entry.state[state] = launch.writes(dense[list++ * n + i]);
      entry.count = uint32_t(dense[i].numel());
      entry.first_block = push.blocks;
      push.blocks += (entry.count + kBlock - 1) / kBlock;
      entries.push_back(entry);
    }
    push.tensors = uint32_t(entries.size());
    launch.run(code, shaders::Optimizer{.type = uint32_t(type), .states = use.states}.values(),
               {group_count(push.blocks, recorder)}, std::as_bytes(std::span(entries)), bytes_of(push));
  });
  for (size_t i = 0; i < call.in.size(); ++i)
    if (i / n != 1) write_back(call, i, dense[i]);
}

// --- clipping ---

using shaders::Clip;

struct ClipEntry {
  uint64_t from;
  uint32_t count;
  uint32_t first_block;
};
struct ClipPushConstants {
  uint64_t partial, norm;
  uint32_t tensors, blocks;
  float power, max_norm;
};
static_assert(sizeof(ClipPushConstants) <= kPushConstantBytes);
constexpr uint32_t kClipBlock = 4096;

// The tensors of one dispatch, all of one dtype. Its blocks are numbered from 0; other dispatches have
// `before` blocks before it.
struct ClipGroup {
  DType type;
  std::vector<size_t> chosen;
  std::vector<ClipEntry> entries;
  uint32_t blocks, before;
};

void run_clip(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const double max_norm = call.args[0].f, p = call.args[1].f;
  const Operands dense = in_order(call);
  std::vector<ClipGroup> groups;
  uint32_t blocks = 0;
  for_each_dispatch(dense, dense.size(), [&](DType type, const std::vector<size_t>& chosen) {
    ClipGroup group{type, chosen, {}, 0, blocks};
    for (const size_t i : chosen) {
      const auto count = uint32_t(dense[i].numel());
      group.entries.push_back({0, count, group.blocks});
      group.blocks += (count + kClipBlock - 1) / kClipBlock;
    }
    blocks += group.blocks;
    groups.push_back(std::move(group));
  });
  if (blocks == 0) return copy(call.output(), Tensor::number(0.0), recorder);
  ClipPushConstants push{};
  push.power = float(p);
  push.max_norm = float(max_norm);
  const uint32_t power = std::isinf(p) ? Clip::kLargest : p == 2 ? Clip::kSquares : Clip::kAny;
  const Scratch partial(recorder, size_t(blocks) * 2 * sizeof(float));
  const auto visit = [&](uint32_t mode, auto&& set_addresses) {
    for (ClipGroup& group : groups) {
      Launch launch(recorder);
      for (size_t k = 0; k < group.chosen.size(); ++k) {
        const Tensor& x = dense[group.chosen[k]];
        group.entries[k].from = mode == Clip::kScale ? launch.writes(x) : launch.reads(x);
      }
      set_addresses(launch, group);
      push.tensors = uint32_t(group.entries.size());
      push.blocks = group.blocks;
      launch.run(Clip{.mode = mode, .type = uint32_t(group.type), .power = power},
                 {group_count(group.blocks, recorder)}, std::as_bytes(std::span(group.entries)),
                 bytes_of(push));
    }
  };
  visit(Clip::kBlocks, [&](Launch& launch, const ClipGroup& group) {
    push.partial = launch.writes(partial) + uint64_t(group.before) * 2 * sizeof(float);
  });
  {
    Launch launch(recorder);
    push.partial = launch.reads(partial);
    push.norm = launch.writes(call.output());
    push.blocks = blocks;
    launch.run(Clip{.mode = Clip::kNorm, .type = ElementType::kF32, .power = power}, {1}, {}, bytes_of(push));
  }
  visit(Clip::kScale, [&](Launch& launch, const ClipGroup&) { push.norm = launch.reads(call.output()); });
  for (size_t i = 0; i < call.in.size(); ++i) write_back(call, i, dense[i]);
}

}  // namespace

std::vector<KernelEntry> optimizer_kernels() {
  std::vector<KernelEntry> entries = {{find_op("_clip_grad_norm"), {supports, run_clip}}};
  for (int i = 0; i < kRuleCount; ++i) entries.push_back({&rule_op(Rule(i)), {supports, run_step}});
  return entries;
}

}  // namespace lunagrad::gpu
