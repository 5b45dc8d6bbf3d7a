#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

std::vector<Sample> pool_samples() {
  return {
      {"max_pool1d", {real({2, 3, 9})}, {Dims{3}, Dims{2}, Dims{1}}},
      {"max_pool1d", {real({2, 8})}, {Dims{2}}},
      {"max_pool2d", {real({2, 3, 6, 5})}, {Dims{2}}},
      {"max_pool2d", {real({2, 7, 7})}, {Dims{3, 2}, Dims{2, 1}, Dims{1}, Dims{1, 2}, true}},
      {"avg_pool1d", {real({2, 3, 9})}, {Dims{3}, Dims{2}, Dims{1}, true}},
      {"avg_pool1d", {real({2, 7})}, {Dims{2}}},
      {"avg_pool2d", {real({2, 3, 6, 5})}, {Dims{2}}},
      {"avg_pool2d", {real({2, 7, 8})}, {Dims{3, 4}, Dims{2, 3}, Dims{1, 2}, true, false}},
      {"avg_pool2d", {real({1, 2, 5, 6})}, {Dims{3}, Dims{1}, Dims{1}, false, true, 5}},
      {"adaptive_avg_pool1d", {real({2, 3, 7})}, {Dims{3}}},
      {"adaptive_avg_pool2d", {real({2, 2, 7, 5})}, {Dims{3, 2}}},
      {"adaptive_avg_pool2d", {real({2, 3, 4})}, {Dims{5}}},
      {"adaptive_max_pool2d", {real({2, 2, 7, 5})}, {Dims{3, 2}}},
  };
}

std::vector<BadSample> bad_pool_samples() {
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
      {"max_pool2d", {real({2, 4, 4})}, {Dims{0}}, "max_pool2d: kernel_size must be at least 1 (got [0])"},
      {"max_pool2d",
       {real({2, 4, 4})},
       {Dims{2}, Dims{1, 1, 1}},
       "max_pool2d: stride must be one number or 2"},
      {"max_pool2d", {index({2, 4, 4}, 0, 3)}, {Dims{2}}, "max_pool2d: a floating type is needed (got i64)"},
      {"max_pool1d",
       {real({2, 3, 4, 4})},
       {Dims{2}},
       "max_pool1d: input must be [N, C, W] or [C, W] (got shape [2, 3, 4, 4])"},
      {"avg_pool1d", {real({3, 4})}, {Dims{2, 2}}, "avg_pool1d: kernel_size must be one number (got [2, 2])"},
      {"avg_pool2d",
       {real({2, 4, 4})},
       {Dims{3}, Dims{1}, Dims{2}},
       "avg_pool2d: padding may be at most half of kernel_size (got padding 2, kernel_size 3)"},
      {"avg_pool2d",
       {real({2, 4, 4})},
       {Dims{2}, Value(), Dims{0}, false, true, 0},
       "avg_pool2d: divisor_override may not be 0"},
      {"avg_pool2d",
       {real({2, 3, 4})},
       {Dims{4}},
       "avg_pool2d: no window fits into the input of shape [2, 3, 4]: dim 2 has 3 elements with padding, a "
       "window "
       "reaches over 4"},
      {"adaptive_avg_pool2d",
       {real({2, 0, 4})},
       {Dims{1}},
       "adaptive_avg_pool2d: dim 2 of the input of shape [2, 0, 4] has no elements"},
      {"adaptive_avg_pool2d",
       {real({2, 4, 4})},
       {Dims{1, 2, 3}},
       "adaptive_avg_pool2d: output_size must be one number or 2 (got [1, 2, 3])"},
      {"adaptive_avg_pool1d",
       {real({4})},
       {Dims{1}},
       "adaptive_avg_pool1d: input must be [N, C, W] or [C, W] (got shape [4])"},
      {"adaptive_max_pool2d",
       {real({2, 4, 4})},
       {Dims{-1}},
       "adaptive_max_pool2d: output_size must be at least 0 (got [-1])"},
  };
}

}  // namespace

extern const SampleFamily kPool{pool_samples, bad_pool_samples};

}  // namespace lunagrad::tests
