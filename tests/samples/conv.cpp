#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> conv_samples() {
  return {
      {"conv1d", {real({2, 3, 9}), real({4, 3, 3}), real({4})}, {Dims{1}, Dims{1}}},
      {"conv1d", {real({2, 4, 11}), real({6, 2, 3}), absent()}, {Dims{2}, Dims{3}, Dims{2}, 2}},
      {"conv1d", {real({2, 20}), real({3, 2, 4}), real({3})}, {Dims{1}, 1}},  // same
      {"conv2d", {real({2, 3, 5, 6}), real({4, 3, 3, 2}), real({4})}},
      {"conv2d", {real({2, 2, 7, 6}), real({3, 2, 3, 3}), absent()}, {Dims{2, 3}, Dims{2, 1}, Dims{1, 2}}},
      {"conv2d", {real({2, 4, 4, 4}), real({6, 2, 2, 2}), real({6})}, {Dims{1}, Dims{1}, Dims{1}, 2}},
      {"conv2d", {real({3, 5, 5}), real({2, 3, 1, 1}), real({2})}},
      {"conv2d", {real({1, 2, 6, 6}), real({2, 2, 2, 2}), absent()}, {Dims{2}}},
      {"conv2d", {real({2, 3, 4, 5}), real({3, 1, 3, 3}), real({3})}, {Dims{1}, Dims{1}, Dims{1}, 3}},
      {"conv2d", {real({1, 2, 5, 18}), real({9, 2, 3, 2}), absent()}, {Dims{1}, 1, Dims{2}}},
      {"conv2d", {real({1, 2, 6, 7}), real({2, 2, 2, 3}), absent()}, {Dims{3, 2}, Dims{0}, Dims{2, 3}}},
      {"conv1d", {real({2, 3, 9}), real({4, 3, 3}), real({4})}, {Dims{1}, Dims{1}, Dims{1}, 1, 1}},
      {"conv2d", {real({2, 4, 4, 4}), real({6, 2, 2, 2}), real({6})}, {Dims{1}, Dims{1}, Dims{1}, 2, 2}},
      {"conv3d", {real({2, 2, 3, 4, 3}), real({2, 2, 2, 3, 2}), absent()}, {Dims{1}, Dims{0}, Dims{1}, 1, 3}},
      {"conv3d", {real({2, 2, 3, 4, 3}), real({2, 2, 2, 3, 2}), real({2})}, {Dims{1}, Dims{1, 1, 0}}},
      {"conv3d",
       {real({2, 5, 4, 6}), real({2, 1, 2, 2, 3}), absent()},
       {Dims{2, 1, 2}, Dims{0}, Dims{1, 2, 1}, 2}},
      {"conv_transpose1d", {real({2, 3, 5}), real({3, 2, 4}), real({2})}, {Dims{2}, Dims{1}}},
      {"conv_transpose1d",
       {real({4, 5}), real({4, 1, 3}), absent()},
       {Dims{1}, Dims{0}, Dims{1}, 2, Dims{2}}},  // output_padding 1 at stride 1, which dilation 2 allows
      {"conv_transpose2d", {real({2, 3, 3, 4}), real({3, 2, 3, 2}), real({2})}},
      {"conv_transpose2d",
       {real({1, 4, 3, 3}), real({4, 3, 3, 3}), real({6})},
       {Dims{2, 3}, Dims{1, 0}, Dims{1, 2}, 2}},
      {"conv_transpose2d",
       {real({2, 3, 3}), real({2, 2, 2, 2}), absent()},
       {Dims{3}, Dims{0}, Dims{1}, 1, Dims{2}}},
  };
}

std::vector<BadSample> bad_conv_samples() {
  return {
      {"conv2d",
       {real({2, 3}), real({1, 3, 1, 1}), absent()},
       {},
       "conv2d: input must be [N, C, H, W] or [C, H, W] (got shape [2, 3])"},
      {"conv2d",
       {real({3, 4, 4}), real({1, 3, 1}), absent()},
       {},
       "conv2d: weight must be [out, in / groups, kH, kW] (got shape [1, 3, 1])"},
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
       {real({2, 3, 4, 4}), real({1, 3, 1, 1}), absent()},
       {Dims{1}, Dims{1, 2, 3}},
       "conv2d: padding must be one number or 2 (got [1, 2, 3])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({1, 3, 3, 3}), absent()},
       {Dims{2}, 1},
       "conv2d: padding = 'same' needs stride 1 (got [2])"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 1, 1, 1}), absent()},
       {Dims{1}, Dims{0}, Dims{1}, 2},
       "conv2d: groups = 2 must divide the 3 input and 2 output channels"},
      {"conv2d",
       {real({2, 3, 4, 4}), real({2, 3, 1, 1}), real({3})},
       {},
       "conv2d: bias has shape [3] where 2 output channels need [2]"},
      {"conv1d",
       {real({2, 3, 4, 4}), real({1, 3, 1}), absent()},
       {},
       "conv1d: input must be [N, C, W] or [C, W] (got shape [2, 3, 4, 4])"},
      {"conv1d",
       {real({2, 3, 4}), real({1, 3, 1}), absent()},
       {Dims{1, 1}},
       "conv1d: stride must be one number (got [1, 1])"},
      {"conv3d",
       {real({2, 3, 4, 4}), real({1, 3, 2, 2}), absent()},
       {},
       "conv3d: weight must be [out, in / groups, kD, kH, kW] (got shape [1, 3, 2, 2])"},
      {"conv_transpose2d",
       {real({2, 3, 4, 4}), real({2, 3, 2, 2}), absent()},
       {},
       "conv_transpose2d: weight of shape [2, 3, 2, 2] needs 2 input channels (got input of shape [2, 3, 4, "
       "4])"},
      {"conv_transpose2d",
       {real({2, 3, 4, 4}), real({3, 3, 2, 2}), real({2})},
       {},
       "conv_transpose2d: bias has shape [2] where 3 output channels need [3]"},
      {"conv_transpose2d",
       {real({2, 3, 4, 4}), real({3, 3, 2, 2}), absent()},
       {Dims{2}, Dims{0}, Dims{2}},
       "conv_transpose2d: output_padding must be less than stride or dilation (got output_padding 2, stride "
       "2"},
      {"conv_transpose2d",
       {real({2, 3, 4, 4}), real({3, 3, 2, 2}), absent()},
       {Dims{1}, Dims{0}, Dims{0}, 2},
       "conv_transpose2d: groups = 2 must divide the 3 input channels"},
      {"conv_transpose1d",
       {real({2, 3, 2}), real({3, 3, 2}), absent()},
       {Dims{1}, Dims{2}},
       "conv_transpose1d: no result is left of the input of shape [2, 3, 2] with a kernel of shape [3, 3, "
       "2]: "
       "dim 3 would have -1 elements"},
  };
}

}  // namespace

extern const SampleFamily kConv{conv_samples, bad_conv_samples};

}  // namespace lunagrad::tests
