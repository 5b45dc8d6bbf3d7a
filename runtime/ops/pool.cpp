// Pooling over 1 or 2 spatial dims (over 3: pool_forms.cpp), by windows of a kernel or by windows that divide
// the input evenly (adaptive). Max pooling picks one element of each window; its gradient puts the gradient
// there, and the gradient of that picks again. So two ops serve all orders:
//   y = pick(x, by x),  dx = put(g, by x),  from G for dx: g gets pick(G, by x)
// Average pooling is linear: y = A x, dx = A^T g, and from G for dx: g gets A G.
#include <array>
#include <optional>

#include "runtime/memory_limit.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/pool_geometry.h"
#include "runtime/ops/pool_windows.h"

namespace lunagrad {
namespace {

// An axis with `count` windows, window(i) being window i. Nothing is listed if there is nothing to pool.
template <class Window>
PoolAxis axis_with(int64_t in, int64_t dilation, int64_t planes, int64_t count, Window&& window) {
  PoolAxis axis{in, dilation, {}, planes ? 0 : count};
  if (!planes) return axis;
  constexpr int64_t kBetweenStops = 1 << 16;
  check_room(size_t(count), sizeof(PoolWindow));
  axis.windows.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    if (i % kBetweenStops == 0) context().check_stop();
    axis.windows.push_back(window(i));
  }
  return axis;
}

// The divisor of a window is the number of its elements; with_padding includes those of the padding, but not
// those that ceil_mode adds.
PoolAxis axis_of(int64_t in, int64_t planes, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
                 int64_t dilation, bool with_padding) {
  return axis_with(in, dilation, planes, out, [=](int64_t i) -> PoolWindow {
    const int64_t start = i * stride - padding;
    const int64_t first = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    const int64_t last = in <= start ? 0 : std::min(kernel, (in - start + dilation - 1) / dilation);
    const int64_t count = std::max<int64_t>(0, last - first);
    const int64_t padded = std::min(start + kernel, in + padding) - start;
    return {count ? start + first * dilation : 0, count, with_padding ? padded : count};
  });
}

int64_t planes_of(const Shape& x, int dims) {
  int64_t planes = 1;
  for (int d = 0; d < x.size() - dims; ++d) planes *= x[d];
  return planes;
}

PoolSizes out_sizes(const std::array<WindowAxis, 3>& axes) { return {axes[0].out, axes[1].out, axes[2].out}; }

PoolGeometry windows_of(const Call& call, int dims, const Shape& x, const WindowOptions& o) {
  const auto axes = window_axes(call, dims, x, o);
  PoolGeometry p;
  p.planes = planes_of(x, dims);
  p.kernel.emplace();
  for (size_t k = size_t(3 - dims); k < 3; ++k) {
    const WindowAxis& a = axes[k];
    p.kernel->in[k] = a.in, p.kernel->out[k] = a.out, p.kernel->kernel[k] = a.kernel;
    p.kernel->stride[k] = a.stride, p.kernel->padding[k] = a.padding, p.kernel->dilation[k] = a.dilation;
    (k == 1 ? p.rows : p.columns) =
        axis_of(a.in, p.planes, a.out, a.kernel, a.stride, a.padding, a.dilation, o.with_padding);
  }
  return p;
}

// Runs f<T>() with the element type of the output.
template <class F>
void with_type(const Call& call, F&& f) {
  call.output().dtype() == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

// A rule defines the windows of an op: the number of spatial dims, parameters and geometry. The hidden
// records have the parameters of the public op.
const ParamSpec kStrideParam{.name = "stride", .kind = ParamKind::integers, .fallback = {}, .optional = true};

template <int spatial>
struct MaxWindows {
  static constexpr int dims = spatial;
  static std::vector<ParamSpec> params() {
    return {{"kernel_size", ParamKind::integers, {}},
            kStrideParam,
            {"padding", ParamKind::integers, Dims{0}},
            {"dilation", ParamKind::integers, Dims{1}},
            {"ceil_mode", ParamKind::boolean, false}};
  }
  static WindowOptions options(const Call& call) {
    return {call.list(0), call.params[1], call.list(2), call.list(3), call.flag(4), false};
  }
  static PoolSizes sizes(const Call& call, const Shape& x) {
    return out_sizes(window_axes(call, dims, x, options(call)));
  }
  static PoolGeometry geometry(const Call& call, const Shape& x) {
    return windows_of(call, dims, x, options(call));
  }
};

template <int spatial>
struct AvgWindows {
  static constexpr int dims = spatial;
  static std::vector<ParamSpec> params() {
    std::vector<ParamSpec> list = {{"kernel_size", ParamKind::integers, {}},
                                   kStrideParam,
                                   {"padding", ParamKind::integers, Dims{0}},
                                   {"ceil_mode", ParamKind::boolean, false},
                                   {"count_include_pad", ParamKind::boolean, true}};
    if (dims == 2) list.push_back({.name = "divisor_override", .kind = ParamKind::integer, .optional = true});
    return list;
  }
  static WindowOptions options(const Call& call) {
    return {call.list(0), call.params[1], call.list(2), Dims{1}, call.flag(3), call.flag(4)};
  }
  static bool divides(const Call& call) { return dims == 2 && call.params[5].present(); }
  static PoolSizes sizes(const Call& call, const Shape& x) {
    if (divides(call) && call.integer(5) == 0) fail(call.op->name, ": divisor_override may not be 0");
    return out_sizes(window_axes(call, dims, x, options(call)));
  }
  static PoolGeometry geometry(const Call& call, const Shape& x) {
    PoolGeometry p = windows_of(call, dims, x, options(call));
    if (divides(call)) p.divisor = call.integer(5);
    return p;
  }
};

// (w in + extra) / n without overflow.
int64_t share(int64_t w, int64_t in, int64_t n, int64_t extra = 0) {
  return int64_t((__int128(w) * in + extra) / n);
}

template <int spatial>
struct AdaptiveWindows {
  static constexpr int dims = spatial;
  static std::vector<ParamSpec> params() { return {{"output_size", ParamKind::integers, {}}}; }
  static PoolSizes sizes(const Call& call, const Shape& x) {
    check_pooled(call, dims, x);
    return pool_sizes(call, dims, "output_size", call.list(0), 0);
  }
  static PoolGeometry geometry(const Call& call, const Shape& x) {
    const PoolSizes out = sizes(call, x);
    PoolGeometry p;
    p.planes = planes_of(x, dims);
    for (size_t k = size_t(3 - dims); k < 3; ++k) {
      const int64_t in = x[x.size() - 3 + int(k)], n = out[k];
      (k == 1 ? p.rows : p.columns) = axis_with(in, 1, p.planes, n, [=](int64_t w) -> PoolWindow {
        const int64_t start = share(w, in, n), count = share(w + 1, in, n, n - 1) - start;
        return {start, count, count};
      });
    }
    return p;
  }
};

// Needs no list of windows: a result that is too large fails before one is made.
template <class Rule>
Shape output_shape(const Call& call, const Shape& x) {
  const PoolSizes sizes = Rule::sizes(call, x);
  Shape shape = x;
  for (int d = x.size() - Rule::dims; d < x.size(); ++d) shape[d] = sizes[size_t(3 - x.size() + d)];
  return shape;
}

template <class Rule>
void pool_shape(Call& call) {
  const Tensor& x = call.input(0);
  require_floating(call);
  call.emit(output_shape<Rule>(call, x.shape()), x.dtype());
}

struct Names {
  const char *op, *doc, *grad, *pick = nullptr;
};

// Elements of all windows together.
double window_elements(const PoolGeometry& p) {
  const auto along = [](const PoolAxis& axis) {
    double count = 0;
    for (const PoolWindow& window : axis.windows) count += double(window.count);
    return count;
  };
  return double(p.planes) * along(p.rows) * along(p.columns);
}

template <class Rule, const Names& names>
struct MaxPool {
  static const Op pool, put, pick;

  // The geometry of the input image of each kind of call.
  static PoolGeometry of_result(const Call& call) { return Rule::geometry(call, call.input(0).shape()); }
  static PoolGeometry of_gradient(const Call& call) { return Rule::geometry(call, call.input(1).shape()); }

  static double pool_flops(const Call& call) { return window_elements(of_result(call)); }
  static double put_flops(const Call& call) {
    return window_elements(of_gradient(call)) + elements(call.in[0]);
  }
  static double pick_flops(const Call& call) { return window_elements(of_gradient(call)); }
  static void pool_cpu(const Call& call) {
    const Tensor x = in_order(call.input(0));
    with_type(call, [&]<class T>() { max_pool(of_result(call), x.data<T>(), call.output().data<T>()); });
  }
  static void pool_vjp(Backward& b) {
    b.set(0, apply1(put, {b.grad(), b.input(0)}, b.node().attributes->params));
  }

  static void put_shape(Call& call) { call.emit(call.input(1).shape(), call.input(0).dtype()); }
  static void put_cpu(const Call& call) {
    const Tensor g = in_order(call.input(0)), x = in_order(call.input(1));
    with_type(call, [&]<class T>() {
      max_pool_scatter(of_gradient(call), g.data<T>(), x.data<T>(), call.output().data<T>());
    });
  }
  static void put_vjp(Backward& b) {
    if (b.needs(0)) b.set(0, apply1(pick, {b.grad(), b.input(1)}, b.node().attributes->params));
  }

  static void pick_shape(Call& call) {
    const Shape& x = call.input(1).shape();
    call.emit(output_shape<Rule>(call, x), call.input(0).dtype());
  }
  static void pick_cpu(const Call& call) {
    const Tensor values = in_order(call.input(0)), x = in_order(call.input(1));
    with_type(call, [&]<class T>() {
      max_pool_gather(of_gradient(call), values.data<T>(), x.data<T>(), call.output().data<T>());
    });
  }
  static void pick_vjp(Backward& b) {
    if (b.needs(0)) b.set(0, apply1(put, {b.grad(), b.input(1)}, b.node().attributes->params));
  }
};

template <class Rule, const Names& names>
const Op MaxPool<Rule, names>::pool{.name = names.op,
                                    .doc = names.doc,
                                    .inputs = {{"input"}},
                                    .params = Rule::params(),
                                    .shape = pool_shape<Rule>,
                                    .cpu = pool_cpu,
                                    .vjp = pool_vjp,
                                    .reads = {{.inputs = 1}},
                                    .half_through_f32 = true,
                                    .family = OpFamily::reduction,
                                    .flops = {pool_flops, "1 for each element of each window"}};
template <class Rule, const Names& names>
const Op MaxPool<Rule, names>::put{
    .name = names.grad,
    .doc = "Adds each window's gradient to the element that the window takes of the input.",
    .inputs = {{"grad"}, {"input"}},
    .params = Rule::params(),
    .shape = put_shape,
    .cpu = put_cpu,
    .vjp = put_vjp,
    .reads = {{.inputs = 2}, {}},
    .half_through_f32 = true,
    .family = OpFamily::reduction,
    .flops = {put_flops, "1 for each element of each window, and 1 for each window"}};
template <class Rule, const Names& names>
const Op MaxPool<Rule, names>::pick{.name = names.pick,
                                    .doc = "The values at the places that the windows take of the input.",
                                    .inputs = {{"values"}, {"input"}},
                                    .params = Rule::params(),
                                    .shape = pick_shape,
                                    .cpu = pick_cpu,
                                    .vjp = pick_vjp,
                                    .reads = {{.inputs = 2}, {}},
                                    .half_through_f32 = true,
                                    .family = OpFamily::reduction,
                                    .flops = {pick_flops, "1 for each element of each window"}};

template <class Rule, const Names& names>
struct AvgPool {
  static const Op pool, spread;

  static PoolGeometry of_result(const Call& call) { return Rule::geometry(call, call.input(0).shape()); }
  static PoolGeometry of_gradient(const Call& call) { return Rule::geometry(call, input_size(call)); }

  static double pool_flops(const Call& call) {
    return window_elements(of_result(call)) + elements(call.out[0]);
  }
  static double spread_flops(const Call& call) {
    return window_elements(of_gradient(call)) + elements(call.in[0]);
  }
  static void pool_cpu(const Call& call) {
    const Tensor x = in_order(call.input(0));
    with_type(call, [&]<class T>() { avg_pool(of_result(call), x.data<T>(), call.output().data<T>()); });
  }
  static void pool_vjp(Backward& b) {
    Values params = b.node().attributes->params;
    params.push_back(b.shape(0));
    b.set(0, apply1(spread, {b.grad()}, params));
  }

  static std::vector<ParamSpec> spread_params() {
    std::vector<ParamSpec> params = Rule::params();
    params.push_back({"input_size", ParamKind::integers, {}});
    return params;
  }
  static const Dims& input_size(const Call& call) { return call.list(int(call.params.size()) - 1); }
  static void spread_shape(Call& call) { call.emit(input_size(call), call.input(0).dtype()); }
  static void spread_cpu(const Call& call) {
    const Tensor g = in_order(call.input(0));
    with_type(call,
              [&]<class T>() { avg_pool_spread(of_gradient(call), g.data<T>(), call.output().data<T>()); });
  }
  static void spread_vjp(Backward& b) {
    Values params;
    const Values& given = b.node().attributes->params;
    for (size_t i = 0; i + 1 < given.size(); ++i) params.push_back(given[i]);
    b.set(0, apply1(pool, {b.grad()}, params));
  }
};

template <class Rule, const Names& names>
const Op AvgPool<Rule, names>::pool{
    .name = names.op,
    .doc = names.doc,
    .inputs = {{"input"}},
    .params = Rule::params(),
    .shape = pool_shape<Rule>,
    .cpu = pool_cpu,
    .vjp = pool_vjp,
    .reads = {{}},
    .half_through_f32 = true,
    .family = OpFamily::reduction,
    .flops = {pool_flops, "1 for each element of each window, and 1 for each window"}};
template <class Rule, const Names& names>
const Op AvgPool<Rule, names>::spread{
    .name = names.grad,
    .doc = "Shares each window's gradient among the elements of the window.",
    .inputs = {{"grad"}},
    .params = spread_params(),
    .shape = spread_shape,
    .cpu = spread_cpu,
    .vjp = spread_vjp,
    .reads = {{}},
    .half_through_f32 = true,
    .family = OpFamily::reduction,
    .flops = {spread_flops, "1 for each element of each window, and 1 for each window"}};

constexpr const char* kMaxDoc =
    "The largest element of each window; the gradient goes to the first of the largest.";
constexpr const char* kAvgDoc = "The mean of each window; count_include_pad counts the zeros of the padding.";
constexpr const char* kAdaptiveAvgDoc = "The means of output_size windows that divide the input evenly.";
constexpr Names kMax1{"max_pool1d", kMaxDoc, "_max_pool1d_grad", "_max_pool1d_pick"};
constexpr Names kMax2{"max_pool2d", kMaxDoc, "_max_pool2d_grad", "_max_pool2d_pick"};
constexpr Names kAdaptiveMax2{"adaptive_max_pool2d",
                              "The largest elements of output_size windows that divide the input evenly.",
                              "_adaptive_max_pool2d_grad", "_adaptive_max_pool2d_pick"};
constexpr Names kAvg1{"avg_pool1d", kAvgDoc, "_avg_pool1d_grad"};
constexpr Names kAvg2{"avg_pool2d", kAvgDoc, "_avg_pool2d_grad"};
constexpr Names kAdaptiveAvg1{"adaptive_avg_pool1d", kAdaptiveAvgDoc, "_adaptive_avg_pool1d_grad"};
constexpr Names kAdaptiveAvg2{"adaptive_avg_pool2d", kAdaptiveAvgDoc, "_adaptive_avg_pool2d_grad"};

using MaxPool1d = MaxPool<MaxWindows<1>, kMax1>;
using MaxPool2d = MaxPool<MaxWindows<2>, kMax2>;
using AdaptiveMaxPool2d = MaxPool<AdaptiveWindows<2>, kAdaptiveMax2>;
using AvgPool1d = AvgPool<AvgWindows<1>, kAvg1>;
using AvgPool2d = AvgPool<AvgWindows<2>, kAvg2>;
using AdaptiveAvgPool1d = AvgPool<AdaptiveWindows<1>, kAdaptiveAvg1>;
using AdaptiveAvgPool2d = AvgPool<AdaptiveWindows<2>, kAdaptiveAvg2>;

Value given(const Dims& stride) { return stride.empty() ? Value() : Value(stride); }

}  // namespace

Tensor max_pool1d(const Tensor& x, const Dims& kernel_size, const Dims& stride, const Dims& padding,
                  const Dims& dilation, bool ceil_mode) {
  return apply1(MaxPool1d::pool, {x}, {kernel_size, given(stride), padding, dilation, ceil_mode});
}
Tensor max_pool2d(const Tensor& x, const Dims& kernel_size, const Dims& stride, const Dims& padding,
                  const Dims& dilation, bool ceil_mode) {
  return apply1(MaxPool2d::pool, {x}, {kernel_size, given(stride), padding, dilation, ceil_mode});
}
Tensor avg_pool1d(const Tensor& x, const Dims& kernel_size, const Dims& stride, const Dims& padding,
                  bool ceil_mode, bool count_include_pad) {
  return apply1(AvgPool1d::pool, {x}, {kernel_size, given(stride), padding, ceil_mode, count_include_pad});
}
Tensor avg_pool2d(const Tensor& x, const Dims& kernel_size, const Dims& stride, const Dims& padding,
                  bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  return apply1(AvgPool2d::pool, {x},
                {kernel_size, given(stride), padding, ceil_mode, count_include_pad,
                 divisor_override ? Value(*divisor_override) : Value()});
}
Tensor adaptive_avg_pool1d(const Tensor& x, const Dims& output_size) {
  return apply1(AdaptiveAvgPool1d::pool, {x}, {output_size});
}
Tensor adaptive_avg_pool2d(const Tensor& x, const Dims& output_size) {
  return apply1(AdaptiveAvgPool2d::pool, {x}, {output_size});
}
Tensor adaptive_max_pool2d(const Tensor& x, const Dims& output_size) {
  return apply1(AdaptiveMaxPool2d::pool, {x}, {output_size});
}

namespace {

struct Member {
  const Op* op;
  PoolGeometry (*geometry)(const Call&);
};
template <class Max>
std::array<Member, 3> of_max() {
  return {{{&Max::pool, Max::of_result}, {&Max::put, Max::of_gradient}, {&Max::pick, Max::of_gradient}}};
}
template <class Avg>
std::array<Member, 2> of_avg() {
  return {{{&Avg::pool, Avg::of_result}, {&Avg::spread, Avg::of_gradient}}};
}

const std::vector<Member>& members() {
  static const std::vector<Member> all = [] {
    std::vector<Member> list;
    const auto add = [&](const auto& part) { list.insert(list.end(), part.begin(), part.end()); };
    add(of_max<MaxPool1d>());
    add(of_max<MaxPool2d>());
    add(of_max<AdaptiveMaxPool2d>());
    add(of_avg<AvgPool1d>());
    add(of_avg<AvgPool2d>());
    add(of_avg<AdaptiveAvgPool1d>());
    add(of_avg<AdaptiveAvgPool2d>());
    return list;
  }();
  return all;
}

}  // namespace

PoolGeometry pool_geometry(const Call& call) {
  for (const Member& member : members())
    if (member.op == call.op) return member.geometry(call);
  fail(call.op->name, ": no pooling");
}

std::span<const Op* const> pool_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list;
    for (const Member& member : members()) list.push_back(member.op);
    for (const Op* op : pool_forms()) list.push_back(op);
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
