// Pooling over 1 or 2 spatial dims (over 3: pool_forms.cpp), by windows of a kernel or by windows that divide
// the input evenly (adaptive). Max pooling picks one element of each window. Its gradient puts g at these
// elements, and the gradient of the gradient picks again. So two ops serve all orders:
//   y = pick(x, by x),  dx = put(g, by x),  from G for dx: g gets pick(G, by x)
// Average pooling is linear: y = A x, dx = A^T g, and from G for dx: g gets A G.
#include <array>
#include <optional>

#include "runtime/core/memory_limit.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/nn/pool_geometry.h"
#include "runtime/ops/nn/pool_windows.h"
#include "runtime/ops/nn/with_type.h"

namespace lunagrad {
namespace {

// (w in + extra) / n without overflow.
int64_t share(int64_t w, int64_t in, int64_t n, int64_t extra = 0) {
  return int64_t((__int128(w) * in + extra) / n);
}

// Lists no windows if there is nothing to pool.
PoolAxis list_windows(const PoolRule& rule, int64_t planes) {
  PoolAxis axis{rule.in, rule.dilation, {}, planes ? 0 : rule.out};
  if (!planes) return axis;
  constexpr int64_t kBetweenStops = 1 << 16;
  check_room(size_t(rule.out), sizeof(PoolWindow));
  axis.windows.reserve(size_t(rule.out));
  for (int64_t i = 0; i < rule.out; ++i) {
    if (i % kBetweenStops == 0) context().check_stop();
    axis.windows.push_back(pool_window(rule, i));
  }
  return axis;
}

int64_t planes_of(const Shape& x, int dims) {
  int64_t planes = 1;
  for (int d = 0; d < x.size() - dims; ++d) planes *= x[d];
  return planes;
}

PoolSizes out_sizes(const std::array<WindowAxis, 3>& axes) { return {axes[0].out, axes[1].out, axes[2].out}; }

PoolRules rules_of(const Call& call, int dims, const Shape& x, const WindowOptions& o) {
  const auto axes = window_axes(call, dims, x, o);
  PoolRules rules;
  for (size_t k = size_t(3 - dims); k < 3; ++k) {
    const WindowAxis& a = axes[k];
    (k == 1 ? rules.rows : rules.columns) =
        PoolRule{false, a.in, a.out, a.kernel, a.stride, a.padding, a.dilation, o.with_padding};
  }
  return rules;
}

PoolGeometry geometry_of(const PoolRules& rules, int64_t planes) {
  PoolGeometry p;
  p.planes = planes;
  p.rows = list_windows(rules.rows, planes);
  p.columns = list_windows(rules.columns, planes);
  p.divisor = rules.divisor;
  if (rules.columns.adaptive) return p;
  p.kernel.emplace();
  for (const size_t k : {1, 2}) {
    const PoolRule& a = k == 1 ? rules.rows : rules.columns;
    p.kernel->in[k] = a.in, p.kernel->out[k] = a.out, p.kernel->kernel[k] = a.kernel;
    p.kernel->stride[k] = a.stride, p.kernel->padding[k] = a.padding, p.kernel->dilation[k] = a.dilation;
  }
  return p;
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
  static PoolRules rules(const Call& call, const Shape& x) { return rules_of(call, dims, x, options(call)); }
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
  static PoolRules rules(const Call& call, const Shape& x) {
    PoolRules rules = rules_of(call, dims, x, options(call));
    if (divides(call)) rules.divisor = call.integer(5);
    return rules;
  }
};

template <int spatial>
struct AdaptiveWindows {
  static constexpr int dims = spatial;
  static std::vector<ParamSpec> params() { return {{"output_size", ParamKind::integers, {}}}; }
  static PoolSizes sizes(const Call& call, const Shape& x) {
    check_pooled(call, dims, x);
    return pool_sizes(call, dims, "output_size", call.list(0), 0);
  }
  static PoolRules rules(const Call& call, const Shape& x) {
    const PoolSizes out = sizes(call, x);
    PoolRules rules;
    for (size_t k = size_t(3 - dims); k < 3; ++k)
      (k == 1 ? rules.rows : rules.columns) =
          PoolRule{.adaptive = true, .in = x[x.size() - 3 + int(k)], .out = out[k]};
    return rules;
  }
};

// Does not list the windows: a result that is too large fails before the list is made.
template <class Rule>
Shape output_shape(const Call& call, const Shape& x) {
  const PoolSizes sizes = Rule::sizes(call, x);
  Shape shape = x;
  for (int d = x.size() - Rule::dims; d < x.size(); ++d) shape[d] = sizes[size_t(3 - x.size() + d)];
  return shape;
}

// The windows of an image of shape x.
template <class Rule>
PoolGeometry listed(const Call& call, const Shape& x) {
  return geometry_of(Rule::rules(call, x), planes_of(x, Rule::dims));
}

template <class Rule>
void pool_shape(Call& call) {
  const Tensor& x = call.input(0);
  require_floating(call);
  call.emit(output_shape<Rule>(call, x.shape()), x.dtype());
}

struct PoolNames {
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

template <class Rule, const PoolNames& names>
struct MaxPool {
  static const Op pool, put, pick;

  // The geometry of the input image of each kind of call.
  static const Shape& image_of_result(const Call& call) { return call.input(0).shape(); }
  static const Shape& image_of_gradient(const Call& call) { return call.input(1).shape(); }
  static PoolGeometry of_result(const Call& call) { return listed<Rule>(call, image_of_result(call)); }
  static PoolGeometry of_gradient(const Call& call) { return listed<Rule>(call, image_of_gradient(call)); }

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

template <class Rule, const PoolNames& names>
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
template <class Rule, const PoolNames& names>
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
template <class Rule, const PoolNames& names>
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

template <class Rule, const PoolNames& names>
struct AvgPool {
  static const Op pool, spread;

  static const Shape& image_of_result(const Call& call) { return call.input(0).shape(); }
  static const Shape& image_of_gradient(const Call& call) { return input_size(call); }
  static PoolGeometry of_result(const Call& call) { return listed<Rule>(call, image_of_result(call)); }
  static PoolGeometry of_gradient(const Call& call) { return listed<Rule>(call, image_of_gradient(call)); }

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

template <class Rule, const PoolNames& names>
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
template <class Rule, const PoolNames& names>
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

constexpr const char* kMaxPoolDoc =
    "The largest element of each window; the gradient goes to the first of the largest.";
constexpr const char* kAvgDoc = "The mean of each window; count_include_pad counts the zeros of the padding.";
constexpr const char* kAdaptiveAvgDoc = "The means of output_size windows that divide the input evenly.";
constexpr PoolNames kMax1{"max_pool1d", kMaxPoolDoc, "_max_pool1d_grad", "_max_pool1d_pick"};
constexpr PoolNames kMax2{"max_pool2d", kMaxPoolDoc, "_max_pool2d_grad", "_max_pool2d_pick"};
constexpr PoolNames kAdaptiveMax2{"adaptive_max_pool2d",
                                  "The largest elements of output_size windows that divide the input evenly.",
                                  "_adaptive_max_pool2d_grad", "_adaptive_max_pool2d_pick"};
constexpr PoolNames kAvg1{"avg_pool1d", kAvgDoc, "_avg_pool1d_grad"};
constexpr PoolNames kAvg2{"avg_pool2d", kAvgDoc, "_avg_pool2d_grad"};
constexpr PoolNames kAdaptiveAvg1{"adaptive_avg_pool1d", kAdaptiveAvgDoc, "_adaptive_avg_pool1d_grad"};
constexpr PoolNames kAdaptiveAvg2{"adaptive_avg_pool2d", kAdaptiveAvgDoc, "_adaptive_avg_pool2d_grad"};

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
  PoolRules (*rules)(const Call&);
};
template <class Pool, class Rule>
PoolRules rules_of_result(const Call& call) {
  return Rule::rules(call, Pool::image_of_result(call));
}
template <class Pool, class Rule>
PoolRules rules_of_gradient(const Call& call) {
  return Rule::rules(call, Pool::image_of_gradient(call));
}
template <class Rule, const PoolNames& names>
std::array<Member, 3> of(const MaxPool<Rule, names>&) {
  using Max = MaxPool<Rule, names>;
  return {{{&Max::pool, Max::of_result, rules_of_result<Max, Rule>},
           {&Max::put, Max::of_gradient, rules_of_gradient<Max, Rule>},
           {&Max::pick, Max::of_gradient, rules_of_gradient<Max, Rule>}}};
}
template <class Rule, const PoolNames& names>
std::array<Member, 2> of(const AvgPool<Rule, names>&) {
  using Avg = AvgPool<Rule, names>;
  return {{{&Avg::pool, Avg::of_result, rules_of_result<Avg, Rule>},
           {&Avg::spread, Avg::of_gradient, rules_of_gradient<Avg, Rule>}}};
}

const std::vector<Member>& members() {
  static const std::vector<Member> all = [] {
    std::vector<Member> list;
    const auto add = [&](const auto& part) { list.insert(list.end(), part.begin(), part.end()); };
    add(of(MaxPool1d()));
    add(of(MaxPool2d()));
    add(of(AdaptiveMaxPool2d()));
    add(of(AvgPool1d()));
    add(of(AvgPool2d()));
    add(of(AdaptiveAvgPool1d()));
    add(of(AdaptiveAvgPool2d()));
    return list;
  }();
  return all;
}

}  // namespace

PoolWindow pool_window(const PoolRule& rule, int64_t i) {
  if (rule.adaptive) {
    const int64_t start = share(i, rule.in, rule.out);
    const int64_t count = share(i + 1, rule.in, rule.out, rule.out - 1) - start;
    return {start, count, count};
  }
  const int64_t in = rule.in, apart = rule.dilation, start = i * rule.stride - rule.padding;
  const int64_t first = start >= 0 ? 0 : (-start + apart - 1) / apart;
  const int64_t last = in <= start ? 0 : std::min(rule.kernel, (in - start + apart - 1) / apart);
  const int64_t count = std::max<int64_t>(0, last - first);
  const int64_t padded = std::min(start + rule.kernel, in + rule.padding) - start;
  return {count ? start + first * apart : 0, count, rule.with_padding ? padded : count};
}

namespace {

const Member& member_of(const Call& call) {
  for (const Member& member : members())
    if (member.op == call.op) return member;
  fail(call.op->name, ": no pooling");
}

}  // namespace

PoolGeometry pool_geometry(const Call& call) { return member_of(call).geometry(call); }
PoolRules pool_rules(const Call& call) { return member_of(call).rules(call); }

std::span<const Op* const> pool_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list;
    for (const Member& member : members()) list.push_back(member.op);
    for (const Op* op : pool_forms()) list.push_back(op);
    for (const Op* op : lp_pool_forms()) list.push_back(op);
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
