#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
      // losses; reduction 0 is none, 1 mean, 2 sum
      {"mse_loss", {real({2, 3}), real({2, 3})}},
      {"mse_loss", {real({2, 3}), real({2, 3})}, {0}},
      {"l1_loss", {real({2, 3}), real({2, 3})}},
      {"huber_loss", {real({2, 3}), real({2, 3})}, {2, 0.7}},
      {"smooth_l1_loss", {real({2, 3}), real({2, 3})}, {1, 0.7}},
      {"binary_cross_entropy", {real({2, 3}, 0.1, 0.9), real({2, 3}, 0, 1), real({3})}},
      {"binary_cross_entropy_with_logits", {real({2, 3}), real({2, 3}, 0, 1)}},
      {"binary_cross_entropy_with_logits",
       {real({2, 3}), real({2, 3}, 0, 1), real({3}), real({3}, 0.5, 2)},
       {2}},
      {"nll_loss", {real({4, 5}), index({4}, 0, 5), real({5}, 0.5, 2)}},
      {"nll_loss", {real({4, 5, 2}), index({4, 2}, 0, 5)}, {1, 0}},
      {"kl_div", {real({2, 3}), real({2, 3}, 0.1, 1)}},
      {"kl_div", {real({2, 3}), real({2, 3})}, {3, true}},
      {"cross_entropy", {real({4, 5}), index({4}, 0, 5)}},
      {"cross_entropy", {real({5}), index({}, 0, 5)}},
      {"cross_entropy", {real({4, 5, 3}), index({4, 3}, 0, 5)}, {2, 0, 0.1}},
      {"cross_entropy", {real({4, 5}), real({4, 5}, 0, 1)}, {{}, 1, 0.2}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"nll_loss",
       {real({2, 3}), index({2}, 3, 4)},
       {},
       "nll_loss: label 3 at position 1 is out of range for 3 classes (labels count from 0)"},
      {"mse_loss",
       {real({4, 1}), real({4})},
       {},
       "mse_loss: input has shape [4, 1] and target [4]; they must be the same"},
      {"cross_entropy",
       {real({2, 3}), index({2}, 3, 4)},
       {},
       "cross_entropy: label 3 at position 1 is out of range for 3 classes (labels count from 0)"},
      {"cross_entropy",
       {real({2, 3}), index({3}, 0, 3)},
       {},
       "cross_entropy: an input of shape [2, 3] needs class ids of shape [2] or probabilities of shape [2, "
       "3] (got "
       "i64 of shape [3])"},
      {"cross_entropy",
       {real({2, 3}), index({2}, 0, 3), real({2})},
       {},
       "cross_entropy: the weight must have shape [3] (got [2])"},
  };
}

}  // namespace

extern const SampleFamily kLoss{good, bad};

}  // namespace lunagrad::tests
