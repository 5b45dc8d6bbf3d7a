#pragma once
// The passes of batch_norm over x [batch, channels, …] (gpu/ops/nn/batch_norm.comp). Used by batch_norm
// itself, and by group_norm, which treats the channels of each sample as separate channels.
#include "gpu/ops/divisor.h"
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

class BatchNormPasses {
 public:
  // Both tensors are contiguous; grad is the gradient of the result and may be undefined.
  BatchNormPasses(const Tensor& x, const Tensor& grad, double eps, Recorder&);

  // f32 [channels], contiguous; may be undefined.
  void use(const Tensor& weight, const Tensor& bias);
  void be_training(bool training) { constants_.training = training; }

  // For each channel the mean, the variance without correction, and 1 / sqrt(variance + eps). rstd may be
  // undefined; where it is defined, readers use it instead of var.
  struct Moments {
    Tensor mean, var, rstd;
  };
  void find(const Moments&);
  void normalize(const Moments&, const Tensor& result);
  // For each channel the sum of g / sqrt(var + eps) (x - mean), and the sum of g. slopes: factors for
  // input_gradient(); null if that gradient is not wanted.
  void sums(const Moments&, const Tensor& dweight, const Tensor& dbias, const Scratch* slopes);
  // slopes[0] g + slopes[1] (x - mean) + slopes[2]; slopes are f32 [3, channels]. Where 1 / sqrt(var + eps)
  // is extreme, x - mean is scaled (gpu/ops/glsl/square_levels.glsl).
  void input_gradient(const Moments&, const Scratch& slopes, const Tensor& result);

 private:
  struct Arguments {
    uint64_t x, grad, result;
    uint64_t mean, var, weight, bias;
    uint64_t parts, slopes;
    uint64_t dweight, dbias;
    uint64_t rstd;
    uint32_t channels, size, elements;
    uint32_t units, each;
    uint32_t part_count;
    float eps;
    Divisor by_units, by_size, by_channels;
  };

  bool in_vectors() const { return constants_.aligned && constants_.whole; }
  void divide_sums();
  static void read_moments(Launch&, Arguments&, const Moments&);
  void read_channels(Launch&, Arguments&, const Moments&) const;
  template <class F>
  void sum(uint32_t mode, uint32_t merging_mode, F&& results);
  void run(Launch&, const Arguments&, uint32_t mode, uint32_t across, uint32_t parts);
  void visit(Launch&, Arguments&, uint32_t mode, const Tensor& result);

  const Tensor x_, grad_;
  Tensor weight_, bias_;
  Recorder& recorder_;
  Arguments a_{};
  shaders::BatchNorm constants_;
  uint32_t across_ = 1;
};

}  // namespace lunagrad::gpu
