#pragma once
// The passes of batch_norm over x [batch, channels, …] (gpu/shaders/batch_norm.comp): for batch_norm itself,
// and for group_norm, which takes the channels of each sample as channels of their own.
#include "gpu/kernels.h"
#include "gpu/kernels/divisor.h"

namespace lunagrad::gpu {

class BatchNormPasses {
 public:
  // Both tensors are contiguous; grad, of the result, may be undefined.
  BatchNormPasses(const Tensor& x, const Tensor& grad, double eps, Recorder&);

  // f32 [channels], contiguous; may be undefined.
  void use(const Tensor& weight, const Tensor& bias);
  void be_training(bool training) { constants_.training = training; }

  // Of each channel the mean, the variance without correction, and 1 / sqrt(variance + eps), which those who
  // have it read instead of the variance: it may be undefined.
  struct Moments {
    Tensor mean, var, rstd;
  };
  void find(const Moments&);
  void normalize(const Moments&, const Tensor& result);
  // For each channel the sum of g / sqrt(var + eps) (x - mean), and the sum of g. slopes: those that
  // input_gradient() reads; null if it is not wanted.
  void sums(const Moments&, const Tensor& dweight, const Tensor& dbias, const Scratch* slopes);
  // slopes[0] g + slopes[1] (x - mean) + slopes[2], with slopes f32 [3, channels]. Where 1 / sqrt(var + eps)
  // is extreme, x - mean is scaled (shaders/square_levels.glsl).
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
