// interpolate as a composition: each spatial dim is resized by itself. Modes without a kernel run so.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "runtime/ops.h"
#include "runtime/ops/nn/resize_forms.h"

namespace lunagrad {
namespace {

constexpr const char* kModes[] = {"nearest",   "linear", "bilinear",     "bicubic",
                                  "trilinear", "area",   "nearest-exact"};
constexpr int kModeDims[] = {0, 3, 4, 4, 5, 0, 0};  // dims of the input that a mode needs; 0: 3 to 5

struct Axis {
  int dim;
  int64_t in, out;
  double step;  // elements of the input for one of the result
  Value factor;
};

Axis axis_of(const Call& call, const Tensor& x, int i) {
  const int dim = 2 + i;
  const int64_t in = x.size(dim);
  const bool sized = call.params[kInterpolateSize].present();
  double out = 0;
  if (sized) {
    const Dims& size = call.list(kInterpolateSize);
    out = double(size[size.size() == 1 ? 0 : i]);
  } else {
    out = std::floor(double(in) * call.real(kInterpolateScaleFactor));
  }
  if (in < 1 || !(out >= 1) || out > 0x1p40)
    fail("interpolate: dim ", dim + 1, " would go from ", in, " elements to ", out);
  return {dim, in, int64_t(out), sized ? double(in) / out : 1 / call.real(kInterpolateScaleFactor),
          call.params[kInterpolateScaleFactor]};
}

// What one element of the result blends: elements of the input, and their weights.
struct Taps {
  std::vector<Tensor> places, weights;  // i64 and f64 of the result's length; no weights for a copy
};

double cubic(double d) {
  constexpr double a = -0.75;
  d = std::fabs(d);
  return d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1 : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

Taps composed_taps(const Axis& axis, int64_t mode, bool align_corners) {
  const bool nearest = mode == int64_t(Interpolation::nearest), exact = mode == kNearestExact;
  const int count = nearest || exact ? 1 : mode == kBicubic ? 4 : 2;
  Taps taps;
  for (int i = 0; i < count; ++i) {
    taps.places.push_back(Tensor::empty({axis.out}, DType::i64));
    if (count > 1) taps.weights.push_back(Tensor::empty({axis.out}, DType::f64));
  }
  const double aligned = axis.out > 1 ? double(axis.in - 1) / double(axis.out - 1) : 0;
  const auto set = [&](int i, int64_t at, int64_t place, double weight) {
    taps.places[size_t(i)].data<int64_t>()[at] = std::clamp<int64_t>(place, 0, axis.in - 1);
    if (count > 1) taps.weights[size_t(i)].data<double>()[at] = weight;
  };
  for (int64_t i = 0; i < axis.out; ++i) {
    if (nearest || exact) {
      set(0, i, nearest_element(i, axis.in, axis.out, axis.factor, exact), 1);
    } else {
      const double at = align_corners ? double(i) * aligned : (double(i) + 0.5) * axis.step - 0.5;
      const double low = std::floor(count == 2 ? std::max(at, 0.0) : at);
      if (count == 2) {
        const double share = std::max(at, 0.0) - low;
        set(0, i, int64_t(low), 1 - share), set(1, i, int64_t(low) + 1, share);
      } else {
        for (int k = 0; k < 4; ++k) set(k, i, int64_t(low) + k - 1, cubic(at - low - (k - 1)));
      }
    }
  }
  return taps;
}

bool has_zero(const Tensor& weights) {
  const double* const first = weights.data<double>();
  return std::find(first, first + weights.numel(), 0.0) != first + weights.numel();
}

Tensor resize_along(const Tensor& x, const Axis& axis, const Taps& taps) {
  Shape along(x.ndim() - axis.dim, 1);
  along[0] = axis.out;
  Tensor y;
  for (size_t i = 0; i < taps.places.size(); ++i) {
    Tensor part = index_select(x, axis.dim, to(taps.places[i], x.device()));
    if (!taps.weights.empty()) {
      const Tensor weights = to(reshape(to(taps.weights[i], x.dtype()), along), x.device());
      part = has_zero(taps.weights[i]) ? product_unless_zero(part, weights) : part * weights;
    }
    y = y.defined() ? y + part : part;
  }
  return y;
}

}  // namespace

std::array<Tensor, 4> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto near = [&](const Tensor& d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };     // |d| <= 1
  const auto far = [&](const Tensor& d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };  // 1 < |d| < 2
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

Tensor product_unless_zero(const Tensor& values, const Tensor& weights) {
  Tensor left_out;
  {
    const NoGrad off;
    left_out = logical_and(eq(weights, Tensor::number(0.0)), logical_not(isfinite(values)));
  }
  return where(left_out, Tensor::number(0.0), values) * weights;
}

bool is_composed_mode(const Call& call) {
  const int64_t mode = call.integer(kInterpolateMode);
  return mode == kBicubic || mode == kArea;
}

void check_interpolation(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t mode = call.integer(kInterpolateMode);
  const char* const name = kModes[mode];
  if (!is_floating(x.dtype())) fail("interpolate: a floating type is needed (got ", x.dtype(), ")");
  if (x.ndim() < 3 || x.ndim() > 5 || (kModeDims[mode] && x.ndim() != kModeDims[mode])) {
    static constexpr const char* kAxes[] = {"spatial…] of 3 to 5 dims", "", "", "W]", "H, W]", "D, H, W]"};
    fail("interpolate: mode '", name, "' needs input [N, C, ", kAxes[kModeDims[mode]], " (got shape ",
         x.shape(), ")");
  }
  const bool aligns = kModeDims[mode] != 0;
  if (!aligns && call.flag(kInterpolateAlignCorners))
    fail("interpolate: align_corners is not for mode '", name, "'");
  const bool sized = call.params[kInterpolateSize].present(),
             scaled = call.params[kInterpolateScaleFactor].present();
  if (sized == scaled) fail("interpolate: give either size or scale_factor");
  const int dims = x.ndim() - 2;
  if (sized && call.list(kInterpolateSize).size() != 1 && call.list(kInterpolateSize).size() != dims)
    fail("interpolate: size must be one number or ", dims, " (got ", call.list(kInterpolateSize), ")");
  if (scaled &&
      !(call.real(kInterpolateScaleFactor) > 0 && std::isfinite(call.real(kInterpolateScaleFactor))))
    fail("interpolate: scale_factor must be greater than 0 (got ", call.real(kInterpolateScaleFactor), ")");
}

Operands interpolate_compose(const Call& call) {
  check_interpolation(call);
  const Tensor& x = call.input(0);
  const int64_t mode = call.integer(kInterpolateMode);
  const int dims = x.ndim() - 2;
  if (mode == kArea) {
    static const Op* const pools[] = {find_op("adaptive_avg_pool1d"), find_op("adaptive_avg_pool2d"),
                                      find_op("adaptive_avg_pool3d")};
    Dims size;
    for (int i = 0; i < dims; ++i) size.push_back(axis_of(call, x, i).out);
    return {apply1(*pools[dims - 1], {x}, {size})};
  }
  Tensor y = to(x, accumulate_type(x.dtype()));
  const bool blends = mode != int64_t(Interpolation::nearest) && mode != kNearestExact;
  for (int i = dims - 1; i >= 0; --i) {
    const Axis axis = axis_of(call, x, i);
    // The dim does not change, for any factor.
    if (blends && mode != kBicubic && axis.in == axis.out) continue;
    y = resize_along(y, axis, composed_taps(axis, mode, call.flag(kInterpolateAlignCorners)));
  }
  return {to(y, x.dtype())};
}

}  // namespace lunagrad
