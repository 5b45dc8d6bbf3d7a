#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
      {"layer_norm", {real({3, 5}), real({5}), real({5})}, {Shape{5}}},
      {"layer_norm", {real({2, 3, 4}), real({3, 4}), absent()}, {Shape{3, 4}, 0.1}},
      // Without a weight the gradient of the sum is 0, and what is left is rounding: 1e-7 beside a scale of
      // 1e-3.
      {"layer_norm", {real({4, 19}), absent(), absent()}, {Shape{19}}, 1e-4},
  };
}

std::vector<BadSample> bad() {
  return {
      {"layer_norm",
       {real({2, 3}), absent(), absent()},
       {Shape{2}},
       "layer_norm: normalized_shape [2] is not what the shape of the input, [2, 3], ends with"},
      {"layer_norm",
       {real({2, 3}), real({2}), real({3})},
       {Shape{3}},
       "layer_norm: weight has shape [2] where normalized_shape is [3]"},
  };
}

}  // namespace

extern const SampleFamily kNorm{good, bad};

}  // namespace lunagrad::tests
