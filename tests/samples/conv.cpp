#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
      {"conv2d", {real({2, 3, 5, 6}), real({4, 3, 3, 2}), real({4})}},
      {"conv2d", {real({2, 2, 7, 6}), real({3, 2, 3, 3}), absent()}, {Dims{2, 3}, Dims{2, 1}, Dims{1, 2}}},
      {"conv2d", {real({2, 4, 4, 4}), real({6, 2, 2, 2}), real({6})}, {Dims{1}, Dims{1}, Dims{1}, 2}},
      {"conv2d", {real({3, 5, 5}), real({2, 3, 1, 1}), real({2})}},
      {"conv2d", {real({1, 2, 6, 6}), real({2, 2, 2, 2}), absent()}, {Dims{2}}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"conv2d",
       {real({2, 3}), real({1, 3, 1, 1}), absent()},
       {},
       "conv2d: input must be [N, C, H, W] or [C, H, W] (got shape [2, 3])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 2, 1, 1}), absent()},
       {},
       "conv2d: weight of shape [1, 2, 1, 1] with groups = 1 needs 2 input channels (got input of shape [2, "
       "3, 4, 4])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 3, 5, 1}), absent()},
       {},
       "does not fit into the padded input: dim 3 has 4 elements, the kernel reaches over 5"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 3, 1, 1}), absent()},
       {Dims{0}},
       "conv2d: stride must be at least 1 (got [0])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 1, 1, 1}), absent()},
       {Dims{1}, Dims{0}, Dims{1}, 2},
       "conv2d: groups = 2 must divide the 3 input and 2 output channels"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 3, 1, 1}), real({3})},
       {},
       "conv2d: bias has shape [3] where 2 output channels need [2]"},
  };
}

}  // namespace

extern const SampleFamily kConv{good, bad};

}  // namespace lunagrad::tests
