// clip_grad_norm_: one norm over all gradients, which stays on the device, and their scaling by it.
#include <cmath>
#include <vector>

#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Entry {
  uint64_t gradient;
  uint32_t count;
  uint32_t first_block;
};
struct Hot {
  uint64_t parts, result;
  uint32_t tensors, blocks;
  float p, max_norm;
};
static_assert(sizeof(Hot) <= kHotBytes);

constexpr uint32_t kBlock = 4096;
constexpr size_t kMostTensors = 16384;  // whose entries fit the arguments of one dispatch

bool supports(const Call& call) {
  if (call.in.size() > kMostTensors || call.output().dtype() != DType::f32) return false;
  for (const Tensor& x : call.in)
    if (x.dtype() != call.in[0].dtype() || x.numel() >= int64_t(1) << 31) return false;
  return true;
}

void run(const Call& call, Recorder& recorder) {
  enum Pass : uint32_t { kFold, kFinish, kScale };
  const NoGrad off;
  const double p = call.args[1].f;
  const uint32_t norm = p == 2 ? 0 : std::isinf(p) ? 1 : 2;
  const uint32_t type = call.in.empty() ? uint32_t(DType::f32) : uint32_t(call.in[0].dtype());
  Operands dense;
  std::vector<Entry> entries;
  Hot hot{.p = float(p), .max_norm = float(call.args[0].f)};
  for (const Tensor& x : call.in) {
    dense.push_back(contiguous(x));
    if (x.numel() == 0) continue;
    entries.push_back({0, uint32_t(x.numel()), hot.blocks});
    hot.blocks += (entries.back().count + kBlock - 1) / kBlock;
  }
  hot.tensors = uint32_t(entries.size());
  static const ShaderCode& code = find_shader("clip");
  const Scratch parts(recorder, (size_t(hot.blocks) + 1) * sizeof(float));
  const auto pass = [&](Pass which, uint32_t groups) {
    Launch launch(recorder);
    hot.parts = which == kScale ? launch.reads(parts) : launch.writes(parts);
    hot.result = which == kFinish ? launch.writes(call.output()) : 0;
    size_t next = 0;
    for (const Tensor& x : dense) {
      if (which == kFinish || x.numel() == 0) continue;
      entries[next++].gradient = which == kFold ? launch.reads(x) : launch.writes(x);
    }
    launch.run(code, {which, norm, type}, {group_count(groups, recorder)}, std::as_bytes(std::span(entries)),
               bytes_of(hot));
  };
  if (hot.blocks > 0) pass(kFold, hot.blocks);
  pass(kFinish, 1);
  if (hot.blocks > 0) pass(kScale, hot.blocks);
  for (size_t i = 0; i < call.in.size(); ++i)
    if (!dense[i].same(call.in[i])) copy_(call.in[i], dense[i]);
}

}  // namespace

std::vector<KernelEntry> clip_kernels() { return {{find_op("_clip_grad_norm"), {supports, run}}}; }

}  // namespace lunagrad::gpu
