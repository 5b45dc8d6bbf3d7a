// ctc_loss and its gradient, f32 (gpu/ops/loss/ctc.comp).
#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Ctc;

struct CtcArguments {
  uint64_t log_probs, labels, input_lengths, target_lengths;
  uint64_t alpha, losses, upstream, shares, gradient;
  uint32_t steps, items, classes, width;
  uint32_t label_stride, blank, zero_infinity, unused;
};

bool fits(const Tensor& log_probs, const Tensor& alpha) {
  return log_probs.dtype() == DType::f32 && log_probs.numel() > 0 && indexable(log_probs) &&
         indexable(alpha) && alpha.size(2) <= int64_t(Ctc::kMostStates);
}
bool supports_loss(const Call& call) { return fits(call.input(0), call.output(1)); }
bool supports_gradient(const Call& call) { return fits(call.input(1), call.input(5)); }

// The operands of the loss, from call.input(first) on, in the form that the shader takes.
struct Batch {
  Batch(const Call& call, int first, const Tensor& alpha)
      : log_probs(contiguous(call.input(first))),
        labels(whole(call.input(first + 1))),
        input_lengths(whole(call.input(first + 2))),
        target_lengths(whole(call.input(first + 3))) {
    const Tensor& targets = call.input(first + 1);
    arguments.steps = uint32_t(log_probs.size(0));
    arguments.items = uint32_t(log_probs.size(1));
    arguments.classes = uint32_t(log_probs.size(2));
    arguments.width = uint32_t(alpha.size(2));
    arguments.label_stride = targets.ndim() == 2 ? uint32_t(targets.size(1)) : 0;
    arguments.blank = uint32_t(call.integer(0));
    arguments.zero_infinity = call.flag(1);
  }
  static Tensor whole(const Tensor& x) { return contiguous(to(x, DType::i64)); }

  void run(Launch& launch, uint32_t mode, uint32_t groups) {
    arguments.log_probs = launch.reads(log_probs);
    arguments.labels = launch.reads(labels);
    arguments.input_lengths = launch.reads(input_lengths);
    arguments.target_lengths = launch.reads(target_lengths);
    launch.run(Ctc{.mode = mode}, {groups}, bytes_of(arguments));
  }

  CtcArguments arguments{};
  const Tensor log_probs, labels, input_lengths, target_lengths;
};

void run_loss(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Batch batch(call, 0, call.output(1));
  Launch launch(recorder);
  batch.arguments.losses = launch.writes(call.output());
  batch.arguments.alpha = launch.writes(call.output(1));
  batch.run(launch, Ctc::kForward, group_count(batch.arguments.items, recorder));
}

void run_gradient(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor upstream = contiguous(call.input(0)), alpha = contiguous(call.input(5));
  const Tensor shares = zeros(alpha.shape(), DType::f32, alpha.device());
  copy(call.output(), Tensor::number(0.0), recorder);
  Batch batch(call, 1, alpha);
  {
    Launch launch(recorder);
    batch.arguments.upstream = launch.reads(upstream);
    batch.arguments.alpha = launch.reads(alpha);
    batch.arguments.shares = launch.writes(shares);
    batch.run(launch, Ctc::kBack, group_count(batch.arguments.items, recorder));
  }
  Launch launch(recorder);
  batch.arguments.shares = launch.reads(shares);
  batch.arguments.gradient = launch.writes(call.output());
  batch.run(launch, Ctc::kCollect, groups_for(uint64_t(shares.numel()), recorder));
}

}  // namespace

std::vector<KernelEntry> ctc_kernels() {
  return {{find_op("_ctc_loss"), {supports_loss, run_loss}},
          {find_op("_ctc_loss_grad"), {supports_gradient, run_gradient}}};
}

}  // namespace lunagrad::gpu
