// Convolutions. The operation is linear in the input and in the weight, so its gradients are ops whose own
// gradients are again convolutions, to any order:
//   y = conv(x, w),  dx = grad_input(g, w),  dw = grad_weight(x, g)
//   from G for dx: g gets conv(G, w), w gets grad_weight(G, g);  from G for dw: x gets grad_input(g, G), g
//   conv(x, G)
#include "runtime/cpu/conv.h"

#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

enum Param { kStride, kPadding, kDilation, kGroups, kSizes };
constexpr int kSpatial = 2;

// The sizes of stride, padding or dilation: one for both dims, or one each.
ConvGeometry::Sizes sizes_of(const char* name, const Dims& list, int64_t least, int64_t leading) {
  if (list.size() != 1 && list.size() != kSpatial)
    fail("conv2d: ", name, " must be one number or ", kSpatial, " (got ", list, ")");
  ConvGeometry::Sizes sizes;
  sizes.fill(leading);
  for (int i = 0; i < kSpatial; ++i) {
    const int64_t size = list[list.size() == 1 ? 0 : i];
    if (size < least) fail("conv2d: ", name, " must be at least ", least, " (got ", list, ")");
    sizes[size_t(ConvGeometry::kSpatial - kSpatial + i)] = size;
  }
  return sizes;
}

// From the shapes of the input, [N, C, H, W] or [C, H, W], and of the weight, [O, C / groups, kH, kW].
ConvGeometry geometry(const Shape& x, const Shape& weight, const Values& params) {
  if (x.size() != kSpatial + 2 && x.size() != kSpatial + 1)
    fail("conv2d: input must be [N, C, H, W] or [C, H, W] (got shape ", x, ")");
  if (weight.size() != kSpatial + 2)
    fail("conv2d: weight must be [out, in / groups, kH, kW] (got shape ", weight, ")");
  ConvGeometry g;
  g.stride = sizes_of("stride", params[kStride].list, 1, 1);
  g.padding = sizes_of("padding", params[kPadding].list, 0, 0);
  g.dilation = sizes_of("dilation", params[kDilation].list, 1, 1);
  g.groups = params[kGroups].i;
  const int channel = x.size() - kSpatial - 1;
  g.batch = channel == 0 ? 1 : x[0];
  g.in_channels = x[channel];
  g.out_channels = weight[0];
  if (g.groups < 1 || g.in_channels % g.groups != 0 || g.out_channels % g.groups != 0)
    fail("conv2d: groups = ", g.groups, " must divide the ", g.in_channels, " input and ", g.out_channels,
         " output channels");
  if (weight[1] * g.groups != g.in_channels)
    fail("conv2d: weight of shape ", weight, " with groups = ", g.groups, " needs ", weight[1] * g.groups,
         " input channels (got input of shape ", x, ")");
  for (int i = 0; i < kSpatial; ++i) {
    const size_t d = size_t(ConvGeometry::kSpatial - kSpatial + i);
    g.in[d] = x[channel + 1 + i];
    g.kernel[d] = weight[2 + i];
    const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1, padded = g.in[d] + 2 * g.padding[d];
    if (g.kernel[d] < 1 || reach > padded)
      fail("conv2d: a kernel of shape ", weight, " does not fit into the padded input: dim ", channel + 2 + i,
           " has ", padded, " elements, the kernel reaches over ", reach);
    g.out[d] = (padded - reach) / g.stride[d] + 1;
  }
  return g;
}

Shape output_shape(const Shape& x, const ConvGeometry& g) {
  Shape shape = x;
  const int channel = x.size() - kSpatial - 1;
  shape[channel] = g.out_channels;
  for (int i = 0; i < kSpatial; ++i)
    shape[channel + 1 + i] = g.out[size_t(ConvGeometry::kSpatial - kSpatial + i)];
  return shape;
}

Values with_sizes(const Backward& b, const Shape& sizes) {
  return {b.list(kStride), b.list(kPadding), b.list(kDilation), b.integer(kGroups), sizes};
}
Values without_sizes(const Backward& b) {
  return {b.list(kStride), b.list(kPadding), b.list(kDilation), b.integer(kGroups)};
}

// Runs f<T>() with the element type of the output.
template <class F>
void with_type(const Call& call, F&& f) {
  call.output().dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

extern const Op kConv2d, kGradInput, kGradWeight;

Tensor conv(const Tensor& x, const Tensor& weight, const Values& params) {
  return apply1(kConv2d, {x, weight, Tensor()}, params);
}
Tensor grad_input(const Tensor& g, const Tensor& weight, const Values& params) {
  return apply1(kGradInput, {g, weight}, params);
}
Tensor grad_weight(const Tensor& x, const Tensor& g, const Values& params) {
  return apply1(kGradWeight, {x, g}, params);
}

void conv_shape(Call& call) {
  require_floating(call);
  const ConvGeometry g = geometry(call.input(0).shape(), call.input(1).shape(), call.params);
  if (call.has(2) && !(call.input(2).shape() == Shape{g.out_channels}))
    fail("conv2d: bias has shape ", call.input(2).shape(), " where ", g.out_channels,
         " output channels need [", g.out_channels, "]");
  call.emit(output_shape(call.input(0).shape(), g), call.input(0).dtype());
}
void conv_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), weight = in_order(call.input(1));
  const Tensor bias = call.has(2) ? in_order(call.input(2)) : Tensor();
  const ConvGeometry g = geometry(x.shape(), weight.shape(), call.params);
  with_type(call, [&]<class T>() {
    conv_forward(g, x.data<T>(), weight.data<T>(), bias.defined() ? bias.data<T>() : nullptr,
                 call.output().data<T>());
  });
}
void conv_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, grad_input(g, b.input(1), with_sizes(b, b.shape(0))));
  if (b.needs(1)) b.set(1, grad_weight(b.input(0), g, with_sizes(b, b.shape(1))));
  if (b.needs(2)) b.set(2, sum(g, g.ndim() == kSpatial + 2 ? Dims{0, 2, 3} : Dims{1, 2}));
}

void grad_input_shape(Call& call) { call.emit(call.list(kSizes), call.input(0).dtype()); }
void grad_input_cpu(const Call& call) {
  const Tensor grad = in_order(call.input(0)), weight = in_order(call.input(1));
  const ConvGeometry g = geometry(call.output().shape(), weight.shape(), call.params);
  with_type(call, [&]<class T>() {
    conv_grad_input(g, grad.data<T>(), weight.data<T>(), call.output().data<T>());
  });
}
void grad_input_vjp(Backward& b) {
  const Tensor up = b.grad();
  if (b.needs(0)) b.set(0, conv(up, b.input(1), without_sizes(b)));
  if (b.needs(1)) b.set(1, grad_weight(up, b.input(0), with_sizes(b, b.shape(1))));
}

void grad_weight_shape(Call& call) { call.emit(call.list(kSizes), call.input(0).dtype()); }
void grad_weight_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), grad = in_order(call.input(1));
  const ConvGeometry g = geometry(x.shape(), call.output().shape(), call.params);
  with_type(call,
            [&]<class T>() { conv_grad_weight(g, x.data<T>(), grad.data<T>(), call.output().data<T>()); });
}
void grad_weight_vjp(Backward& b) {
  const Tensor up = b.grad();
  if (b.needs(0)) b.set(0, grad_input(b.input(1), up, with_sizes(b, b.shape(0))));
  if (b.needs(1)) b.set(1, conv(b.input(0), up, without_sizes(b)));
}

std::vector<ParamSpec> conv_params(const char* sizes) {
  std::vector<ParamSpec> params = {{"stride", ParamKind::integers, Dims{1}},
                                   {"padding", ParamKind::integers, Dims{0}},
                                   {"dilation", ParamKind::integers, Dims{1}},
                                   {"groups", ParamKind::integer, 1}};
  if (sizes) params.push_back({sizes, ParamKind::integers, {}});
  return params;
}

const Op kConv2d{
    .name = "conv2d",
    .doc = "Slides a weight [out, in / groups, kH, kW] over images [N, in, H, W] and adds a bias.",
    .inputs = {{"input"}, {"weight"}, {"bias", true}},
    .params = conv_params(nullptr),
    .shape = conv_shape,
    .cpu = conv_cpu,
    .vjp = conv_vjp,
    .reads = {{.inputs = 2}, {.inputs = 1}, {}},
    .half_through_f32 = true};
const Op kGradInput{.name = "_conv2d_grad_input",
                    .doc = "The gradient of conv2d with respect to its input.",
                    .inputs = {{"grad"}, {"weight"}},
                    .params = conv_params("input_size"),
                    .shape = grad_input_shape,
                    .cpu = grad_input_cpu,
                    .vjp = grad_input_vjp,
                    .reads = {{.inputs = 2}, {.inputs = 1}},
                    .half_through_f32 = true};
const Op kGradWeight{.name = "_conv2d_grad_weight",
                     .doc = "The gradient of conv2d with respect to its weight.",
                     .inputs = {{"input"}, {"grad"}},
                     .params = conv_params("weight_size"),
                     .shape = grad_weight_shape,
                     .cpu = grad_weight_cpu,
                     .vjp = grad_weight_vjp,
                     .reads = {{.inputs = 2}, {.inputs = 1}},
                     .half_through_f32 = true};

}  // namespace

Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
              const Dims& padding, const Dims& dilation, int64_t groups) {
  return apply1(kConv2d, {x, weight, bias}, {stride, padding, dilation, groups});
}

std::span<const Op* const> conv_ops() {
  static constexpr const Op* ops[] = {&kConv2d, &kGradInput, &kGradWeight};
  return ops;
}

}  // namespace lunagrad
