// The optimizers' steps, one dispatch over all parameters of a group, and the clipping of gradients to a common norm.
// 16-bit elements are computed as f32; of a group that mixes types each has its own dispatch.
#include <algorithm>
#include <cmath>
#include <vector>

#include "gpu/kernels.h"
#include "runtime/ops.h"
#include "runtime/ops/optimizer_rule.h"

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostTensors = 4096;  // of one dispatch
constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16};

bool supports(const Call& call) {
  return std::all_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
    return std::find(std::begin(kTypes), std::end(kTypes), x.dtype()) != std::end(kTypes) &&
           x.numel() < int64_t(1) << 31;
  });
}

// Elements in order; what is not is worked on in a copy and written back.
Operands in_order(const Call& call) {
  Operands dense;
  for (const Tensor& x : call.in) dense.push_back(contiguous(x));
  return dense;
}
void write_back(const Call& call, size_t i, const Tensor& dense) {
  if (!dense.same(call.in[i])) copy_(call.in[i], dense);
}

// Calls f with the numbers, up to kMostTensors at a time, of those of the first n tensors that are of one type and hold
// something.
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
  uint64_t param, grad, state[3];
  uint32_t count;
  uint32_t first_block;
};
struct Hot {
  uint32_t tensors, blocks;
  float sign, decay, shrink;
  float number[8], rest[3];
};
static_assert(sizeof(Hot) <= kHotBytes);
constexpr uint32_t kBlock = 1024;

void run_step(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const auto [rule, numbers] = rule_of(call);
  const size_t lists = 2 + size_t(states_of(rule)), n = call.in.size() / lists;
  Hot hot{};
  const double decay = decay_at(rule) < 0 ? 0 : numbers[size_t(decay_at(rule))];
  hot.sign = sign_at(rule) >= 0 && numbers[size_t(sign_at(rule))] < 0 ? -1 : 1;
  hot.decay = decay > 0 ? float(decay) : 0;
  hot.shrink = decay < 0 ? float(1 + decay) : 1;
  for (size_t i = 0; i < numbers.size(); ++i) hot.number[i] = float(numbers[i]);
  for (size_t i = 0; i < std::size(hot.rest); ++i) hot.rest[i] = float(1 - numbers[i]);
  const Operands dense = in_order(call);
  static const ShaderCode& code = find_shader("optimizer");
  for_each_dispatch(dense, n, [&](DType type, const std::vector<size_t>& chosen) {
    Launch launch(recorder);
    std::vector<Entry> entries;
    hot.blocks = 0;
    for (const size_t i : chosen) {
      Entry entry{};
      entry.param = launch.writes(dense[i]);
      entry.grad = launch.reads(dense[n + i]);
      for (size_t list = 2; list < lists; ++list) entry.state[list - 2] = launch.writes(dense[list * n + i]);
      entry.count = uint32_t(dense[i].numel());
      entry.first_block = hot.blocks;
      hot.blocks += (entry.count + kBlock - 1) / kBlock;
      entries.push_back(entry);
    }
    hot.tensors = uint32_t(entries.size());
    launch.run(code, {uint32_t(rule), uint32_t(type)}, {group_count(hot.blocks, recorder)},
               std::as_bytes(std::span(entries)), bytes_of(hot));
  });
  for (size_t i = 0; i < call.in.size(); ++i)
    if (i / n != 1) write_back(call, i, dense[i]);
}

// --- clipping ---

enum class ClipMode : uint32_t { blocks, norm, scale };
enum class Power : uint32_t { squares, largest, any };

struct ClipEntry {
  uint64_t from;
  uint32_t count;
  uint32_t first_block;
};
struct ClipHot {
  uint64_t partial, norm;
  uint32_t tensors, blocks;
  float power, max_norm;
};
static_assert(sizeof(ClipHot) <= kHotBytes);
constexpr uint32_t kClipBlock = 4096;

// One type alone, in one dispatch: the norm of others is the CPU's.
bool can_clip(const Call& call) {
  return supports(call) && call.in.size() <= kMostTensors &&
         std::all_of(call.in.begin(), call.in.end(), [&](const Tensor& x) { return x.dtype() == call.input(0).dtype(); }) &&
         std::any_of(call.in.begin(), call.in.end(), [](const Tensor& x) { return x.numel() > 0; });
}

void run_clip(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const double max_norm = call.args[0].f, p = call.args[1].f;
  const Operands dense = in_order(call);
  std::vector<ClipEntry> entries;
  std::vector<size_t> chosen;
  ClipHot hot{};
  hot.power = float(p);
  hot.max_norm = float(max_norm);
  for (size_t i = 0; i < dense.size(); ++i) {
    if (dense[i].numel() == 0) continue;
    const auto count = uint32_t(dense[i].numel());
    entries.push_back({0, count, hot.blocks});
    chosen.push_back(i);
    hot.blocks += (count + kClipBlock - 1) / kClipBlock;
  }
  hot.tensors = uint32_t(entries.size());
  const Power power = std::isinf(p) ? Power::largest : p == 2 ? Power::squares : Power::any;
  const Scratch partial(recorder, size_t(hot.blocks) * 2 * sizeof(float));
  static const ShaderCode& code = find_shader("clip");
  for (const ClipMode mode : {ClipMode::blocks, ClipMode::norm, ClipMode::scale}) {
    Launch launch(recorder);
    for (size_t k = 0; k < chosen.size(); ++k) {
      if (mode == ClipMode::blocks) entries[k].from = launch.reads(dense[chosen[k]]);
      if (mode == ClipMode::scale) entries[k].from = launch.writes(dense[chosen[k]]);
    }
    if (mode == ClipMode::blocks) hot.partial = launch.writes(partial);
    if (mode == ClipMode::norm) hot.partial = launch.reads(partial), hot.norm = launch.writes(call.output());
    if (mode == ClipMode::scale) hot.norm = launch.reads(call.output());
    launch.run(code, {uint32_t(mode), uint32_t(call.input(0).dtype()), uint32_t(power)},
               {mode == ClipMode::norm ? 1 : group_count(hot.blocks, recorder)}, std::as_bytes(std::span(entries)),
               bytes_of(hot));
  }
  for (size_t i = 0; i < call.in.size(); ++i) write_back(call, i, dense[i]);
}

}  // namespace

std::vector<KernelEntry> optimizer_kernels() {
  std::vector<KernelEntry> entries = {{find_op("_clip_grad_norm"), {can_clip, run_clip}}};
  for (const char* const name : {"_sgd_step", "_adam_step", "_adamw_step", "_nadam_step", "_radam_step", "_adamax_step",
                                 "_rmsprop_step", "_adagrad_step", "_adadelta_step", "_lion_step", "_ema_step"})
    entries.push_back({find_op(name), {supports, run_step}});
  return entries;
}

}  // namespace lunagrad::gpu
