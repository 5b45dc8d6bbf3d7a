#pragma once
// Helpers for tests of fused activations: the separate ops, and convolutions for each path of the kernel.
#include <vector>

#include "runtime/ops.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {

inline constexpr Activation kActivations[] = {Activation::relu, Activation::tanh, Activation::sigmoid};

// The activations to try with a test's row number `row`: all in long runs, else one in turn. Each activation
// of each path is a pipeline, and Mesa's CPU driver needs a second to compile one.
inline std::vector<Activation> activations_of(size_t row) {
  if (long_run()) return {std::begin(kActivations), std::end(kActivations)};
  return {kActivations[row % std::size(kActivations)]};
}

inline Tensor apart(const Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::none:
      return x;
    case Activation::relu:
      return relu(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::sigmoid:
      return sigmoid(x);
  }
  return {};
}

struct Convolution {
  Shape image, weight;
  bool bias = true;
  Dims stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;
};

// Pointwise; im2col; rows of full vectors; rows with gaps; groups; no channels.
inline const std::vector<Convolution>& convolutions() {
  static const std::vector<Convolution> all = {{{1, 1, 1, 1}, {1, 1, 1, 1}},
                                               {{2, 6, 9, 7}, {5, 6, 1, 1}},
                                               {{1, 3, 80, 70}, {4, 3, 1, 1}, false},
                                               {{2, 3, 8, 8}, {5, 3, 2, 2}, true, {2}},
                                               {{2, 3, 9, 7}, {5, 3, 3, 3}, true, {1}, {1}},
                                               {{1, 3, 12, 40}, {9, 3, 3, 3}, true, {1}, {1}},
                                               {{2, 3, 9, 7}, {5, 3, 3, 2}, false, {2, 1}, {1, 0}},
                                               {{2, 4, 11, 13}, {6, 2, 3, 3}, true, {2}, {2}, {2}, 2},
                                               {{3, 8, 8, 8}, {8, 1, 3, 3}, true, {1}, {1}, {1}, 8},
                                               {{2, 0, 4, 5}, {3, 0, 2, 2}},
                                               {{3, 5, 40}, {4, 5, 3}, true, {1}, {1}},
                                               {{5, 40}, {4, 5, 3}},
                                               {{2, 2, 5, 6, 7}, {3, 2, 2, 3, 2}, true, {1}, {1}}};
  return all;
}

inline Tensor convolve(const Convolution& c, const Tensor& x, const Tensor& w, const Tensor& b,
                       Activation activation) {
  const auto function = c.weight.size() == 3 ? conv1d : c.weight.size() == 4 ? conv2d : conv3d;
  return function(x, w, b, c.stride, c.padding, c.dilation, c.groups, activation);
}

}  // namespace lunagrad::tests
