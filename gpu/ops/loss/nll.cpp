// nll_loss of f32, f16 or bf16 and its gradient (gpu/ops/loss/nll.comp).
#include <algorithm>

#include "gpu/ops/copy.h"
#include "gpu/ops/loss/class_loss.h"
#include "gpu/ops/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Nll;

struct NllArguments {
  uint64_t log_p, labels, weight, result, total, parts, grad, fault;
  int64_t ignored;
  uint32_t part_count, each, grad_step, padding;
  Rows rows;
};
static_assert(offsetof(NllArguments, rows) == 88);

struct Work {
  const Call& call;
  const Tensor &log_p, &gradient;  // gradient: of log_p; in the forward pass log_p itself
  const Tensor labels, weight;
  Recorder& recorder;

  template <class F>
  void pass(uint32_t mode, uint64_t groups, F&& addresses) const {
    Launch launch(recorder);
    NllArguments arguments{};
    arguments.log_p = launch.reads(log_p);
    arguments.labels = launch.reads(labels);
    if (weight.defined()) arguments.weight = launch.reads(weight);
    arguments.fault = recorder.stream.fault_address();
    arguments.ignored = call.integer(kIgnoreAt);
    const Tensor* const tensors[] = {&log_p, &gradient};
    arguments.rows = rows_along(log_p.ndim() > 1 ? 1 : 0, tensors);
    addresses(launch, arguments);
    launch.run(Nll{.mode = mode,
                   .along = kGroupSize,
                   .label_type = uint32_t(labels.dtype()),
                   .has_weight = weight.defined(),
                   .mean = Reduction(call.integer(kReductionAt)) == Reduction::mean,
                   .type = uint32_t(log_p.dtype())},
               {group_count(groups, recorder)}, bytes_of(arguments));
  }
};

void run_nll(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor& log_p = call.input(0);
  const Work work{call, log_p, log_p, contiguous_input(call, 1), contiguous_input(call, 2), recorder};
  const uint64_t rows = uint64_t(work.labels.numel());
  if (Reduction(call.integer(kReductionAt)) == Reduction::none)
    return work.pass(Nll::kEach, groups_for(rows, recorder), [&](Launch& launch, NllArguments& arguments) {
      arguments.result = launch.writes(call.output(0));
    });
  constexpr uint64_t kWorthGroup = 2048, kMostGroups = 1024;  // rows; parts
  const uint64_t wanted = std::clamp<uint64_t>((rows + kWorthGroup - 1) / kWorthGroup, 1, kMostGroups);
  const uint64_t each = std::max<uint64_t>(1, (rows + wanted - 1) / wanted);
  const uint64_t parts = std::max<uint64_t>(1, (rows + each - 1) / each);
  const Scratch sums(recorder, parts * 8);
  const auto write = [&](Launch& launch, NllArguments& arguments) {
    arguments.result = launch.writes(call.output(0));
    arguments.total = launch.writes(call.output(1));
  };
  work.pass(Nll::kSums, parts, [&](Launch& launch, NllArguments& arguments) {
    arguments.part_count = uint32_t(parts);
    arguments.each = uint32_t(each);
    if (parts == 1) return write(launch, arguments);
    arguments.parts = launch.writes(sums);
  });
  if (parts > 1)
    work.pass(Nll::kFinish, 1, [&](Launch& launch, NllArguments& arguments) {
      arguments.part_count = uint32_t(parts);
      arguments.parts = launch.reads(sums);
      write(launch, arguments);
    });
}

void run_nll_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor grad = contiguous_input(call, 0), &result = call.output();
  copy(result, Tensor::number(0.0), recorder);
  const Work work{call,    call.input(1), result, contiguous_input(call, 2), contiguous_input(call, 4),
                  recorder};
  work.pass(Nll::kBackward, groups_for(uint64_t(work.labels.numel()), recorder),
            [&](Launch& launch, NllArguments& arguments) {
              arguments.grad = launch.reads(grad);
              arguments.grad_step = grad.numel() == 1 ? 0 : 1;
              arguments.total = launch.reads(call.input(3));
              arguments.result = launch.writes(result);
            });
}

}  // namespace

std::vector<KernelEntry> nll_kernels() {
  return {{find_op("_nll_loss"), {supports_class_loss, run_nll}},
          {find_op("_nll_loss_grad"), {supports_class_loss_grad, run_nll_grad}}};
}

}  // namespace lunagrad::gpu
