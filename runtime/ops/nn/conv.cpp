// Convolutions over 1 to 3 spatial dims. They are linear in the input and in the weight, so the gradients are
// ops whose gradients are convolutions again, to any order:
//   y = conv(x, w),  dx = grad_input(g, w),  dw = grad_weight(x, g)
//   from G for dx: g gets conv(G, w), w gets grad_weight(G, g)
//   from G for dw: x gets grad_input(g, G), g gets conv(x, G)
// A transposed convolution is grad_input with x in place of g, plus a bias.
#include <complex>
#include <limits>

#include "runtime/ops/dense.h"
#include "runtime/ops/elementwise/activation.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/half_ops.h"
#include "runtime/ops/nn/conv_geometry.h"
#include "runtime/ops/nn/cpu/bf16_conv.h"
#include "runtime/ops/nn/window_limits.h"
#include "runtime/ops/nn/with_type.h"

namespace lunagrad {
namespace {

enum ConvParam {
  kConvStride,
  kConvPadding,
  kConvDilation,
  kConvGroups,
  kConvSizes,
  kConvActivation = kConvSizes
};
enum TransposedParam {
  kTransposedStride,
  kTransposedPadding,
  kOutputPadding,
  kTransposedGroups,
  kTransposedDilation
};
enum PaddingChoice { kValid, kSame };

constexpr const char* kKernelAxes[] = {"kW", "kH, kW", "kD, kH, kW"};

size_t place(int dims, int i) { return size_t(ConvGeometry::kSpatial - dims + i); }

// The sizes of stride, padding or dilation for each spatial dim; the list has one number for all dims or one
// for each.
ConvGeometry::Sizes conv_sizes(const Call& call, int dims, const char* name, const Dims& list, int64_t least,
                               int64_t leading) {
  if (list.size() != 1 && list.size() != dims)
    fail(call.op->name, ": ", name, " must be one number", dims == 1 ? "" : " or ",
         dims == 1   ? ""
         : dims == 2 ? "2"
                     : "3",
         " (got ", list, ")");
  check_steps(call.op->name, name, list, least);
  ConvGeometry::Sizes sizes;
  sizes.fill(leading);
  for (int i = 0; i < dims; ++i) sizes[place(dims, i)] = list[list.size() == 1 ? 0 : i];
  return sizes;
}

// Checks the number of dims of `x`, [N, C, spatial…] or [C, spatial…], and of the weight.
void check_dims(const Call& call, int dims, const Shape& x, const Shape& weight, const char* weight_axes) {
  const char* const axes = kSpatialAxes[dims - 1];
  if (x.size() != dims + 2 && x.size() != dims + 1)
    fail(call.op->name, ": input must be [N, C, ", axes, "] or [C, ", axes, "] (got shape ", x, ")");
  if (weight.size() != dims + 2)
    fail(call.op->name, ": weight must be [", weight_axes, ", ", kKernelAxes[dims - 1], "] (got shape ",
         weight, ")");
  for (int d = 2; d < weight.size(); ++d)
    if (weight[d] > kLongestStep)
      fail(call.op->name, ": a kernel has at most ", kLongestStep, " elements in a row (got shape ", weight,
           ")");
}

void check_bias(const Call& call, int64_t channels) {
  if (call.has(2) && !(call.input(2).shape() == Shape{channels}))
    fail(call.op->name, ": bias has shape ", call.input(2).shape(), " where ", channels,
         " output channels need [", channels, "]");
}

// The geometry of conv(image, weight) without `out`, and its checks.
ConvGeometry geometry(const Call& call, const Values& params, int dims, const Shape& image,
                      const Shape& weight) {
  ConvGeometry g;
  const bool same = params[kConvPadding].kind == Value::Kind::integer && params[kConvPadding].i == kSame;
  const Dims padding =
      params[kConvPadding].kind == Value::Kind::integer ? Dims{0} : params[kConvPadding].list;
  g.stride = conv_sizes(call, dims, "stride", params[kConvStride].list, 1, 1);
  g.padding = conv_sizes(call, dims, "padding", padding, 0, 0);
  g.dilation = conv_sizes(call, dims, "dilation", params[kConvDilation].list, 1, 1);
  g.groups = params[kConvGroups].i;
  const int channel = image.size() - dims - 1;
  g.batch = channel == 0 ? 1 : image[0];
  g.in_channels = image[channel];
  g.out_channels = weight[0];
  for (int i = 0; i < dims; ++i) {
    const size_t d = place(dims, i);
    g.in[d] = image[channel + 1 + i];
    g.kernel[d] = weight[2 + i];
    if (same) g.padding[d] = g.dilation[d] * (g.kernel[d] - 1) / 2;
    if (same && g.stride[d] != 1)
      fail(call.op->name, ": padding = 'same' needs stride 1 (got ", params[kConvStride].list, ")");
  }
  return g;
}

// A transposed convolution is the gradient of a convolution. Returns the convolution's parameters.
Values untransposed(const Values& given) {
  return {given[kTransposedStride], given[kTransposedPadding], given[kTransposedDilation],
          given[kTransposedGroups]};
}

// Runs f<T>() with the element type of the output.
template <class T>
const T* data_of(const Tensor& x) {
  return x.defined() ? x.data<T>() : nullptr;
}

bool is_narrow(const Call& call) { return call.output().dtype() == DType::bf16; }

Dims all_but_channel(const Tensor& y, int dims) {
  Dims list;
  for (int d = 0; d < y.ndim(); ++d)
    if (d != y.ndim() - dims - 1) list.push_back(d);
  return list;
}

void check_types(const Call& call) {
  if (!is_complex(call.input(0).dtype())) return require_floating(call);
  require_same_dtype(call);
}

// All of these ops are linear in each of their first two operands. For complex operands
//   (a + ib) * (c + id) = (a * c - b * d) + i (a * d + b * c)
// each product is a call of the kernel for real numbers; the bias is added by the first product of each sum.
template <void (*kernel)(const Call&)>
void by_parts(const Call& call) {
  const Tensor& out = call.output();
  if (!is_complex(out.dtype())) return kernel(call);
  std::array<Operands, 2> parts;  // of all operands, real and imaginary
  for (const Tensor& x : call.in)
    for (int i = 0; i < 2; ++i) parts[size_t(i)].push_back(x.defined() ? part_in_order(x, i) : Tensor());
  const auto product = [&](size_t a, size_t b, bool begins) {
    Call real;
    real.op = call.op;
    real.params = call.params;
    real.in = {parts[a][0], parts[b][1]};
    if (call.in.size() > 2) real.in.push_back(begins ? parts[b][2] : Tensor());
    real.out.push_back(Tensor::empty(out.shape(), part_type(out.dtype())));
    kernel(real);
    return real.out[0];
  };
  const Tensor ac = product(0, 0, true), bd = product(1, 1, false), ad = product(0, 1, true),
               bc = product(1, 0, false);
  const auto join = [&]<class T>(T) {
    const T *real = ac.data<T>(), *minus = bd.data<T>(), *imag = ad.data<T>(), *plus = bc.data<T>();
    auto* const to = out.data<std::complex<T>>();
    for (int64_t i = 0; i < out.numel(); ++i) to[i] = {real[i] - minus[i], imag[i] + plus[i]};
  };
  out.dtype() == DType::c128 ? join(double()) : join(float());
}

// The parameters of all convolutions, then `last`.
std::vector<ParamSpec> conv_params(ParamSpec last) {
  std::vector<ParamSpec> params = {
      {"stride", ParamKind::integers, Dims{1}},
      {.name = "padding", .kind = ParamKind::integers, .fallback = Dims{0}, .choices = {"valid", "same"}},
      {"dilation", ParamKind::integers, Dims{1}},
      {"groups", ParamKind::integer, 1}};
  params.push_back(std::move(last));
  return params;
}

struct ConvNames {
  const char *conv, *conv_doc, *grad_input, *grad_weight, *transposed, *transposed_doc;
};
constexpr ConvNames kConvNames[] = {
    {"conv1d", "Slides a weight [out, in / groups, kW] over sequences [N, in, W], adds a bias and activates.",
     "_conv1d_grad_input", "_conv1d_grad_weight", "conv_transpose1d",
     "The gradient of conv1d with respect to its input as an operation: each element of [N, in, W] adds a "
     "weight "
     "[in, out / groups, kW] to the result."},
    {"conv2d",
     "Slides a weight [out, in / groups, kH, kW] over images [N, in, H, W], adds a bias and activates.",
     "_conv2d_grad_input", "_conv2d_grad_weight", "conv_transpose2d",
     "The gradient of conv2d with respect to its input as an operation: each element of [N, in, H, W] adds a "
     "weight [in, out / groups, kH, kW] to the result."},
    {"conv3d",
     "Slides a weight [out, in / groups, kD, kH, kW] over volumes [N, in, D, H, W], adds a bias and "
     "activates.",
     "_conv3d_grad_input", "_conv3d_grad_weight", "conv_transpose3d",
     "The gradient of conv3d with respect to its input as an operation: each element of [N, in, D, H, W] "
     "adds a "
     "weight [in, out / groups, kD, kH, kW] to the result."}};

// Examples of conv_transpose3d. Transposed convolutions over fewer dims are in the tables of the tests.
std::vector<OpExample> transposed_examples(int dims) {
  if (dims != 3) return {};
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return {{.inputs = {{.shape = {1, 2, 2, 3, 2}}, {.shape = {2, 3, 2, 2, 3}}, {.shape = {3}}}},
          {.inputs = {{.shape = {1, 2, 2, 3, 2}}, {.shape = {2, 1, 2, 1, 3}}, {.shape = {2}}},
           .params = {Dims{2, 1, 3}, Dims{1, 0, 1}, Dims{1, 0, 2}, 2, Dims{2, 1, 1}}},
          {.inputs = {{.shape = {2, 2, 2, 2}},
                      {.shape = {2, 2, 2, 2, 2}},
                      {.kind = ExampleOperand::Kind::absent}}},
          {.inputs = {{.shape = {2, 2}}, {.shape = {2, 2, 2, 2, 2}}, {.kind = ExampleOperand::Kind::absent}},
           .error = "input must be [N, C, D, H, W] or [C, D, H, W]"},
          {.inputs = {{.shape = {2, 2, 2, 2}},
                      {.shape = {2, 2, 2, 2, 2}},
                      {.kind = ExampleOperand::Kind::absent}},
           .params = {Dims{kMost}},
           .error = "stride must be at most"}};
}

// The records for one number of spatial dims.
template <int dims>
struct Conv {
  static const Op conv, grad_input, grad_weight, transposed;

  // A convolution cropped to the sizes `wanted`: its windows may give larger sizes.
  static Tensor forward(const Tensor& x, const Tensor& weight, Values params, const Shape& wanted) {
    params.push_back(int64_t(Activation::none));
    Tensor y = apply1(conv, {x, weight, Tensor()}, params);
    for (int d = y.ndim() - dims; d < y.ndim(); ++d)
      if (y.size(d) > wanted[d]) y = narrow(y, d, 0, wanted[d]);
    return y;
  }
  static Tensor to_input(const Tensor& g, const Tensor& weight, Values params, const Shape& sizes) {
    params.push_back(sizes);
    return apply1(grad_input, {g, weight}, params);
  }
  static Tensor to_weight(const Tensor& x, const Tensor& g, Values params, const Shape& sizes) {
    params.push_back(sizes);
    return apply1(grad_weight, {x, g}, params);
  }
  static Values plain(const Backward& b) {
    const Values& given = b.node().attributes->params;
    return {given[kConvStride], given[kConvPadding], given[kConvDilation], given[kConvGroups]};
  }

  static void conv_shape(Call& call) {
    check_types(call);
    const Shape &x = call.input(0).shape(), &weight = call.input(1).shape();
    check_dims(call, dims, x, weight, "out, in / groups");
    const ConvGeometry g = geometry(call, call.params, dims, x, weight);
    const char* const name = call.op->name;
    if (g.groups < 1 || g.groups > kLongestStep || g.in_channels % g.groups != 0 ||
        g.out_channels % g.groups != 0)
      fail(name, ": groups = ", g.groups, " must divide the ", g.in_channels, " input and ", g.out_channels,
           " output channels");
    if (weight[1] * g.groups != g.in_channels)
      fail(name, ": weight of shape ", weight, " with groups = ", g.groups, " needs ", weight[1] * g.groups,
           " input channels (got input of shape ", x, ")");
    check_bias(call, g.out_channels);
    const bool same =
        call.params[kConvPadding].kind == Value::Kind::integer && call.params[kConvPadding].i == kSame;
    Shape result = x;
    result[x.size() - dims - 1] = g.out_channels;
    for (int i = 0; i < dims; ++i) {
      const size_t d = place(dims, i);
      const int axis = x.size() - dims + i;
      const int64_t reach = g.dilation[d] * (g.kernel[d] - 1) + 1;
      const int64_t padded = same ? g.in[d] + reach - 1 : g.in[d] + 2 * g.padding[d];
      if (g.kernel[d] < 1 || reach > padded)
        fail(name, ": a kernel of shape ", weight, " does not fit into the padded input: dim ", axis + 1,
             " has ", padded, " elements, the kernel reaches over ", reach);
      result[axis] = (padded - reach) / g.stride[d] + 1;
    }
    call.emit(result, call.input(0).dtype());
  }
  static void conv_cpu(const Call& call) {
    const Tensor x = in_order(call.input(0)), weight = in_order(call.input(1));
    const Tensor bias = call.has(2) ? in_order(call.input(2)) : Tensor();
    const ConvGeometry g = conv_geometry(call, ConvPart::result, dims);
    if (is_narrow(call))
      return conv_forward(g, *bf16_kernel(), x.data<BFloat16>(), weight.data<BFloat16>(),
                          data_of<BFloat16>(bias), call.output().data<BFloat16>());
    with_type(call, [&]<class T>() {
      conv_forward(g, x.data<T>(), weight.data<T>(), data_of<T>(bias), call.output().data<T>(),
                   activation_kernel(activation_of(call.params), x.dtype()));
    });
  }
  static Operands conv_compose(const Call& call) {
    Values params = call.params;
    params[kConvActivation] = int64_t(Activation::none);
    return {activate(apply1(conv, call.in, params), activation_of(call.params))};
  }
  static void conv_vjp(Backward& b) {
    const Tensor g = gradient_before_activation(b);
    if (b.needs(0)) b.set(0, to_input(g, b.input(1), plain(b), b.shape(0)));
    if (b.needs(1)) b.set(1, to_weight(b.input(0), g, plain(b), b.shape(1)));
    if (b.needs(2)) b.set(2, sum(g, all_but_channel(g, dims)));
  }

  // 2 x elements of the small side x elements of one filter: a multiply-add for each weight at each position,
  // as PyTorch counts them (torch/utils/flop_counter.py, conv_flop_count).
  static double products(const Tensor& results, const Tensor& weight) {
    return 2 * elements(results) * elements(weight) / std::max(1.0, double(weight.size(0)));
  }
  static double conv_flops(const Call& call) { return products(call.out[0], call.in[1]); }
  static double grad_input_flops(const Call& call) { return products(call.in[0], call.in[1]); }
  static double grad_weight_flops(const Call& call) { return products(call.in[1], call.out[0]); }

  static void sizes_shape(Call& call) { call.emit(call.list(kConvSizes), call.input(0).dtype()); }
  static void grad_input_cpu(const Call& call) {
    const Tensor grad = in_order(call.input(0)), weight = in_order(call.input(1));
    const ConvGeometry g = conv_geometry(call, ConvPart::input_gradient, dims);
    if (is_narrow(call))
      return conv_grad_input(g, *bf16_kernel(), grad.data<BFloat16>(), weight.data<BFloat16>(), nullptr,
                             call.output().data<BFloat16>());
    with_type(call, [&]<class T>() {
      conv_grad_input<T>(g, grad.data<T>(), weight.data<T>(), nullptr, call.output().data<T>());
    });
  }
  static void grad_input_vjp(Backward& b) {
    const Tensor up = b.grad();
    if (b.needs(0)) b.set(0, forward(up, b.input(1), plain(b), b.shape(0)));
    if (b.needs(1)) b.set(1, to_weight(up, b.input(0), plain(b), b.shape(1)));
  }

  static void grad_weight_cpu(const Call& call) {
    const Tensor x = in_order(call.input(0)), grad = in_order(call.input(1));
    const ConvGeometry g = conv_geometry(call, ConvPart::weight_gradient, dims);
    if (is_narrow(call))
      return conv_grad_weight(g, *bf16_kernel(), x.data<BFloat16>(), grad.data<BFloat16>(),
                              call.output().data<BFloat16>());
    with_type(call,
              [&]<class T>() { conv_grad_weight(g, x.data<T>(), grad.data<T>(), call.output().data<T>()); });
  }
  static void grad_weight_vjp(Backward& b) {
    const Tensor up = b.grad();
    if (b.needs(0)) b.set(0, to_input(b.input(1), up, plain(b), b.shape(0)));
    if (b.needs(1)) b.set(1, forward(b.input(0), up, plain(b), b.shape(1)));
  }

  static void transposed_shape(Call& call) {
    check_types(call);
    const Shape &x = call.input(0).shape(), &weight = call.input(1).shape();
    check_dims(call, dims, x, weight, "in, out / groups");
    const char* const name = call.op->name;
    const int64_t groups = call.integer(kTransposedGroups);
    const int channel = x.size() - dims - 1;
    if (groups < 1 || groups > kLongestStep || x[channel] % groups != 0)
      fail(name, ": groups = ", groups, " must divide the ", x[channel], " input channels");
    if (weight[0] != x[channel])
      fail(name, ": weight of shape ", weight, " needs ", weight[0], " input channels (got input of shape ",
           x, ")");
    check_bias(call, weight[1] * groups);
    const auto stride = conv_sizes(call, dims, "stride", call.list(kTransposedStride), 1, 1);
    const auto padding = conv_sizes(call, dims, "padding", call.list(kTransposedPadding), 0, 0);
    const auto dilation = conv_sizes(call, dims, "dilation", call.list(kTransposedDilation), 1, 1);
    const auto extra = conv_sizes(call, dims, "output_padding", call.list(kOutputPadding), 0, 0);
    Shape result = x;
    result[channel] = weight[1] * groups;
    for (int i = 0; i < dims; ++i) {
      const size_t d = place(dims, i);
      if (extra[d] >= std::max(stride[d], dilation[d]))
        fail(name, ": output_padding must be less than stride or dilation (got output_padding ", extra[d],
             ", stride ", stride[d], ", dilation ", dilation[d], ")");
      int64_t& size = result[channel + 1 + i];
      const int64_t before = size;
      const __int128 wanted = __int128(size - 1) * stride[d] - 2 * padding[d] +
                              __int128(dilation[d]) * (weight[2 + i] - 1) + extra[d] + 1;
      if (wanted > std::numeric_limits<int64_t>::max())
        fail(name, ": dim ", channel + 2 + i, " of the result would have more elements than can be counted");
      size = int64_t(wanted);
      if (weight[2 + i] < 1 || before < 1 || size < 1)
        fail(name, ": no result is left of the input of shape ", x, " with a kernel of shape ", weight,
             ": dim ", channel + 2 + i, " would have ", size, " elements");
    }
    call.emit(result, call.input(0).dtype());
  }
  static void transposed_cpu(const Call& call) {
    const Tensor x = in_order(call.input(0)), weight = in_order(call.input(1));
    const Tensor bias = call.has(2) ? in_order(call.input(2)) : Tensor();
    const ConvGeometry g = conv_geometry(call, ConvPart::transposed, dims);
    if (is_narrow(call))
      return conv_grad_input(g, *bf16_kernel(), x.data<BFloat16>(), weight.data<BFloat16>(),
                             data_of<BFloat16>(bias), call.output().data<BFloat16>());
    with_type(call, [&]<class T>() {
      conv_grad_input<T>(g, x.data<T>(), weight.data<T>(), data_of<T>(bias), call.output().data<T>());
    });
  }
  static void transposed_vjp(Backward& b) {
    const Tensor g = b.grad();
    const Values params = untransposed(b.node().attributes->params);
    if (b.needs(0)) b.set(0, forward(g, b.input(1), params, b.shape(0)));
    if (b.needs(1)) b.set(1, to_weight(g, b.input(0), params, b.shape(1)));
    if (b.needs(2)) b.set(2, sum(g, all_but_channel(g, dims)));
  }
};

template <int dims>
const Op Conv<dims>::conv{.name = kConvNames[dims - 1].conv,
                          .doc = kConvNames[dims - 1].conv_doc,
                          .inputs = {{"input"}, {"weight"}, {"bias", true}},
                          .params = conv_params(activation_param()),
                          .shape = conv_shape,
                          .cpu = by_parts<conv_cpu>,
                          .vjp = conv_vjp,
                          .reads = {{.inputs = 2, .outputs = 1}, {.inputs = 1, .outputs = 1}, {.outputs = 1}},
                          .reads_outputs = has_activation,
                          .compose = conv_compose,
                          .composed = activates_apart,
                          .half_through_f32 = true,
                          .complex = true,
                          .family = OpFamily::linear_algebra,
                          .autocast = AutocastPolicy::lower_precision,
                          .flops = {conv_flops, "2 x elements of the result x elements of one filter"}};
template <int dims>
const Op Conv<dims>::grad_input{
    .name = kConvNames[dims - 1].grad_input,
    .doc = "The gradient of a convolution with respect to its input.",
    .inputs = {{"grad"}, {"weight"}},
    .params = conv_params({"input_size", ParamKind::integers, {}}),
    .shape = sizes_shape,
    .cpu = by_parts<grad_input_cpu>,
    .vjp = grad_input_vjp,
    .reads = {{.inputs = 2}, {.inputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .flops = {grad_input_flops, "as the convolution: 2 x elements of its result x elements of one filter"}};
template <int dims>
const Op Conv<dims>::grad_weight{
    .name = kConvNames[dims - 1].grad_weight,
    .doc = "The gradient of a convolution with respect to its weight.",
    .inputs = {{"input"}, {"grad"}},
    .params = conv_params({"weight_size", ParamKind::integers, {}}),
    .shape = sizes_shape,
    .cpu = by_parts<grad_weight_cpu>,
    .vjp = grad_weight_vjp,
    .reads = {{.inputs = 2}, {.inputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .flops = {grad_weight_flops, "as the convolution: 2 x elements of its result x elements of one filter"}};
template <int dims>
const Op Conv<dims>::transposed{
    .name = kConvNames[dims - 1].transposed,
    .doc = kConvNames[dims - 1].transposed_doc,
    .inputs = {{"input"}, {"weight"}, {"bias", true}},
    .params = {{"stride", ParamKind::integers, Dims{1}},
               {"padding", ParamKind::integers, Dims{0}},
               {"output_padding", ParamKind::integers, Dims{0}},
               {"groups", ParamKind::integer, 1},
               {"dilation", ParamKind::integers, Dims{1}}},
    .shape = transposed_shape,
    .cpu = by_parts<transposed_cpu>,
    .vjp = transposed_vjp,
    .reads = {{.inputs = 2}, {.inputs = 1}, {}},
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::lower_precision,
    .flops = {grad_input_flops, "2 x elements of the input x elements of the weight for one input channel"},
    .examples = transposed_examples(dims)};

// conv_tbc has the layout of a sequence: input [T, N, C], weight [kernel, C, O].
Operands conv_tbc_compose(const Call& call) {
  const Tensor &x = call.input(0), &weight = call.input(1);
  if (x.ndim() != 3 || weight.ndim() != 3)
    fail(
        "conv_tbc: input [time, batch, channels] and weight [kernel, channels, channels out] expected (got "
        "shapes ",
        x.shape(), " and ", weight.shape(), ")");
  const Tensor y =
      conv1d(permute(x, {1, 2, 0}), permute(weight, {2, 1, 0}), call.input(2), {1}, {call.integer(0)});
  return {permute(y, {2, 0, 1})};
}
const Op kConvTbc{
    .name = "conv_tbc",
    .doc =
        "The convolution along time of input [time, batch, channels] with weight [kernel, channels, channels "
        "out], with pad zeros on both sides.",
    .inputs = {{"input"}, {"weight"}, {"bias"}},
    .params = {{"pad", ParamKind::integer, 0}},
    .compose = conv_tbc_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{5, 2, 3}}, {{2, 3, 4}}, {{4}}}, .types = OpExample::Types::floating},
        {.inputs = {{{4, 1, 2}}, {{3, 2, 2}}, {{2}}}, .params = {1}, .types = OpExample::Types::floating},
        {.inputs = {{{4, 2}}, {{3, 2, 2}}, {{2}}}, .error = "conv_tbc: input [time, batch, channels]"}}};

}  // namespace

ConvGeometry conv_geometry(const Call& call, ConvPart part, int dims) {
  const Shape &first = call.input(0).shape(), &second = call.input(1).shape(), &made = call.output().shape();
  const bool forward = part == ConvPart::result, to_weight = part == ConvPart::weight_gradient;
  ConvGeometry g = geometry(call, part == ConvPart::transposed ? untransposed(call.params) : call.params,
                            dims, forward || to_weight ? first : made, to_weight ? made : second);
  const Shape& result = forward ? made : to_weight ? second : first;
  for (int i = 0; i < dims; ++i) g.out[place(dims, i)] = result[result.size() - dims + i];
  return g;
}

Tensor conv1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
              const Dims& padding, const Dims& dilation, int64_t groups, Activation activation) {
  return apply1(Conv<1>::conv, {x, weight, bias}, {stride, padding, dilation, groups, int64_t(activation)});
}
Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
              const Dims& padding, const Dims& dilation, int64_t groups, Activation activation) {
  return apply1(Conv<2>::conv, {x, weight, bias}, {stride, padding, dilation, groups, int64_t(activation)});
}
Tensor conv3d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
              const Dims& padding, const Dims& dilation, int64_t groups, Activation activation) {
  return apply1(Conv<3>::conv, {x, weight, bias}, {stride, padding, dilation, groups, int64_t(activation)});
}
Tensor conv_transpose1d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
                        const Dims& padding, const Dims& output_padding, int64_t groups,
                        const Dims& dilation) {
  return apply1(Conv<1>::transposed, {x, weight, bias}, {stride, padding, output_padding, groups, dilation});
}
Tensor conv_transpose2d(const Tensor& x, const Tensor& weight, const Tensor& bias, const Dims& stride,
                        const Dims& padding, const Dims& output_padding, int64_t groups,
                        const Dims& dilation) {
  return apply1(Conv<2>::transposed, {x, weight, bias}, {stride, padding, output_padding, groups, dilation});
}

bool is_bf16_convolution(const Call& call) {
  const auto is_one_of = [&](const Op& a, const Op& b, const Op& c) {
    return call.op == &a || call.op == &b || call.op == &c;
  };
  const bool to_weight = is_one_of(Conv<1>::grad_weight, Conv<2>::grad_weight, Conv<3>::grad_weight);
  const bool forward = is_one_of(Conv<1>::conv, Conv<2>::conv, Conv<3>::conv);
  if (!to_weight && !forward && !is_one_of(Conv<1>::grad_input, Conv<2>::grad_input, Conv<3>::grad_input) &&
      !is_one_of(Conv<1>::transposed, Conv<2>::transposed, Conv<3>::transposed))
    return false;
  const Shape weight = to_weight ? call.list(kConvSizes) : call.input(1).shape();
  static_assert(int(kConvGroups) == int(kTransposedGroups));
  const int64_t groups = call.integer(kConvGroups), elements = numel(weight);
  if (weight.size() < 2 || groups < 1 || elements == 0) return false;
  return forward || to_weight ? fills_tiles(weight[0] / groups, elements / weight[0])
                              : fills_tiles(weight[1], elements / weight[1] / groups);
}

std::span<const Op* const> conv_ops() {
  static constexpr const Op* ops[] = {&Conv<1>::conv,
                                      &Conv<2>::conv,
                                      &Conv<3>::conv,
                                      &Conv<1>::transposed,
                                      &Conv<2>::transposed,
                                      &Conv<3>::transposed,
                                      &Conv<1>::grad_input,
                                      &Conv<2>::grad_input,
                                      &Conv<3>::grad_input,
                                      &Conv<1>::grad_weight,
                                      &Conv<2>::grad_weight,
                                      &Conv<3>::grad_weight,
                                      &kConvTbc};
  return ops;
}

}  // namespace lunagrad
