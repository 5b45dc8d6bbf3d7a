// layer_norm and rms_norm with their gradients, of f32, f16 or bf16 (gpu/ops/nn/norm.comp).
#include <algorithm>
#include <limits>

#include "gpu/ops/copy.h"
#include "gpu/ops/kernels.h"
#include "gpu/ops/rows.h"
#include "gpu/ops/through_f32.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::Norm;
constexpr int kNormShapeAt = 0, kNormEpsAt = 1, kNormWantedAt = 2;  // parameters of runtime/ops/nn/norm.cpp

struct PushConstants {
  uint64_t x, weight, bias, result, moments, parts;
  float eps;
  uint32_t count, size, blocks;
};
static_assert(sizeof(PushConstants) <= kPushConstantBytes);

bool supports_norm(const Call& call) {
  return have_one_float_type(call) && std::all_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
           return !x.defined() || indexable(x);
         });
}

PushConstants push_constants_of(const Call& call, const Tensor& x) {
  PushConstants push{};
  const Value& eps = call.params[kNormEpsAt];
  push.eps = eps.kind == Value::Kind::real      ? float(eps.f)
             : eps.kind == Value::Kind::integer ? float(eps.i)
                                                : std::numeric_limits<float>::epsilon();
  push.size = uint32_t(numel(call.list(kNormShapeAt)));
  push.count = uint32_t(x.numel() / std::max<int64_t>(push.size, 1));
  return push;
}

struct Form {
  uint32_t mode;
  bool centred, weight = false, bias = false;
  RowPlan plan{kGroupSize, 0};
  bool sums = false;
  DType type = DType::f32;
};
void launch_norm(Launch& launch, const Form& form, const PushConstants& push, uint64_t groups,
                 Recorder& recorder) {
  launch.run(Norm{.mode = form.mode,
                  .along = form.plan.along,
                  .centred = form.centred,
                  .has_weight = form.weight,
                  .has_bias = form.bias,
                  .sums = form.sums,
                  .type = uint32_t(form.type),
                  .held = form.plan.held,
                  .subgroup = form.plan.subgroup},
             {group_count(groups, recorder)}, {}, bytes_of(push));
}
uint64_t groups_of_rows(const PushConstants& push, const RowPlan& plan) {
  return (push.count + plan.together() - 1) / plan.together();
}

template <bool centred>
void run_norm_forward(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor x = contiguous(call.input(0));
  const Tensor weight = call.has(1) ? contiguous(call.input(1)) : Tensor();
  const Tensor bias = centred && call.has(2) ? contiguous(call.input(2)) : Tensor();
  Launch launch(recorder);
  PushConstants push = push_constants_of(call, x);
  push.x = launch.reads(x);
  if (weight.defined()) push.weight = launch.reads(weight);
  if (bias.defined()) push.bias = launch.reads(bias);
  push.result = launch.writes(call.output());
  const Tensor* const tensors[] = {&x, &weight, &bias, &call.output()};
  const RowPlan plan = plan_rows(push.size, tensors, recorder.physical);
  launch_norm(launch, {Norm::kForward, centred, weight.defined(), bias.defined(), plan, false, x.dtype()},
              push, groups_of_rows(push, plan), recorder);
}

// Outputs: the gradients of input, weight and bias. A gradient that is not wanted is empty.
template <bool centred>
void run_norm_backward(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const Tensor g = contiguous(call.input(0)), x = contiguous(call.input(1));
  const Tensor weight = call.has(2) ? contiguous(call.input(2)) : Tensor();
  const auto wanted = [&](int output) {
    return output < int(call.out.size()) && call.flag(kNormWantedAt + output);
  };
  PushConstants push = push_constants_of(call, x);
  if (push.count == 0) {  // no rows: sums are 0
    for (const int output : {1, 2})
      if (wanted(output)) copy(call.output(output), Tensor::number(0.0), recorder);
    return;
  }
  const bool sums = wanted(1) || wanted(2);
  const Tensor* const tensors[] = {&x, &g, &weight};
  const RowPlan plan = plan_rows(push.size, tensors, recorder.physical);
  const uint64_t groups = groups_of_rows(push, plan),
                 column_groups = (push.size + kGroupSize - 1) / kGroupSize;
  // If rows are held in registers, the sums over rows are computed in the same dispatch. It has as many
  // workgroups as keep the device busy, or fewer, so that each has at least four rounds. Longer rows are read
  // a second time, column by column.
  const bool at_once = sums && plan.held > 0;
  push.blocks = uint32_t(at_once ? std::clamp<uint64_t>(groups / 4, 1, recorder.rates.busy_groups(2))
                                 : std::clamp<uint64_t>(recorder.rates.busy_groups(4) / column_groups, 1,
                                                        std::max<uint64_t>(1, push.count / 16)));
  const Scratch moments(recorder, sums && !at_once ? size_t(push.count) * 12 : 8);
  const Scratch parts(recorder, sums ? size_t(push.blocks) * 2 * push.size * 4 : 8);
  {
    Launch launch(recorder);
    PushConstants rows = push;
    rows.x = launch.reads(x);
    rows.bias = launch.reads(g);
    if (weight.defined()) rows.weight = launch.reads(weight);
    if (wanted(0)) rows.result = launch.writes(call.output(0));
    if (at_once) rows.parts = launch.writes(parts);
    if (sums && !at_once) rows.moments = launch.writes(moments);
    launch_norm(launch, {Norm::kBackward, centred, weight.defined(), false, plan, at_once, x.dtype()}, rows,
                at_once ? push.blocks : groups, recorder);
  }
  if (!sums) return;
  if (!at_once) {
    Launch launch(recorder);
    PushConstants columns = push;
    columns.x = launch.reads(x);
    columns.bias = launch.reads(g);
    columns.moments = launch.reads(moments);
    columns.parts = launch.writes(parts);
    launch_norm(launch, {.mode = Norm::kColumns, .centred = centred, .type = x.dtype()}, columns,
                column_groups * push.blocks, recorder);
  }
  Launch launch(recorder);
  PushConstants totals = push;
  totals.parts = launch.reads(parts);
  if (wanted(1)) totals.weight = launch.writes(call.output(1));
  if (wanted(2)) totals.bias = launch.writes(call.output(2));
  launch_norm(launch, {.mode = Norm::kTotals, .centred = centred, .type = x.dtype()}, totals,
              (2 * uint64_t(push.size) + Norm::kColumnsOfGroup - 1) / Norm::kColumnsOfGroup, recorder);
}

}  // namespace

std::vector<KernelEntry> norm_kernels() {
  return {{find_op("layer_norm"), {supports_norm, run_norm_forward<true>}},
          {find_op("rms_norm"), {supports_norm, run_norm_forward<false>}},
          {find_op("_layer_norm_grad"), {supports_norm, run_norm_backward<true>}},
          {find_op("_rms_norm_grad"), {supports_norm, run_norm_backward<false>}}};
}

}  // namespace lunagrad::gpu
