// group_norm of large images, f32: the passes of batch_norm over the channels of each sample, and between
// them a kernel that combines the channels of groups. Smaller images are composed of other ops.
#include "gpu/ops/nn/batch_norm.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::GroupNorm;
// Parameters of runtime/ops/nn/group_norm.cpp.
enum { kGroupNormGroupsAt, kGroupNormEpsAt, kGroupNormWantedAt };

struct GroupNormArguments {
  uint64_t mean, var, rstd, weight, bias, spread_weight, spread_bias, dweight, dbias, slopes;
  uint64_t weight_result, bias_result;
  uint32_t groups, group_channels, channels, samples;
  float elements, eps;
};
static_assert(offsetof(GroupNormArguments, groups) == 96);

// A workgroup sums one channel of one sample: a smaller channel would leave most of its invocations idle.
constexpr int64_t kLeastElements = 256;

bool supports_group_norm(const Call& call, int input) {
  const Tensor& x = call.input(input);
  return all_f32(call) && indexable(x) && x.numel() > 0 &&
         x.numel() / (x.size(0) * x.size(1)) >= kLeastElements;
}
bool supports_group_norm_forward(const Call& call) { return supports_group_norm(call, 0); }
bool supports_group_norm_backward(const Call& call) { return supports_group_norm(call, 1); }

// One call: x seen as [1, samples x channels, elements].
class Normalization {
 public:
  Normalization(const Call& call, const Tensor& x, const Tensor& grad, const Tensor& weight,
                Recorder& recorder)
      : recorder_(recorder),
        device_(x.device()),
        samples_(x.size(0)),
        channels_(x.size(1)),
        weight_(weight),
        moments_{made(), made(), made()},
        passes_(seen(x), grad.defined() ? seen(grad) : grad, call.real(kGroupNormEpsAt), recorder) {
    a_.groups = uint32_t(call.integer(kGroupNormGroupsAt));
    a_.channels = uint32_t(channels_);
    a_.group_channels = a_.channels / a_.groups;
    a_.samples = uint32_t(samples_);
    a_.elements = float(x.numel() / (samples_ * channels_));
    a_.eps = float(call.real(kGroupNormEpsAt));
  }

  void forward(const Tensor& bias, const Tensor& result) {
    const Tensor weights = weight_.defined() ? made() : Tensor(), biases = bias.defined() ? made() : Tensor();
    passes_.find(moments_);
    meet(bias, weights, biases);
    passes_.use(weights, biases);
    passes_.normalize(moments_, seen(result));
  }

  // An undefined result is not computed.
  void backward(const Tensor& dx, const Tensor& dweight, const Tensor& dbias) {
    const Tensor weight_sums = made(), bias_sums = made();
    passes_.find(moments_);
    meet({}, {}, {});
    passes_.sums(moments_, weight_sums, bias_sums, nullptr);
    if (dx.defined()) {
      const Scratch slopes(recorder_, size_t(3) * size_t(samples_ * channels_) * 4);
      {
        Launch launch(recorder_);
        GroupNormArguments a = a_;
        a.rstd = launch.reads(moments_.rstd);
        read_sums(launch, a, weight_sums, bias_sums);
        if (weight_.defined()) a.weight = launch.reads(weight_);
        a.slopes = launch.writes(slopes);
        run(launch, GroupNorm::kSlopes, a, samples_ * a.groups);
      }
      passes_.input_gradient(moments_, slopes, seen(dx));
    }
    if (!dweight.defined() && !dbias.defined()) return;
    Launch launch(recorder_);
    GroupNormArguments a = a_;
    read_sums(launch, a, weight_sums, bias_sums);
    if (dweight.defined()) a.weight_result = launch.writes(dweight);
    if (dbias.defined()) a.bias_result = launch.writes(dbias);
    run(launch, GroupNorm::kTotals, a, (channels_ + GroupNorm::kThreads - 1) / GroupNorm::kThreads);
  }

 private:
  Tensor made() const { return Tensor::empty({samples_ * channels_}, DType::f32, device_); }
  Tensor seen(const Tensor& x) const {
    return reshape(x, {1, samples_ * channels_, x.numel() / (samples_ * channels_)});
  }

  void meet(const Tensor& bias, const Tensor& weights, const Tensor& biases) {
    Launch launch(recorder_);
    GroupNormArguments a = a_;
    a.var = launch.reads(moments_.var);
    launch.reads(moments_.mean);
    launch.reads(moments_.rstd);
    a.mean = launch.writes(moments_.mean);
    a.rstd = launch.writes(moments_.rstd);
    if (weights.defined()) {
      a.weight = launch.reads(weight_);
      a.spread_weight = launch.writes(weights);
    }
    if (biases.defined()) {
      a.bias = launch.reads(bias);
      a.spread_bias = launch.writes(biases);
    }
    run(launch, GroupNorm::kMeet, a, samples_ * a.groups);
  }

  static void read_sums(Launch& launch, GroupNormArguments& a, const Tensor& dweight, const Tensor& dbias) {
    a.dweight = launch.reads(dweight);
    a.dbias = launch.reads(dbias);
  }

  void run(Launch& launch, uint32_t mode, const GroupNormArguments& a, int64_t groups) {
    launch.run(GroupNorm{.mode = mode, .has_weight = a.weight != 0},
               {group_count(uint64_t(groups), recorder_)}, bytes_of(a));
  }

  Recorder& recorder_;
  Device& device_;
  int64_t samples_, channels_;
  Tensor weight_;
  BatchNormPasses::Moments moments_;
  BatchNormPasses passes_;
  GroupNormArguments a_{};
};

void run_group_norm_forward(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Normalization(call, contiguous_input(call, 0), {}, contiguous_input(call, 1), recorder)
      .forward(contiguous_input(call, 2), call.output());
}

void run_group_norm_backward(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const auto wanted = [&](int i) { return call.flag(kGroupNormWantedAt + i) ? call.output(i) : Tensor(); };
  Normalization(call, contiguous_input(call, 1), contiguous_input(call, 0), contiguous_input(call, 2),
                recorder)
      .backward(wanted(0), wanted(1), wanted(2));
}

}  // namespace

std::vector<KernelEntry> group_norm_kernels() {
  return {{find_op("group_norm"), {supports_group_norm_forward, run_group_norm_forward}},
          {find_op("_group_norm_grad"), {supports_group_norm_backward, run_group_norm_backward}}};
}

}  // namespace lunagrad::gpu
