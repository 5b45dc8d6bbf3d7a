#include "tests/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> good() {
  return {
      {"max_pool2d", {real({2, 3, 6, 5})}, {Dims{2}}},
      {"max_pool2d", {real({2, 7, 7})}, {Dims{3, 2}, Dims{2, 1}, Dims{1}, Dims{1, 2}, true}},
  };
}

std::vector<BadSample> bad() {
  return {
      {"max_pool2d",
       {real({2, 4, 4})},
       {Dims{2}, Dims{2}, Dims{2}},
       "max_pool2d: padding may be at most half of kernel_size (got padding 2, kernel_size 2)"},
      {"max_pool2d",
       {real({2, 4, 4})},
       {Dims{5}},
       "max_pool2d: no window fits into the input of shape [2, 4, 4]: dim 2 has 4 elements with padding"},
      {"max_pool2d",
       {real({4, 4})},
       {Dims{2}},
       "max_pool2d: input must be [N, C, H, W] or [C, H, W] (got shape [4, 4])"},
  };
}

}  // namespace

extern const SampleFamily kPool{good, bad};

}  // namespace lunagrad::tests
