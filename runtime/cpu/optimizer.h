#pragma once
// The arithmetic of the optimizers on contiguous elements of a parameter, its gradient and its state, compiled
// for each SIMD target. Pure loops: they neither allocate nor throw, and any thread may run them.
#include <array>
#include <cstdint>

namespace lunagrad {

// The numbers of a rule are computed once for all parameters. The comment of each rule gives their order,
// optimizer_kernels.cpp the formula. `sign` is -1 to maximize the objective. A positive `decay` adds decay p to
// the gradient; a negative one is decoupled weight decay: it multiplies the parameter by 1 + decay.
enum class Rule : uint8_t {
  sgd,       // lr, decay, sign
  momentum,  // lr, decay, sign, momentum, 1 - dampening, first step (0 or 1), nesterov (0 or 1)
  adam,      // beta1, beta2, eps, decay, step size, sqrt(1 - beta2^t), sign
  amsgrad,   // the same; the third state is the maximum of the second
  nadam,     // beta1, beta2, eps, decay, rate of the gradient, rate of the mean, sqrt(1 - beta2^t), sign
  radam,     // beta1, beta2, eps, decay, rate, adaptive (0 or 1), sign
  adamax,    // beta1, beta2, eps, decay, rate, sign
  rmsprop,   // lr, alpha, eps, decay, sign, momentum, centered
  rmsprop_momentum,
  rmsprop_centered,
  rmsprop_both,
  adagrad,   // lr, eps, decay, sign
  adadelta,  // lr, rho, eps, decay, sign
  lion,      // lr, beta1, beta2, decay, sign
  ema        // decay of the average; the "gradient" is the value that is averaged
};
using RuleNumbers = std::array<double, 8>;

constexpr int kMostStates = 3;
constexpr int states_of(Rule rule) {
  constexpr int kStates[] = {0, 1, 2, 3, 2, 2, 2, 1, 2, 2, 3, 1, 2, 1, 0};
  return kStates[int(rule)];
}

// The index of the sign (of the decay) among a rule's numbers; -1: the rule has none.
constexpr int sign_at(Rule rule) {
  constexpr int kAt[] = {2, 2, 6, 6, 7, 6, 5, 4, 4, 4, 4, 3, 4, 4, -1};
  return kAt[int(rule)];
}
constexpr int decay_at(Rule rule) {
  constexpr int kAt[] = {1, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 2, 3, 3, -1};
  return kAt[int(rule)];
}

// One step. arrays: the parameter, the gradient, then the states; all except the gradient are updated. T: float,
// double, Half or BFloat16 (16-bit values are computed as float).
template <class T>
void step_stretch(Rule, const RuleNumbers&, int64_t count, T* const* arrays);

// scale_stretch: x *= factor. power_sum: the sum of |x|^p, with SIMD for p = 2.
template <class T>
void scale_stretch(int64_t count, T* x, double factor);
template <class T>
double power_sum(int64_t count, const T* x, double p);
template <class T>
double largest_magnitude(int64_t count, const T* x);  // NaN if there is one

}  // namespace lunagrad
