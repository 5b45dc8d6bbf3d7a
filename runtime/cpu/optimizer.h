#pragma once
// The arithmetic of the optimizers on one stretch of a parameter, its gradient and its state, compiled for
// each SIMD target. Pure loops: they neither allocate nor throw, and any thread may run them.
#include <cstdint>

namespace lunagrad {

// One step's numbers, worked out once for all parameters.
struct SgdStep {
  double lr, momentum, dampening, weight_decay;
  bool first, nesterov, maximize;  // first: the momentum buffer is still empty
};
struct AdamStep {
  double beta1, beta2, eps, weight_decay;
  double step_size;        // lr / (1 - beta1^t)
  double root_correction;  // sqrt(1 - beta2^t)
  double decay;            // decoupled weight decay: parameters are multiplied by this first; 1 for none
  bool maximize;
};

// T: float, double, Half, BFloat16 (16-bit values are computed as float). `buffer` is null without momentum,
// `largest` without amsgrad.
template <class T>
void sgd_stretch(const SgdStep&, int64_t count, T* param, const T* grad, T* buffer);
template <class T>
void adam_stretch(const AdamStep&, int64_t count, T* param, const T* grad, T* mean, T* square, T* largest);

// Multiplies by a number, and sums |x|^p (p = 2 with SIMD).
template <class T>
void scale_stretch(int64_t count, T* x, double factor);
template <class T>
double power_sum(int64_t count, const T* x, double p);
template <class T>
double largest_magnitude(int64_t count, const T* x);  // NaN if there is one

}  // namespace lunagrad
