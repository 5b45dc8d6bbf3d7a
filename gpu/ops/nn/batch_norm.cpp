// batch_norm in training and evaluation, and its gradient, for f32, f16 and bf16 with f32 statistics and
// weights (gpu/ops/nn/batch_norm.comp).
#include "gpu/ops/nn/batch_norm.h"

#include <algorithm>

#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::BatchNorm;
// Parameters of runtime/ops/nn/batch_norm.cpp.
constexpr int kBatchNormEpsAt = 0, kBatchNormTrainingAt = 1, kBatchNormInputWantedAt = 2;

bool supports_batch_norm(const Call& call, size_t of_channels, DType type) {
  if (type != DType::f32 && !is_16bit_float(type)) return false;
  for (size_t i = 0; i < call.in.size(); ++i)
    if (call.in[i].defined() &&
        (call.in[i].dtype() != (i < of_channels ? type : DType::f32) || !indexable(call.in[i])))
      return false;
  return call.input(0).numel() > 0;
}
bool supports_batch_norm_forward(const Call& call) {
  return supports_batch_norm(call, 1, call.input(0).dtype());
}
bool supports_batch_norm_backward(const Call& call) {
  return supports_batch_norm(call, 2, call.input(1).dtype());
}

// Channels that a workgroup sums side by side. If images have one element, adjacent channels are adjacent in
// memory.
constexpr uint32_t kAcross = 32;

}  // namespace

BatchNormPasses::BatchNormPasses(const Tensor& x, const Tensor& grad, double eps, Recorder& recorder)
    : x_(x), grad_(grad), recorder_(recorder) {
  const Shape& shape = x.shape();
  a_.channels = uint32_t(shape[1]);
  a_.elements = uint32_t(x.numel());
  a_.size = uint32_t(x.numel() / (shape[0] * shape[1]));
  a_.eps = float(eps);
  a_.by_size = Divisor(a_.size);
  a_.by_channels = Divisor(a_.channels);
  constants_.type = uint32_t(x.dtype());
  constants_.aligned = x.offset() % 4 == 0 && (!grad.defined() || grad.offset() % 4 == 0);
  constants_.whole = a_.size % 4 == 0;
  static_assert(offsetof(Arguments, channels) == 96 && sizeof(Arguments) == 152);
  divide_sums();
}

void BatchNormPasses::use(const Tensor& weight, const Tensor& bias) {
  weight_ = weight, bias_ = bias;
  constants_.has_weight = weight.defined();
  constants_.has_bias = bias.defined();
}
template <class F>
void BatchNormPasses::sum(uint32_t mode, uint32_t merging_mode, F&& results) {
  const bool divided = a_.part_count > 1;
  const Scratch parts(recorder_, divided ? size_t(a_.part_count) * 3 * a_.channels * 4 : 8);
  {
    Launch launch(recorder_);
    Arguments a = a_;
    a.x = launch.reads(x_);
    if (mode == BatchNorm::kSums) a.grad = launch.reads(grad_);
    if (divided) a.parts = launch.writes(parts);
    results(launch, a);
    run(launch, a, mode, across_, a.part_count);
  }
  if (!divided) return;
  Launch launch(recorder_);
  Arguments a = a_;
  a.x = launch.reads(x_);
  a.parts = launch.reads(parts);
  results(launch, a);
  run(launch, a, merging_mode, kAcross, 1);
}

void BatchNormPasses::find(const Moments& moments) {
  sum(BatchNorm::kMoments, BatchNorm::kMergeMoments, [&](Launch& launch, Arguments& a) {
    a.mean = launch.writes(moments.mean);
    a.var = launch.writes(moments.var);
    a.rstd = launch.writes(moments.rstd);
  });
}

void BatchNormPasses::normalize(const Moments& moments, const Tensor& result) {
  Launch launch(recorder_);
  Arguments a = a_;
  a.x = launch.reads(x_);
  read_channels(launch, a, moments);
  if (bias_.defined()) a.bias = launch.reads(bias_);
  visit(launch, a, BatchNorm::kNormalize, result);
}

void BatchNormPasses::sums(const Moments& moments, const Tensor& dweight, const Tensor& dbias,
                           const Scratch* slopes) {
  sum(BatchNorm::kSums, BatchNorm::kMergeSums, [&](Launch& launch, Arguments& a) {
    read_channels(launch, a, moments);
    a.dweight = launch.writes(dweight);
    a.dbias = launch.writes(dbias);
    if (slopes) a.slopes = launch.writes(*slopes);
  });
}

void BatchNormPasses::input_gradient(const Moments& moments, const Scratch& slopes, const Tensor& result) {
  Launch launch(recorder_);
  Arguments a = a_;
  if (constants_.training) {
    a.x = launch.reads(x_);
    read_moments(launch, a, moments);
  }
  a.grad = launch.reads(grad_);
  a.slopes = launch.reads(slopes);
  visit(launch, a, BatchNorm::kInputGradient, result);
}

// Divides a channel into parts, so that few channels keep the device busy too. A part has at least a block of
// elements for each invocation; no invocation has more than 8192 blocks.
void BatchNormPasses::divide_sums() {
  const uint32_t unit = in_vectors() ? 4 : 1, image = a_.size / unit;
  across_ = a_.size == 1 && a_.channels >= kAcross / 2 ? kAcross : 1;
  a_.units = a_.elements / a_.channels / unit;
  a_.by_units = Divisor(image);
  const uint32_t columns = (a_.channels + across_ - 1) / across_;
  const uint32_t block = kGroupSize / across_ * BatchNorm::kBlock * (4 / unit);
  const uint64_t blocks = (uint64_t(a_.units) + block - 1) / block;
  const uint64_t wanted = std::max<uint64_t>(recorder_.rates.busy_groups(4) / columns, blocks / 8192 + 1);
  const uint64_t parts = std::min(wanted, blocks);
  a_.each = uint32_t((a_.units + parts - 1) / parts);
  a_.part_count = (a_.units + a_.each - 1) / a_.each;
}

void BatchNormPasses::read_moments(Launch& launch, Arguments& a, const Moments& moments) {
  a.mean = launch.reads(moments.mean);
  if (moments.rstd.defined())
    a.rstd = launch.reads(moments.rstd);
  else
    a.var = launch.reads(moments.var);
}

void BatchNormPasses::read_channels(Launch& launch, Arguments& a, const Moments& moments) const {
  read_moments(launch, a, moments);
  if (weight_.defined()) a.weight = launch.reads(weight_);
}

void BatchNormPasses::run(Launch& launch, const Arguments& a, uint32_t mode, uint32_t across,
                          uint32_t parts) {
  const PhysicalDevice& physical = recorder_.physical;
  BatchNorm constants = constants_;
  constants.mode = mode;
  constants.along = kGroupSize;
  constants.across = across;
  constants.subgroup =
      physical.subgroup_sums && kGroupSize % physical.subgroup_size == 0 ? physical.subgroup_size : 0;
  const uint64_t groups = uint64_t((a.channels + across - 1) / across) * parts;
  launch.run(constants, {group_count(groups, recorder_)}, bytes_of(a));
}

void BatchNormPasses::visit(Launch& launch, Arguments& a, uint32_t mode, const Tensor& result) {
  a.result = launch.writes(result);
  BatchNorm constants = constants_;
  constants.mode = mode;
  const uint64_t width = kGroupSize * 4 * BatchNorm::kTogether;
  launch.run(constants, {group_count((a.elements + width - 1) / width, recorder_)}, bytes_of(a));
}

namespace {

void run_batch_norm_train(const Call& call, Recorder& recorder) {
  const NoGrad off;
  BatchNormPasses passes(contiguous_input(call, 0), {}, call.real(kBatchNormEpsAt), recorder);
  passes.use(contiguous_input(call, 1), contiguous_input(call, 2));
  const BatchNormPasses::Moments moments{call.output(1), call.output(2), call.output(3)};
  passes.find(moments);
  passes.normalize(moments, call.output());
}

void run_batch_norm_eval(const Call& call, Recorder& recorder) {
  const NoGrad off;
  BatchNormPasses passes(contiguous_input(call, 0), {}, call.real(kBatchNormEpsAt), recorder);
  passes.use(contiguous_input(call, 3), contiguous_input(call, 4));
  passes.normalize({contiguous_input(call, 1), contiguous_input(call, 2), {}}, call.output());
}

// Outputs: the gradients of input, weight and bias. The input's gradient is empty if it is not wanted.
void run_batch_norm_backward(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const BatchNormPasses::Moments moments{contiguous_input(call, 2), contiguous_input(call, 3),
                                         contiguous_input(call, 5)};
  const bool wanted = call.flag(kBatchNormInputWantedAt);
  BatchNormPasses passes(contiguous_input(call, 1), contiguous_input(call, 0), call.real(kBatchNormEpsAt),
                         recorder);
  passes.use(contiguous_input(call, 4), {});
  passes.be_training(call.flag(kBatchNormTrainingAt));
  const Scratch slopes(recorder, size_t(3) * size_t(moments.mean.numel()) * 4);
  passes.sums(moments, call.output(1), call.output(2), wanted ? &slopes : nullptr);
  if (wanted) passes.input_gradient(moments, slopes, call.output(0));
}

}  // namespace

std::vector<KernelEntry> batch_norm_kernels() {
  return {{find_op("_batch_norm_train"), {supports_batch_norm_forward, run_batch_norm_train}},
          {find_op("_batch_norm_eval"), {supports_batch_norm_forward, run_batch_norm_eval}},
          {find_op("_batch_norm_grad"), {supports_batch_norm_backward, run_batch_norm_backward}}};
}

}  // namespace lunagrad::gpu
