// softmax and log_softmax with their gradients, of f32, f16 or bf16, along any dim of tensors with any
// strides.
#include "gpu/ops/kernels.h"
#include "gpu/ops/rows.h"
#include "gpu/ops/through_f32.h"

namespace lunagrad::gpu {
namespace {

using shaders::Softmax;

struct SoftmaxArguments {
  uint64_t result;
  uint64_t operand[2];
  Rows rows;
};

bool supports_softmax(const Call& call) { return have_one_float_type(call) && has_indexable_rows(call, 0); }

template <uint32_t mode>
void run_softmax(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  const int dim = normalize_dim(call.op->name, call.integer(0), out.shape());
  Launch launch(recorder);
  SoftmaxArguments arguments{};
  const Tensor* tensors[3] = {&out};
  size_t count = 1;
  arguments.result = launch.writes(out);
  for (const Tensor& x : call.in) {
    arguments.operand[count - 1] = launch.reads(x);
    tensors[count++] = &x;
  }
  arguments.rows = rows_along(dim, std::span(tensors, count));
  const RowPlan plan = plan_rows(arguments.rows, std::span(tensors, count), recorder.physical);
  launch.run(Softmax{.mode = mode,
                     .along = plan.along,
                     .type = uint32_t(out.dtype()),
                     .held = plan.held,
                     .subgroup = plan.subgroup},
             {group_count((arguments.rows.count + plan.together() - 1) / plan.together(), recorder)},
             bytes_of(arguments));
}

}  // namespace

std::vector<KernelEntry> softmax_kernels() {
  return {{find_op("softmax"), {supports_softmax, run_softmax<Softmax::kSoftmax>}},
          {find_op("log_softmax"), {supports_softmax, run_softmax<Softmax::kLogSoftmax>}},
          {find_op("_softmax_grad"), {supports_softmax, run_softmax<Softmax::kSoftmaxGrad>}},
          {find_op("_log_softmax_grad"), {supports_softmax, run_softmax<Softmax::kLogSoftmaxGrad>}}};
}

}  // namespace lunagrad::gpu
