// Resizing by interpolation, and windows as columns (im2col, col2im). All are linear maps: the gradient is
// the transposed map, and its gradient is the map again.
#include <algorithm>
#include <cmath>

#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/nn/resize_forms.h"
#include "runtime/ops/nn/resize_geometry.h"
#include "runtime/ops/nn/window_limits.h"
#include "runtime/ops/nn/with_type.h"

namespace lunagrad {
namespace {

bool is_nearest(int64_t mode) { return mode == int64_t(Interpolation::nearest) || mode == kNearestExact; }

// Nearest: the element of nearest_element(). Linear: the two elements around (i + 0.5) * scale - 0.5, or
// around i * scale with aligned corners. An image of unchanged size is copied, for any factor.
std::vector<ResizeTap> resize_taps(int64_t in, int64_t out, const Value& factor, int64_t mode,
                                   bool align_corners) {
  std::vector<ResizeTap> taps;
  const bool nearest = is_nearest(mode);
  double scale = factor.present() ? 1 / factor.f : double(in) / double(out);
  if (!nearest && align_corners) scale = out > 1 ? double(in - 1) / double(out - 1) : 0;
  for (int64_t i = 0; i < out; ++i) {
    if (nearest) {
      const int64_t at = nearest_element(i, in, out, factor, mode == kNearestExact);
      taps.push_back({at, at, 0});
    } else if (in == out) {
      taps.push_back({i, i, 0});
    } else {
      const double at = align_corners ? double(i) * scale : std::max(0.0, (double(i) + 0.5) * scale - 0.5);
      const int64_t low = std::min(int64_t(at), in - 1), high = std::min(low + 1, in - 1);
      taps.push_back({low, high, low == high ? 0 : at - double(low)});
    }
  }
  return taps;
}

// The size of the result along spatial dim i.
int64_t result_size(const Call& call, const Shape& x, int i) {
  if (!call.params[kInterpolateSize].present())
    return int64_t(std::floor(double(x[2 + i]) * call.real(kInterpolateScaleFactor)));
  const Dims& size = call.list(kInterpolateSize);
  return size[size.size() == 1 ? 0 : i];
}

ResizeGeometry interpolation(const Call& call, const Shape& x) {
  const int dims = x.size() - 2;
  ResizeGeometry r;
  r.planes = x[0] * x[1];
  for (int i = 0; i < dims; ++i) {
    const size_t d = size_t(3 - dims + i);
    r.in[d] = x[2 + i];
    r.axes[d] = resize_taps(x[2 + i], result_size(call, x, i), call.params[kInterpolateScaleFactor],
                            call.integer(kInterpolateMode), call.flag(kInterpolateAlignCorners));
  }
  return r;
}

void interpolate_shape(Call& call) {
  check_interpolation(call);
  const Shape& x = call.input(0).shape();
  const int dims = x.size() - 2;
  const bool sized = call.params[kInterpolateSize].present();
  Shape result = x;
  for (int i = 0; i < dims; ++i) {
    const double size =
        sized ? double(result_size(call, x, i)) : double(x[2 + i]) * call.real(kInterpolateScaleFactor);
    if (x[2 + i] < 1 || size < 1 || size > 0x1p40)
      fail("interpolate: dim ", 3 + i, " would go from ", x[2 + i], " elements to ",
           int64_t(std::min(size, 0x1p62)));
    result[2 + i] = result_size(call, x, i);
  }
  call.emit(result, call.input(0).dtype());
}
void interpolate_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  with_type(call, [&]<class T>() { resize(resize_geometry(call), x.data<T>(), call.output().data<T>()); });
}

std::vector<ParamSpec> interpolate_params(bool input_size) {
  std::vector<ParamSpec> params = {
      {.name = "size", .kind = ParamKind::integers, .fallback = {}, .optional = true},
      {.name = "scale_factor", .kind = ParamKind::real, .fallback = {}, .optional = true},
      {"mode",
       ParamKind::choice,
       int64_t(Interpolation::nearest),
       {"nearest", "linear", "bilinear", "bicubic", "trilinear", "area", "nearest-exact"}},
      {"align_corners", ParamKind::boolean, false}};
  if (input_size) params.push_back({"input_size", ParamKind::integers, {}});
  return params;
}

extern const Op kInterpolate, kInterpolateGrad, kIm2col, kCol2im;

void interpolate_vjp(Backward& b) {
  Values params = b.node().attributes->params;
  params.push_back(b.shape(0));
  b.set(0, apply1(kInterpolateGrad, {b.grad()}, params));
}
void interpolate_grad_shape(Call& call) {
  call.emit(call.list(kInterpolateInputSize), call.input(0).dtype());
}
void interpolate_grad_cpu(const Call& call) {
  const Tensor g = in_order(call.input(0));
  with_type(call,
            [&]<class T>() { resize_spread(resize_geometry(call), g.data<T>(), call.output().data<T>()); });
}
void interpolate_grad_vjp(Backward& b) {
  const Values& given = b.node().attributes->params;
  b.set(0, apply1(kInterpolate, {b.grad()},
                  {given[kInterpolateSize], given[kInterpolateScaleFactor], given[kInterpolateMode],
                   given[kInterpolateAlignCorners]}));
}

// The dims that are blended: in each, a result has two neighbours.
int blended_dims(const Call& call) {
  const int64_t mode = call.integer(kInterpolateMode);
  return is_nearest(mode) ? 0 : mode == kTrilinear ? 3 : int(mode);
}
// a + w (b - a) for each pair of neighbours: once for linear, 3 times for bilinear, 7 times for trilinear.
double interpolate_flops(const Call& call) {
  return 3 * ((1 << blended_dims(call)) - 1) * elements(call.out[0]);
}
// A product and a sum for each of the 2, 4 or 8 elements that a result blends.
double interpolate_grad_flops(const Call& call) {
  const int dims = blended_dims(call);
  return (dims == 0 ? 1 : 2 << dims) * elements(call.in[0]);
}

const Op kInterpolate{
    .name = "interpolate",
    .doc =
        "Resizes the spatial dims of input [N, C, …] to size, or by scale_factor: a number, or in scripts a "
        "table of one for each dim.",
    .inputs = {{"input"}},
    .params = interpolate_params(false),
    .shape = interpolate_shape,
    .cpu = interpolate_cpu,
    .vjp = interpolate_vjp,
    .reads = {{}},
    .compose = interpolate_compose,
    .composed = is_composed_mode,
    .half_through_f32 = true,
    .family = OpFamily::other,
    .flops = {
        interpolate_flops,
        "3 for each element of a linear result, 9 of a bilinear one, 21 of a trilinear one, 0 of a nearest "
        "one"}};
const Op kInterpolateGrad{
    .name = "_interpolate_grad",
    .doc = "Shares the gradient of each result of interpolate among the elements it blends.",
    .inputs = {{"grad"}},
    .params = interpolate_params(true),
    .shape = interpolate_grad_shape,
    .cpu = interpolate_grad_cpu,
    .vjp = interpolate_grad_vjp,
    .reads = {{}},
    .half_through_f32 = true,
    .family = OpFamily::other,
    .flops = {
        interpolate_grad_flops,
        "4 for each element of a linear gradient, 8 of a bilinear one, 16 of a trilinear one, 1 of a nearest "
        "one"}};

// Parameters of im2col. The parameters of col2im begin with output_size.
enum ColumnsParam { kColumnsKernel, kColumnsDilation, kColumnsPadding, kColumnsStride };

// The windows of images [N, C, H, W] or [C, H, W]; `first` is the index of the parameter kernel_size.
ConvGeometry windows(const Call& call, const Shape& image, size_t first) {
  ConvGeometry g;
  const auto read = [&](ColumnsParam param, const char* name, int64_t least, ConvGeometry::Sizes& sizes) {
    const Dims& list = call.params[first + param].list;
    if (list.size() != 1 && list.size() != 2)
      fail(call.op->name, ": ", name, " must be one number or 2 (got ", list, ")");
    check_steps(call.op->name, name, list, least);
    for (int i = 0; i < 2; ++i) sizes[size_t(1 + i)] = list[list.size() == 1 ? 0 : i];
  };
  read(kColumnsKernel, "kernel_size", 1, g.kernel);
  read(kColumnsDilation, "dilation", 1, g.dilation);
  read(kColumnsPadding, "padding", 0, g.padding);
  read(kColumnsStride, "stride", 1, g.stride);
  const int channel = image.size() - 3;
  g.batch = channel ? image[0] : 1;
  g.in_channels = image[channel];
  for (int i = 0; i < 2; ++i) {
    const size_t d = size_t(1 + i);
    g.in[d] = image[channel + 1 + i];
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1, padded = g.in[d] + 2 * g.padding[d];
    if (reach > padded)
      fail(call.op->name, ": no window fits into the image of shape ", image, ": dim ", channel + 2 + i,
           " has ", padded, " elements with padding, a window reaches over ", reach);
    g.out[d] = (padded - reach) / g.stride[d] + 1;
  }
  return g;
}

// The product of sizes, checked.
int64_t counted(const char* op, const Dims& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      fail(op, ": the product of the sizes ", sizes, " is too large");
  return product;
}

void im2col_shape(Call& call) {
  require_floating(call);
  const Shape& x = call.input(0).shape();
  if (x.size() != 3 && x.size() != 4)
    fail("im2col: input must be [N, C, H, W] or [C, H, W] (got shape ", x, ")");
  const ConvGeometry g = windows(call, x, 0);
  Shape result{counted("im2col", {g.in_channels, g.kernel[1], g.kernel[2]}),
               counted("im2col", {g.out[1], g.out[2]})};
  if (x.size() == 4) result.insert(0, g.batch);
  call.emit(result, call.input(0).dtype());
}
void im2col_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  with_type(call,
            [&]<class T>() { image_columns(window_geometry(call), x.data<T>(), call.output().data<T>()); });
}
void im2col_vjp(Backward& b) {
  const Shape& x = b.shape(0);
  const Dims size{x[x.size() - 2], x[x.size() - 1]};
  b.set(0, apply1(kCol2im, {b.grad()},
                  {size, b.list(kColumnsKernel), b.list(kColumnsDilation), b.list(kColumnsPadding),
                   b.list(kColumnsStride)}));
}

// The shape of the image that columns of this shape make.
Shape image_of(const Call& call, const Shape& columns) {
  const Dims &size = call.list(0), &kernel = call.list(1);
  if (columns.size() != 3 && columns.size() != 2)
    fail("col2im: input must be [N, C kH kW, windows] or [C kH kW, windows] (got shape ", columns, ")");
  if (size.size() != 1 && size.size() != 2)
    fail("col2im: output_size must be one number or 2 (got ", size, ")");
  int64_t taps = 1;
  const bool countable =
      kernel.size() == 0 || !__builtin_mul_overflow(kernel[0], kernel[kernel.size() - 1], &taps);
  const int64_t rows = columns[columns.size() - 2];
  if (!countable || taps < 1 || rows % taps != 0)
    fail("col2im: ", rows, " rows of columns are not a multiple of kernel_size ", kernel);
  Shape image{rows / taps, size[0], size[size.size() - 1]};
  if (columns.size() == 3) image.insert(0, columns[0]);
  return image;
}
void col2im_shape(Call& call) {
  require_floating(call);
  const Shape& columns = call.input(0).shape();
  const Shape image = image_of(call, columns);
  const ConvGeometry g = windows(call, image, 1);
  const int64_t count = counted("col2im", {g.out[1], g.out[2]});
  if (columns[columns.size() - 1] != count)
    fail("col2im: an image of ", g.in[1], " x ", g.in[2], " has ", count, " windows (got columns of shape ",
         columns, ")");
  call.emit(image, call.input(0).dtype());
}
void col2im_cpu(const Call& call) {
  const Tensor columns = in_order(call.input(0));
  with_type(call, [&]<class T>() {
    column_images(window_geometry(call), columns.data<T>(), call.output().data<T>());
  });
}
void col2im_vjp(Backward& b) {
  b.set(0, apply1(kIm2col, {b.grad()}, {b.list(1), b.list(2), b.list(3), b.list(4)}));
}

std::vector<ParamSpec> columns_params(bool output_size) {
  std::vector<ParamSpec> params;
  if (output_size) params.push_back({"output_size", ParamKind::integers, {}});
  params.push_back({"kernel_size", ParamKind::integers, {}});
  params.push_back({"dilation", ParamKind::integers, Dims{1}});
  params.push_back({"padding", ParamKind::integers, Dims{0}});
  params.push_back({"stride", ParamKind::integers, Dims{1}});
  return params;
}

const Op kIm2col{.name = "im2col",
                 .doc = "The windows of images [N, C, H, W] as columns [N, C kH kW, windows].",
                 .inputs = {{"input"}},
                 .params = columns_params(false),
                 .shape = im2col_shape,
                 .cpu = im2col_cpu,
                 .vjp = im2col_vjp,
                 .reads = {{}},
                 .half_through_f32 = true,
                 .family = OpFamily::view,
                 .flops = kMovesData};
const Op kCol2im{.name = "col2im",
                 .doc = "Sums columns [N, C kH kW, windows] at the positions of their windows: [N, C, H, W].",
                 .inputs = {{"input"}},
                 .params = columns_params(true),
                 .shape = col2im_shape,
                 .cpu = col2im_cpu,
                 .vjp = col2im_vjp,
                 .reads = {{}},
                 .half_through_f32 = true,
                 .family = OpFamily::view,
                 .flops = kOnePerOperand};

}  // namespace

ResizeGeometry resize_geometry(const Call& call) {
  return interpolation(call, call.op == &kInterpolate ? call.input(0).shape() : call.output().shape());
}
ConvGeometry window_geometry(const Call& call) {
  const bool back = call.op == &kCol2im;
  return windows(call, back ? call.output().shape() : call.input(0).shape(), back ? 1 : 0);
}

Tensor interpolate(const Tensor& x, const Dims& size, Interpolation mode, bool align_corners) {
  return apply1(kInterpolate, {x}, {size, Value(), int64_t(mode), align_corners});
}
Tensor im2col(const Tensor& x, const Dims& kernel_size, const Dims& dilation, const Dims& padding,
              const Dims& stride) {
  return apply1(kIm2col, {x}, {kernel_size, dilation, padding, stride});
}
Tensor col2im(const Tensor& columns, const Dims& output_size, const Dims& kernel_size, const Dims& dilation,
              const Dims& padding, const Dims& stride) {
  return apply1(kCol2im, {columns}, {output_size, kernel_size, dilation, padding, stride});
}

std::span<const Op* const> resize_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list = {&kInterpolate, &kIm2col, &kCol2im, &kInterpolateGrad};
    for (const Op* const op : sampling_ops()) list.push_back(op);
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
