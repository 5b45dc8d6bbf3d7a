// Pooling. Max pooling picks one element of each window; its gradient puts the gradient there, and the
// gradient of that picks again, so all orders are these two ops:
//   y = pick(x, by x),  dx = put(g, by x),  from G for dx: g gets pick(G, by x)
#include "runtime/cpu/pool.h"

#include <array>

#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

enum Param { kKernel, kStride, kPadding, kDilation, kCeil };

std::array<int64_t, 2> pair_of(const char* name, const Dims& list, int64_t least) {
  if (list.size() != 1 && list.size() != 2)
    fail("max_pool2d: ", name, " must be one number or 2 (got ", list, ")");
  const std::array<int64_t, 2> pair{list[0], list[list.size() - 1]};
  if (pair[0] < least || pair[1] < least)
    fail("max_pool2d: ", name, " must be at least ", least, " (got ", list, ")");
  return pair;
}

// Windows start every `stride` elements from -padding on and must begin inside the input or the padding
// before it; with ceil_mode the last may reach beyond the padding behind it.
int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t padding, int64_t dilation,
                    bool ceil) {
  const int64_t room = in + 2 * padding - dilation * (kernel - 1) - 1;
  if (room < 0 && !(ceil && room + stride > 0)) return 0;
  int64_t out = room < 0 ? 1 : (room + (ceil ? stride - 1 : 0)) / stride + 1;
  if (ceil && (out - 1) * stride >= in + padding) --out;
  return out;
}

PoolGeometry geometry(const Shape& x, const Values& params) {
  if (x.size() != 4 && x.size() != 3)
    fail("max_pool2d: input must be [N, C, H, W] or [C, H, W] (got shape ", x, ")");
  const auto kernel = pair_of("kernel_size", params[kKernel].list, 1);
  const auto stride = params[kStride].present() && !params[kStride].list.empty()
                          ? pair_of("stride", params[kStride].list, 1)
                          : kernel;
  const auto padding = pair_of("padding", params[kPadding].list, 0);
  const auto dilation = pair_of("dilation", params[kDilation].list, 1);
  const bool ceil = params[kCeil].b;
  std::array<int64_t, 2> out;
  const int first = x.size() - 2;
  for (int i = 0; i < 2; ++i) {
    const size_t k = size_t(i);
    if (2 * padding[k] > kernel[k])
      fail("max_pool2d: padding may be at most half of kernel_size (got padding ", padding[k],
           ", kernel_size ", kernel[k], ")");
    out[k] = output_size(x[first + i], kernel[k], stride[k], padding[k], dilation[k], ceil);
    if (out[k] < 1)
      fail("max_pool2d: no window fits into the input of shape ", x, ": dim ", first + i + 1, " has ",
           x[first + i] + 2 * padding[k], " elements with padding, a window reaches over ",
           dilation[k] * (kernel[k] - 1) + 1);
  }
  const int64_t planes = x.size() == 4 ? x[0] * x[1] : x[0];
  return {planes,    x[first],  x[first + 1], out[0],     out[1],      kernel[0],  kernel[1],
          stride[0], stride[1], padding[0],   padding[1], dilation[0], dilation[1]};
}

Shape output_shape(const Shape& x, const PoolGeometry& p) {
  Shape shape = x;
  shape[x.size() - 2] = p.out_h;
  shape[x.size() - 1] = p.out_w;
  return shape;
}

Values params_of(const Backward& b) { return b.node().attributes->params; }

template <class F>
void with_type(const Call& call, F&& f) {
  call.output().dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

std::vector<ParamSpec> pool_params() {
  return {{"kernel_size", ParamKind::integers, {}},
          {.name = "stride", .kind = ParamKind::integers, .fallback = {}, .optional = true},
          {"padding", ParamKind::integers, Dims{0}},
          {"dilation", ParamKind::integers, Dims{1}},
          {"ceil_mode", ParamKind::boolean, false}};
}

extern const Op kPut, kPick;

void pool_shape(Call& call) {
  const Tensor& x = call.input(0);
  require_floating(call);
  call.emit(output_shape(x.shape(), geometry(x.shape(), call.params)), x.dtype());
}
void pool_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  with_type(call, [&]<class T>() {
    max_pool(geometry(x.shape(), call.params), x.data<T>(), call.output().data<T>());
  });
}
void pool_vjp(Backward& b) { b.set(0, apply1(kPut, {b.grad(), b.input(0)}, params_of(b))); }

void put_shape(Call& call) { call.emit(call.input(1).shape(), call.input(0).dtype()); }
void put_cpu(const Call& call) {
  const Tensor g = in_order(call.input(0)), x = in_order(call.input(1));
  with_type(call, [&]<class T>() {
    max_pool_scatter(geometry(x.shape(), call.params), g.data<T>(), x.data<T>(), call.output().data<T>());
  });
}
void put_vjp(Backward& b) {
  if (b.needs(0)) b.set(0, apply1(kPick, {b.grad(), b.input(1)}, params_of(b)));
}

void pick_shape(Call& call) {
  const Shape& x = call.input(1).shape();
  call.emit(output_shape(x, geometry(x, call.params)), call.input(0).dtype());
}
void pick_cpu(const Call& call) {
  const Tensor values = in_order(call.input(0)), x = in_order(call.input(1));
  with_type(call, [&]<class T>() {
    max_pool_gather(geometry(x.shape(), call.params), values.data<T>(), x.data<T>(), call.output().data<T>());
  });
}
void pick_vjp(Backward& b) {
  if (b.needs(0)) b.set(0, apply1(kPut, {b.grad(), b.input(1)}, params_of(b)));
}

const Op kMaxPool2d{
    .name = "max_pool2d",
    .doc = "The largest element of each window; the gradient goes to the first of the largest.",
    .inputs = {{"input"}},
    .params = pool_params(),
    .shape = pool_shape,
    .cpu = pool_cpu,
    .vjp = pool_vjp,
    .reads = {{.inputs = 1}},
    .half_through_f32 = true};
const Op kPut{.name = "_max_pool2d_grad",
              .doc = "Adds each window's gradient to the element that the window takes of the input.",
              .inputs = {{"grad"}, {"input"}},
              .params = pool_params(),
              .shape = put_shape,
              .cpu = put_cpu,
              .vjp = put_vjp,
              .reads = {{.inputs = 2}, {}},
              .half_through_f32 = true};
const Op kPick{.name = "_max_pool2d_pick",
               .doc = "The values at the places that max_pool2d takes of the input.",
               .inputs = {{"values"}, {"input"}},
               .params = pool_params(),
               .shape = pick_shape,
               .cpu = pick_cpu,
               .vjp = pick_vjp,
               .reads = {{.inputs = 2}, {}},
               .half_through_f32 = true};

}  // namespace

Tensor max_pool2d(const Tensor& x, const Dims& kernel_size, const Dims& stride, const Dims& padding,
                  const Dims& dilation, bool ceil_mode) {
  return apply1(kMaxPool2d, {x},
                {kernel_size, stride.empty() ? Value() : Value(stride), padding, dilation, ceil_mode});
}

std::span<const Op* const> pool_ops() {
  static constexpr const Op* ops[] = {&kMaxPool2d, &kPut, &kPick};
  return ops;
}

}  // namespace lunagrad
