// Cross entropy of f32, f16 or bf16 logits with class ids, forward and backward; mse_loss; other losses with
// a mean or sum.
#include <algorithm>
#include <optional>

#include "gpu/ops/copy.h"
#include "gpu/ops/loss/class_loss.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/rows.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Loss;
static_assert(Loss::kLabelFault == uint32_t(FaultKind::label));
constexpr int kSmoothingAt = 2;  // the next parameter after kReductionAt

struct CrossEntropyArguments {
  uint64_t logits, labels, weight;
  uint64_t lse, losses, total;
  uint64_t grad, result;
  uint64_t fault;
  int64_t ignored;
  float smoothing;
  uint32_t grad_step, parts;
  Rows rows;
};
static_assert(offsetof(CrossEntropyArguments, parts) == 88);

// The passes of one call. Only the logits and their gradient may be 16-bit floats.
struct CrossEntropy {
  const Call& call;
  const Tensor& logits;
  const Tensor labels, weight;
  const Tensor& result;  // the logits' gradient; in the forward pass the logits themselves
  Recorder& recorder;

  Reduction reduction() const { return Reduction(call.integer(kReductionAt)); }

  template <class F>
  void pass(uint32_t mode, F&& addresses) const {
    Launch launch(recorder);
    CrossEntropyArguments arguments{};
    arguments.logits = launch.reads(logits);
    arguments.labels = launch.reads(labels);
    if (weight.defined()) arguments.weight = launch.reads(weight);
    arguments.fault = recorder.stream.fault_address();
    arguments.ignored = call.integer(kIgnoreAt);
    arguments.smoothing = float(call.real(kSmoothingAt));
    const Tensor* tensors[] = {&logits, &result};
    arguments.rows = rows_along(logits.ndim() > 1 ? 1 : 0, tensors);
    addresses(launch, arguments);
    const bool adds_up = mode == Loss::kTotal || mode == Loss::kPartial, one_group = mode == Loss::kFinish;
    const uint32_t along = adds_up || one_group ? kGroupSize : threads_along(arguments.rows.extent);
    const uint32_t groups = one_group ? 1
                            : adds_up ? parts_of(arguments.rows.count)
                                      : groups_for(uint64_t(arguments.rows.count) * along, recorder);
    launch.run(Loss{.mode = mode,
                    .along = along,
                    .label_type = uint32_t(labels.dtype()),
                    .has_weight = weight.defined(),
                    .smooth = arguments.smoothing > 0,
                    .type = uint32_t(logits.dtype()),
                    .fours = can_move_in_fours(arguments.rows, tensors)},
               {groups}, bytes_of(arguments));
  }

  // The workgroups that add up so many rows. Their sums are added up by one.
  static uint32_t parts_of(uint32_t rows) {
    constexpr uint32_t kRows = 1 << 14, kMost = 256;
    return std::clamp((rows + kRows - 1) / kRows, 1u, kMost);
  }
  uint32_t row_count() const {
    const Tensor* tensors[] = {&logits, &result};
    return rows_along(logits.ndim() > 1 ? 1 : 0, tensors).count;
  }
  // Writes the sum of the rows' weights: the divisor of a mean.
  void sum_weights(const Scratch& total) const {
    const uint32_t parts = parts_of(row_count());
    const Scratch sums(recorder, size_t(parts) * 4);
    const Scratch& first = parts == 1 ? total : sums;
    pass(Loss::kTotal,
         [&](Launch& launch, CrossEntropyArguments& arguments) { arguments.result = launch.writes(first); });
    if (parts > 1)
      pass(Loss::kFinish, [&](Launch& launch, CrossEntropyArguments& arguments) {
        arguments.losses = launch.reads(sums);
        arguments.parts = parts;
        arguments.result = launch.writes(total);
      });
  }
  // Writes the sum of the rows' losses, divided by the total if there is one.
  void sum_losses(const Scratch& losses, const Scratch* total, const Tensor& loss) const {
    const uint32_t rows = row_count(), parts = parts_of(rows);
    const Scratch sums(recorder, size_t(parts) * 4);
    if (parts > 1)
      pass(Loss::kPartial, [&](Launch& launch, CrossEntropyArguments& arguments) {
        arguments.losses = launch.reads(losses);
        arguments.result = launch.writes(sums);
      });
    pass(Loss::kFinish, [&](Launch& launch, CrossEntropyArguments& arguments) {
      arguments.losses = launch.reads(parts > 1 ? sums : losses);
      arguments.parts = parts > 1 ? parts : rows;
      if (total) arguments.total = launch.reads(*total);
      arguments.result = launch.writes(loss);
    });
  }
};

void run_cross_entropy(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &logits = call.input(0), &loss = call.output(0), &lse = call.output(1);
  const CrossEntropy work{call,   logits,  contiguous_input(call, 1), contiguous_input(call, 2),
                          logits, recorder};
  const bool each = work.reduction() == Reduction::none;
  const Scratch losses(recorder, std::max<size_t>(size_t(lse.numel()), 1) * 4), total(recorder, 4);
  work.pass(Loss::kForward, [&](Launch& launch, CrossEntropyArguments& arguments) {
    arguments.losses = each ? launch.writes(loss) : launch.writes(losses);
    arguments.lse = launch.writes(lse);
  });
  if (each) return;
  const bool mean = work.reduction() == Reduction::mean;
  if (mean) work.sum_weights(total);
  work.sum_losses(losses, mean ? &total : nullptr, loss);
}

void run_cross_entropy_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor grad = contiguous_input(call, 0), lse = contiguous_input(call, 3);
  const CrossEntropy work{call,          call.input(1), contiguous_input(call, 2), contiguous_input(call, 4),
                          call.output(), recorder};
  const Scratch total(recorder, 4);
  const bool mean = work.reduction() == Reduction::mean;
  if (mean) work.sum_weights(total);
  work.pass(Loss::kBackward, [&](Launch& launch, CrossEntropyArguments& arguments) {
    arguments.grad = launch.reads(grad);
    arguments.grad_step = work.reduction() == Reduction::none;
    arguments.lse = launch.reads(lse);
    if (mean) arguments.total = launch.reads(total);
    arguments.result = launch.writes(call.output());
  });
}

bool is_f32_or_half(const Tensor& x) { return x.dtype() == DType::f32 || is_16bit_float(x.dtype()); }

// Runs the kernel of an elementwise record: computes in f32 and rounds to the type of `out`.
void run_row(const char* name, Operands in, const Tensor& out, Recorder& recorder) {
  Call call;
  call.op = find_op(name);
  call.in = std::move(in);
  call.out = {out};
  find_kernel(*call.op)->run(call, recorder);
}

bool supports_mse(const Call& call) {
  return is_f32_or_half(call.input(0)) && is_f32_or_half(call.input(1)) && indexable(call.input(0));
}
void run_mse(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor &x = call.input(0), &target = call.input(1), &loss = call.output();
  const Reduction reduction = Reduction(call.integer(0));
  if (reduction == Reduction::none) {
    const Tensor apart = Tensor::empty(x.shape(), DType::f32, x.device());
    run_row("sub", {x, target}, apart, recorder);
    return run_row("square", {apart}, loss, recorder);
  }
  DimReduction work =
      float_reduction({.map = shaders::Reduce::kSquaredError}, x, dim_mask("mse_loss", {}, x.shape()), loss);
  work.other = &target;
  if (reduction == Reduction::mean) work.factor = float(1 / double(x.numel()));
  reduce_dims(work, recorder);
}

// grad (input - target) is the gradient of lerp(target, input, weight) by the weight.
bool supports_mse_grad(const Call& call) {
  return call.input(0).dtype() == DType::f32 && is_f32_or_half(call.input(1)) &&
         is_f32_or_half(call.input(2)) && indexable(call.input(1));
}
void run_mse_grad(const Call& call, Recorder& recorder) {
  run_row("_lerp_grad_c", {call.input(0), call.input(2), call.input(1), {}, {}}, call.output(), recorder);
}

// The mean or sum of a loss of two elements (runtime/ops/loss/reduced_loss.cpp).
bool supports_reduced(const Call& call) {
  return call.input(0).dtype() != DType::f64 && indexable(call.input(0));
}
void run_reduced(const Call& call, Recorder& recorder) {
  using shaders::Reduce;
  constexpr int kTermAt = 0, kParameterAt = 1, kMeanAt = 2;
  constexpr uint32_t kMaps[] = {Reduce::kHuber, Reduce::kCrossEntropy, Reduce::kDivergence,
                                Reduce::kLogDivergence};
  const Tensor &x = call.input(0), &target = call.input(1);
  DimReduction work = float_reduction({.map = kMaps[call.integer(kTermAt)]}, x,
                                      dim_mask(call.op->name, {}, x.shape()), call.output());
  work.other = &target;
  work.exponent = float(call.real(kParameterAt));
  if (call.flag(kMeanAt)) work.factor = float(1 / double(x.numel()));
  reduce_dims(work, recorder);
}

}  // namespace

std::vector<KernelEntry> loss_kernels() {
  return {{find_op("_cross_entropy"), {supports_class_loss, run_cross_entropy}},
          {find_op("_cross_entropy_grad"), {supports_class_loss_grad, run_cross_entropy_grad}},
          {find_op("mse_loss"), {supports_mse, run_mse}},
          {find_op("_mse_loss_grad"), {supports_mse_grad, run_mse_grad}},
          {find_op("_reduced_loss"), {supports_reduced, run_reduced}}};
}

}  // namespace lunagrad::gpu
