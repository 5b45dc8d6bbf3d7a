// interpolate, im2col and their gradients, f32, as compositions of index_select, sums and strided copies.
#include <algorithm>

#include "gpu/kernels.h"
#include "gpu/kernels/copy.h"
#include "runtime/ops.h"
#include "runtime/ops/resize_geometry.h"

namespace lunagrad::gpu {
namespace {

bool supports(const Call& call) {
  return call.input(0).dtype() == DType::f32 && indexable(call.input(0)) && indexable(call.output());
}

// One axis of an interpolation: result i = (1 - weight[i]) * x[low[i]] + weight[i] * x[high[i]].
struct Axis {
  Tensor low, high, weight;  // weight and high are undefined if all weights are 0
  Axis(const std::vector<ResizeTap>& taps, int dims_after, Device& device) {
    const int64_t n = int64_t(taps.size());
    std::vector<int64_t> lows, highs;
    std::vector<float> weights;
    for (const ResizeTap& tap : taps) {
      lows.push_back(tap.low);
      highs.push_back(tap.high);
      weights.push_back(float(tap.weight));
    }
    low = to(Tensor::from<int64_t>(lows, {n}), device);
    if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 0; })) return;
    high = to(Tensor::from<int64_t>(highs, {n}), device);
    Shape shape(dims_after + 1, 1);
    shape[0] = n;
    weight = to(Tensor::from<float>(weights, shape), device);
  }
};

// Calls f(dim, axis, size of the input) for each spatial dim of the image.
template <class F>
void for_axes(const ResizeGeometry& g, int ndim, Device& device, F&& f) {
  for (int d = 2; d < ndim; ++d) {
    const size_t axis = size_t(3 - (ndim - 2) + d - 2);
    f(d, Axis(g.axes[axis], ndim - 1 - d, device), g.in[axis]);
  }
}

void run_interpolate(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Tensor y = call.input(0);
  for_axes(resize_geometry(call), y.ndim(), y.device(), [&](int d, const Axis& axis, int64_t) {
    const Tensor low = index_select(y, d, axis.low);
    y = axis.weight.defined() ? low * (1.0 - axis.weight) + index_select(y, d, axis.high) * axis.weight : low;
  });
  copy(call.output(), y, recorder);
}
void run_interpolate_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  Tensor g = call.input(0);
  for_axes(resize_geometry(call), g.ndim(), g.device(), [&](int d, const Axis& axis, int64_t size) {
    Shape shape = g.shape();
    shape[d] = size;
    const Tensor sum = zeros(shape, g.dtype(), g.device());
    g = axis.weight.defined()
            ? index_add(index_add(sum, d, axis.low, g * (1.0 - axis.weight)), d, axis.high, g * axis.weight)
            : index_add(sum, d, axis.low, g);
  });
  copy(call.output(), g, recorder);
}

// The layout of a padded image [N, C, H, W].
struct Padded {
  Shape shape;
  Strides strides;
  explicit Padded(const ConvGeometry& g)
      : shape{g.batch, g.in_channels, g.in[1] + 2 * g.padding[1], g.in[2] + 2 * g.padding[2]},
        strides(contiguous_strides(shape)) {}
};

void run_im2col(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const ConvGeometry g = window_geometry(call);
  const Tensor image = reshape(call.input(0), {g.batch, g.in_channels, g.in[1], g.in[2]});
  const Tensor padded = pad(image, {g.padding[2], g.padding[2], g.padding[1], g.padding[1]});
  const Strides s = padded.strides();
  const Shape shape{g.batch, g.in_channels, g.kernel[1], g.kernel[2], g.out[1], g.out[2]};
  const Tensor windows = window(
      padded, shape,
      {s[0], s[1], g.dilation[1] * s[2], g.dilation[2] * s[3], g.stride[1] * s[2], g.stride[2] * s[3]});
  copy(window(call.output(), shape, contiguous_strides(shape)), windows, recorder);
}

// Adds one tap of the kernel after the other: the positions of one tap are all different.
void run_col2im(const Call& call, Recorder& recorder) {
  const NoGrad off;
  const ConvGeometry g = window_geometry(call);
  const Padded layout(g);
  const Strides& s = layout.strides;
  const Tensor image = zeros(layout.shape, DType::f32, call.output().device());
  const Tensor columns = contiguous(call.input(0));
  const Shape shape{g.batch, g.in_channels, g.out[1], g.out[2]};
  const int64_t places = g.out_size(), taps = g.kernel_size();
  for (int64_t tap = 0; tap < taps; ++tap) {
    const Tensor part =
        window(columns, shape, {g.in_channels * taps * places, taps * places, g.out[2], 1}, tap * places);
    const Tensor met =
        window(image, shape, {s[0], s[1], g.stride[1] * s[2], g.stride[2] * s[3]},
               tap / g.kernel[2] * g.dilation[1] * s[2] + tap % g.kernel[2] * g.dilation[2] * s[3]);
    copy(met, met + part, recorder);
  }
  const Shape inside{g.batch, g.in_channels, g.in[1], g.in[2]};
  copy(window(call.output(), inside, contiguous_strides(inside)),
       window(image, inside, s, g.padding[1] * s[2] + g.padding[2] * s[3]), recorder);
}

}  // namespace

std::vector<KernelEntry> resize_kernels() {
  return {{find_op("interpolate"), {supports, run_interpolate}},
          {find_op("_interpolate_grad"), {supports, run_interpolate_grad}},
          {find_op("im2col"), {supports, run_im2col}},
          {find_op("col2im"), {supports, run_col2im}}};
}

}  // namespace lunagrad::gpu
