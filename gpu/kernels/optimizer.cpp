// The optimizers' steps: one dispatch over all parameters of a group. Call::args are those of
// runtime/ops/optimizer.cpp.
#include <cmath>
#include <vector>

#include "gpu/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

struct Entry {
  uint64_t param, grad, state[3];
  uint32_t count;
  uint32_t first_block;
};
struct Hot {
  uint32_t tensors, blocks;
  float sign, decay, lr, first, second, rest_of_first, rest_of_second, eps, root_correction, shrink;
  uint32_t first_step, nesterov;
};
static_assert(sizeof(Hot) <= kHotBytes);

constexpr uint32_t kBlock = 1024;
constexpr size_t kMostTensors = 4096;  // of one dispatch

bool supports(const Call& call) {
  for (const Tensor& x : call.in)
    if (x.dtype() != DType::f32 || x.numel() >= int64_t(1) << 31) return false;
  return true;
}

// Runs the step over the lists that the operands are: parameters, gradients, states.
void run_lists(const Call& call, bool adam, size_t lists, Hot hot, Recorder& recorder) {
  const NoGrad off;
  const size_t n = call.in.size() / lists;
  // Elements in order; what is not is worked on in a copy and written back.
  Operands dense;
  for (const Tensor& x : call.in) dense.push_back(contiguous(x));
  static const ShaderCode& code = find_shader("optimizer");
  const bool has_last = adam ? lists == 5 : lists == 3;
  for (size_t begin = 0; begin < n; begin += kMostTensors) {
    Launch launch(recorder);
    std::vector<Entry> entries;
    hot.blocks = 0;
    for (size_t i = begin; i < std::min(n, begin + kMostTensors); ++i) {
      if (dense[i].numel() == 0) continue;
      Entry entry{};
      entry.param = launch.writes(dense[i]);
      entry.grad = launch.reads(dense[n + i]);
      for (size_t list = 2; list < lists; ++list) entry.state[list - 2] = launch.writes(dense[list * n + i]);
      entry.count = uint32_t(dense[i].numel());
      entry.first_block = hot.blocks;
      hot.blocks += (entry.count + kBlock - 1) / kBlock;
      entries.push_back(entry);
    }
    if (entries.empty()) continue;
    hot.tensors = uint32_t(entries.size());
    launch.run(code, {uint32_t(adam), uint32_t(has_last)}, {group_count(hot.blocks, recorder)},
               std::as_bytes(std::span(entries)), bytes_of(hot));
  }
  for (size_t i = 0; i < call.in.size(); ++i)
    if (i / n != 1 && !dense[i].same(call.in[i])) copy_(call.in[i], dense[i]);
}

void run_sgd(const Call& call, Recorder& recorder) {
  enum { kLr, kMomentum, kDampening, kDecay, kStep, kNesterov, kMaximize };
  Hot hot{};
  hot.lr = float(call.args[kLr].f);
  hot.first = float(call.args[kMomentum].f);
  hot.second = float(1 - call.args[kDampening].f);
  hot.decay = float(call.args[kDecay].f);
  hot.first_step = call.args[kStep].f <= 1;
  hot.nesterov = call.args[kNesterov].f != 0;
  hot.sign = call.args[kMaximize].f != 0 ? -1 : 1;
  run_lists(call, false, call.args[kMomentum].f != 0 ? 3 : 2, hot, recorder);
}

template <bool decoupled>
void run_adam(const Call& call, Recorder& recorder) {
  enum { kLr, kBeta1, kBeta2, kEps, kDecay, kStep, kMaximize, kAmsgrad };
  const auto value = [&](int i) { return call.args[size_t(i)].f; };
  Hot hot{};
  hot.lr = float(value(kLr) / (1 - std::pow(value(kBeta1), value(kStep))));
  hot.first = float(value(kBeta1));
  hot.second = float(value(kBeta2));
  hot.rest_of_first = float(1 - value(kBeta1));
  hot.rest_of_second = float(1 - value(kBeta2));
  hot.eps = float(value(kEps));
  hot.root_correction = float(std::sqrt(1 - std::pow(value(kBeta2), value(kStep))));
  hot.decay = decoupled ? 0 : float(value(kDecay));
  hot.shrink = decoupled ? float(1 - value(kLr) * value(kDecay)) : 1;
  hot.sign = value(kMaximize) != 0 ? -1 : 1;
  run_lists(call, true, value(kAmsgrad) != 0 ? 5 : 4, hot, recorder);
}

}  // namespace

std::vector<KernelEntry> optimizer_kernels() {
  return {{find_op("_sgd_step"), {supports, run_sgd}},
          {find_op("_adam_step"), {supports, run_adam<false>}},
          {find_op("_adamw_step"), {supports, run_adam<true>}}};
}

}  // namespace lunagrad::gpu
