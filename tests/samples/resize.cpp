#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

constexpr int64_t kNearest = 0, kLinear = 1, kBilinear = 2, kBicubic = 3, kTrilinear = 4, kArea = 5,
                  kNearestExact = 6;

std::vector<Sample> resize_samples() {
  return {
      {"interpolate", {real({2, 2, 5})}, {Dims{8}}},
      {"interpolate", {real({2, 2, 3, 4})}, {Value(), 1.7}},
      {"interpolate", {real({1, 2, 2, 3, 4})}, {Dims{3, 2, 5}}},
      {"interpolate", {real({2, 2, 5})}, {Dims{8}, Value(), kLinear}},
      {"interpolate", {real({2, 2, 3, 4})}, {Dims{5, 2}, Value(), kBilinear}},
      {"interpolate", {real({2, 2, 3, 4})}, {Dims{6}, Value(), kBilinear, true}},
      {"interpolate", {real({1, 2, 5, 4})}, {Value(), 0.6, kBilinear}},
      {"interpolate", {real({1, 2, 3, 4})}, {Dims{5, 3}, Value(), kBicubic}},
      {"interpolate", {real({1, 2, 3, 4})}, {Value(), 1.7, kBicubic, true}},
      {"interpolate", {real({1, 2, 2, 3, 2})}, {Dims{3, 2, 5}, Value(), kTrilinear}},
      {"interpolate", {real({1, 2, 2, 3, 2})}, {Value(), 1.5, kTrilinear, true}},
      {"interpolate", {real({1, 2, 3, 3, 4})}, {Dims{1, 2, 3}, Value(), kTrilinear}},
      {"interpolate", {real({2, 1, 1, 3, 2})}, {Dims{2, 5, 4}, Value(), kTrilinear}},
      {"interpolate", {real({1, 2, 2, 3, 2})}, {Value(), 1.7, kNearestExact}},
      {"interpolate", {real({1, 2, 5})}, {Dims{3}, Value(), kArea}},
      {"interpolate", {real({1, 2, 2, 3, 2})}, {Dims{3, 2, 5}, Value(), kArea}},
      {"interpolate", {real({1, 2, 3, 4})}, {Value(), 1.3, kNearestExact}},
      {"im2col", {real({2, 3, 5, 6})}, {Dims{2, 3}}},
      {"im2col", {real({2, 5, 6})}, {Dims{3, 2}, Dims{1, 2}, Dims{1, 2}, Dims{2, 3}}},
      {"col2im", {real({2, 12, 12})}, {Dims{4, 5}, Dims{2}}},
      {"col2im", {real({12, 6})}, {Dims{5, 6}, Dims{3, 2}, Dims{1, 2}, Dims{1, 2}, Dims{2, 4}}},
  };
}

std::vector<BadSample> bad_resize_samples() {
  return {
      {"interpolate",
       {real({2, 3})},
       {Dims{4}},
       "interpolate: mode 'nearest' needs input [N, C, spatial…] of 3 to 5 dims (got shape [2, 3])"},
      {"interpolate",
       {real({2, 2, 3})},
       {Dims{4}, Value(), kBilinear},
       "interpolate: mode 'bilinear' needs input [N, C, H, W] (got shape [2, 2, 3])"},
      {"interpolate",
       {real({2, 2, 3, 3})},
       {Dims{4}, Value(), kLinear},
       "interpolate: mode 'linear' needs input [N, C, W] (got shape [2, 2, 3, 3])"},
      {"interpolate", {real({2, 2, 3})}, {}, "interpolate: give either size or scale_factor"},
      {"interpolate", {real({2, 2, 3})}, {Dims{4}, 2.0}, "interpolate: give either size or scale_factor"},
      {"interpolate",
       {real({2, 2, 3})},
       {Dims{4}, Value(), kNearest, true},
       "interpolate: align_corners is not for mode 'nearest'"},
      {"interpolate",
       {real({2, 2, 3, 3})},
       {Dims{1, 2, 3}},
       "interpolate: size must be one number or 2 (got [1, 2, 3])"},
      {"interpolate",
       {real({2, 2, 3})},
       {Value(), -1.0},
       "interpolate: scale_factor must be greater than 0 (got -1)"},
      {"interpolate", {real({2, 2, 3})}, {Dims{0}}, "interpolate: dim 3 would go from 3 elements to 0"},
      {"interpolate", {real({2, 2, 3})}, {Value(), 0.1}, "interpolate: dim 3 would go from 3 elements to 0"},
      {"im2col",
       {real({3, 3})},
       {Dims{2}},
       "im2col: input must be [N, C, H, W] or [C, H, W] (got shape [3, 3])"},
      {"im2col",
       {real({1, 3, 3})},
       {Dims{4}},
       "im2col: no window fits into the image of shape [1, 3, 3]: dim 2 has 3 elements with padding, a "
       "window "
       "reaches over 4"},
      {"im2col", {real({1, 3, 3})}, {Dims{2}, Dims{0}}, "im2col: dilation must be at least 1 (got [0])"},
      {"col2im",
       {real({4})},
       {Dims{2}, Dims{2}},
       "col2im: input must be [N, C kH kW, windows] or [C kH kW, windows]"},
      {"col2im",
       {real({5, 4})},
       {Dims{3}, Dims{2}},
       "col2im: 5 rows of columns are not a multiple of kernel_size [2]"},
      {"col2im",
       {real({4, 5})},
       {Dims{3}, Dims{2}},
       "col2im: an image of 3 x 3 has 4 windows (got columns of shape [4, 5])"},
      {"col2im", {real({4, 4})}, {Dims{3, 3, 3}, Dims{2}}, "col2im: output_size must be one number or 2"},
  };
}

}  // namespace

extern const SampleFamily kResize{resize_samples, bad_resize_samples};

}  // namespace lunagrad::tests
