// The modes of interpolate that are compositions: each spatial dim is resized by itself.
#include <array>
#include <cmath>

#include "runtime/ops.h"
#include "runtime/ops/resize_forms.h"

namespace lunagrad {
namespace {

enum Param { kSize, kScaleFactor, kMode, kAlignCorners };
constexpr const char* kModes[] = {"bicubic", "trilinear", "area", "nearest-exact"};

struct Axis {
  int dim;
  int64_t in, out;
  double step;  // elements of the input for one of the result
};

Axis axis_of(const Call& call, const Tensor& x, int i) {
  const int dim = 2 + i;
  const int64_t in = x.size(dim);
  const bool sized = call.params[kSize].present();
  double out = 0;
  if (sized) {
    const Dims& size = call.list(kSize);
    out = double(size[size.size() == 1 ? 0 : i]);
  } else {
    out = std::floor(double(in) * call.real(kScaleFactor));
  }
  if (in < 1 || !(out >= 1) || out > 0x1p40)
    fail("interpolate: dim ", dim + 1, " would go from ", in, " elements to ", out);
  return {dim, in, int64_t(out), sized ? double(in) / out : 1 / call.real(kScaleFactor)};
}

// Positions 0, 1, … of the result as f64.
Tensor steps(const Axis& axis, const Tensor& x) {
  return arange(0, double(axis.out), 1, DType::f64, x.device());
}
Tensor positions(const Tensor& at, int64_t size) { return to(clamp(at, 0.0, double(size - 1)), DType::i64); }

Tensor resize_nearest_exact(const Tensor& x, const Axis& axis) {
  const NoGrad off;
  return positions(floor((steps(axis, x) + 0.5) * axis.step), axis.in);
}

// Elements beyond the ends repeat the last ones.
Tensor resize_cubic(const Tensor& x, const Axis& axis, bool align_corners) {
  if (axis.in == axis.out) return x;
  std::array<Tensor, 4> weights, places;
  {
    const NoGrad off;
    const double aligned = axis.out > 1 ? double(axis.in - 1) / double(axis.out - 1) : 0;
    const Tensor at = align_corners ? steps(axis, x) * aligned : (steps(axis, x) + 0.5) * axis.step - 0.5;
    const Tensor low = floor(at);
    weights = cubic_weights(at - low);
    Shape along(x.ndim() - axis.dim, 1);
    along[0] = axis.out;
    for (size_t i = 0; i < 4; ++i) {
      weights[i] = reshape(to(weights[i], x.dtype()), along);
      places[i] = positions(low + (double(i) - 1), axis.in);
    }
  }
  Tensor y;
  for (size_t i = 0; i < 4; ++i) {
    const Tensor part = index_select(x, axis.dim, places[i]) * weights[i];
    y = y.defined() ? y + part : part;
  }
  return y;
}

// One dim by the linear mode, which knows only the last of three.
Tensor resize_linear(const Tensor& x, const Call& call, const Axis& axis) {
  const Tensor last = movedim(x, {axis.dim}, {-1});
  Shape shape = last.shape();
  const Tensor lines = reshape(last, {1, x.numel() / axis.in, axis.in});
  static const Op& op = *find_op("interpolate");
  const bool sized = call.params[kSize].present();
  const Tensor y = apply1(op, {lines},
                          {sized ? Value(Dims{axis.out}) : Value(), call.params[kScaleFactor],
                           int64_t(Interpolation::linear), call.flag(kAlignCorners)});
  shape[shape.size() - 1] = axis.out;
  return movedim(reshape(y, shape), {-1}, {axis.dim});
}

}  // namespace

std::array<Tensor, 4> cubic_weights(const Tensor& t) {
  constexpr double a = -0.75;
  const auto near = [&](const Tensor& d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };     // |d| <= 1
  const auto far = [&](const Tensor& d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };  // 1 < |d| < 2
  return {far(t + 1.0), near(t), near(1.0 - t), far(2.0 - t)};
}

bool is_composed_mode(const Call& call) { return call.integer(kMode) >= kBicubic; }

Operands interpolate_compose(const Call& call) {
  const Tensor& x = call.input(0);
  const int64_t mode = call.integer(kMode);
  const char* const name = kModes[mode - kBicubic];
  if (!is_floating(x.dtype())) fail("interpolate: a floating type is needed (got ", x.dtype(), ")");
  if (x.ndim() < 3 || x.ndim() > 5 || (mode == kBicubic && x.ndim() != 4) ||
      (mode == kTrilinear && x.ndim() != 5))
    fail("interpolate: mode '", name, "' needs input ",
         mode == kBicubic     ? "[N, C, H, W]"
         : mode == kTrilinear ? "[N, C, D, H, W]"
                              : "[N, C, spatial…] of 3 to 5 dims",
         " (got shape ", x.shape(), ")");
  if (mode >= kArea && call.flag(kAlignCorners))
    fail("interpolate: align_corners is not for mode '", name, "'");
  const bool sized = call.params[kSize].present(), scaled = call.params[kScaleFactor].present();
  if (sized == scaled) fail("interpolate: give either size or scale_factor");
  const int dims = x.ndim() - 2;
  if (sized && call.list(kSize).size() != 1 && call.list(kSize).size() != dims)
    fail("interpolate: size must be one number or ", dims, " (got ", call.list(kSize), ")");
  if (scaled && !(call.real(kScaleFactor) > 0 && std::isfinite(call.real(kScaleFactor))))
    fail("interpolate: scale_factor must be greater than 0 (got ", call.real(kScaleFactor), ")");
  if (mode == kArea) {
    static const Op* const pools[] = {find_op("adaptive_avg_pool1d"), find_op("adaptive_avg_pool2d"),
                                      find_op("adaptive_avg_pool3d")};
    Dims size;
    for (int i = 0; i < dims; ++i) size.push_back(axis_of(call, x, i).out);
    return {apply1(*pools[dims - 1], {x}, {size})};
  }
  Tensor y = is_half(x.dtype()) ? to(x, DType::f32) : x;
  for (int i = dims - 1; i >= 0; --i) {
    const Axis axis = axis_of(call, x, i);
    if (mode == kBicubic) {
      y = resize_cubic(y, axis, call.flag(kAlignCorners));
    } else if (mode == kNearestExact) {
      y = index_select(y, axis.dim, resize_nearest_exact(y, axis));
    } else if (y.numel() > 0) {
      y = resize_linear(y, call, axis);
    }
  }
  return {to(y, x.dtype())};
}

}  // namespace lunagrad
