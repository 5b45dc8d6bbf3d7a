// Losses of distances and margins, all compositions: cosine_similarity, pairwise_distance,
// cosine_embedding_loss, triplet_margin_loss, margin_ranking_loss, hinge_embedding_loss, soft_margin_loss,
// multi_margin_loss, multilabel_margin_loss.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "runtime/core/default_dtype.h"
#include "runtime/ops/blank.h"
#include "runtime/ops/families.h"
#include "runtime/ops/loss/loss.h"
#include "runtime/ops/loss/row_measures.h"
#include "runtime/ops/nn/unit.h"

namespace lunagrad {
namespace {

// An element equal to `least` gets the gradient, as in PyTorch.
Tensor at_least(const Tensor& x, double least) { return clamp(x, least, INFINITY); }

// The small numbers that keep roots away from 0 cannot be represented in 16 bits.
Tensor upcast(const Tensor& x) { return to(x, accumulate_type(x.dtype())); }
Tensor cast_back(const Tensor& result, const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  return is_16bit_float(dtype) ? to(result, dtype) : result;
}

// x with `ndim` dims.
Tensor with_dims_before(const Tensor& x, int ndim) {
  Shape shape = x.shape();
  while (shape.size() < ndim) shape.insert(0, 1);
  return reshape(x, shape);
}
// The same, and the size of `shape` along `dim`.
Tensor with_whole_dim(const Tensor& x, int dim, const Shape& shape) {
  const Tensor same = with_dims_before(x, shape.size());
  Shape own = same.shape();
  own[dim] = shape[dim];
  return expand(same, own);
}
// The sum of x y along dim. Where one of them is broadcast, this is a matrix product: the product of all
// elements would be larger than operands and result.
Tensor dot_along(const Tensor& x, const Tensor& y, int dim) {
  if (x.shape() == y.shape()) return sum(x * y, {dim});
  std::string labels, kept;
  for (int d = 0; d < x.ndim(); ++d) {
    labels += char('a' + d);
    if (d != dim) kept += char('a' + d);
  }
  return einsum(labels + "," + labels + "->" + kept, {x, y});
}

// Whether each of two shapes repeats along a dim of the other.
bool both_repeat(const Shape& a, const Shape& b) {
  bool first = false, second = false;
  for (int d = 0; d < a.size(); ++d) first = first || a[d] < b[d], second = second || b[d] < a[d];
  return first && second;
}
// Each vector divided by its norm, at least eps, before they are multiplied: their product may overflow. A
// vector that repeats one element is the sign of that element, and has no gradient unless its norm is eps.
Tensor cosine_of_directions(const Tensor& x1, const Tensor& x2, int dim, int64_t size, double eps) {
  const auto direction = [&](const Tensor& v) {
    if (v.size(dim) == size) return unit(v, dim, eps);
    const double share = 1 / std::sqrt(double(std::max<int64_t>(1, size))), least = eps * share;
    if (!(least > 0)) return unit(v, dim, eps) * share;
    return where(gt(abs(v), Tensor::number(least)), sign(v), v / least) * share;
  };
  const Tensor a = direction(x1), b = direction(x2);
  if (a.size(dim) == b.size(dim)) return dot_along(a, b, dim);
  return squeeze(sum(a, {dim}, true) * sum(b, {dim}, true), dim);
}
Operands cosine_similarity_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  const int dim = normalize_dim("cosine_similarity", call.integer(0), shape);
  const double eps = call.real(1);
  const DType type = promote(a.dtype(), b.dtype());
  if (!is_floating(type)) fail("cosine_similarity: a floating type is needed (got ", type, ")");
  if (shape.empty()) {
    const DType computed = accumulate_type(type);
    return {
        cast_back(dot_along(unit(to(a, computed), dim, eps), unit(to(b, computed), dim, eps), dim), a, b)};
  }
  const auto computed = [&](DType type) {
    return std::pair(with_dims_before(to(a, type), shape.size()),
                     with_dims_before(to(b, type), shape.size()));
  };
  const auto [x1, x2] = computed(type);
  const bool by_rows = x1.size(dim) == x2.size(dim) && !both_repeat(x1.shape(), x2.shape());
  if (by_rows) return {cast_back(squeeze(row_cosine(x1, x2, dim, eps), dim), a, b)};
  // A product multiplies directions of 16 bits and adds in f32.
  const auto [y1, y2] = computed(x1.size(dim) == x2.size(dim) ? type : accumulate_type(type));
  return {cast_back(cosine_of_directions(y1, y2, dim, shape[dim], eps), a, b)};
}
const Op kCosineSimilarity{.name = "cosine_similarity",
                           .doc = "x1 x2 / (|x1| |x2|) along dim, each norm at least eps.",
                           .inputs = {{"x1"}, {"x2"}},
                           .params = {{"dim", ParamKind::dim, 1}, {"eps", ParamKind::real, 1e-8}},
                           .compose = cosine_similarity_compose,
                           .family = OpFamily::reduction,
                           .autocast = AutocastPolicy::f32};

// |x1 - x2 + eps|_p along the last dim, as in PyTorch; f32 for 16-bit operands, unless it may be rounded.
Tensor distance_along_rows(const Tensor& a, const Tensor& b, double p, double eps, bool keepdim,
                           bool rounded = false) {
  const Shape shape = broadcast_shapes("pairwise_distance", a.shape(), b.shape());
  const DType type = promote(a.dtype(), b.dtype());
  const int last = shape.size() - 1;
  if (!is_floating(type) || !(p >= 0) || shape[last] == 0)
    return norm(upcast(a) - upcast(b) + eps, p, {-1}, keepdim);
  const auto whole = [&](const Tensor& x) { return with_whole_dim(to(x, type), last, shape); };
  const Tensor y = row_distance(whole(a), whole(b), p, eps, last, rounded);
  return keepdim ? y : squeeze(y, last);
}
Operands pairwise_distance_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (broadcast_shapes("pairwise_distance", a.shape(), b.shape()).empty())
    fail("pairwise_distance: vectors along the last dim are needed (got two scalars)");
  return {cast_back(distance_along_rows(a, b, call.real(0), call.real(1), call.flag(2), true), a, b)};
}
const Op kPairwiseDistance{
    .name = "pairwise_distance",
    .doc = "The p-norm of x1 - x2 + eps along the last dim.",
    .inputs = {{"x1"}, {"x2"}},
    .params = {{"p", ParamKind::real, 2.0},
               {"eps", ParamKind::real, 1e-6},
               {"keepdim", ParamKind::boolean, false}},
    .compose = pairwise_distance_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{.shape = {4, 3}}, {.shape = {4, 3}}}, .types = OpExample::Types::number},
        {.inputs = {{.shape = {2, 4, 3}}, {.shape = {4, 3}}},
         .params = {1.0, 1e-3, true},
         .types = OpExample::Types::number},
        {.inputs = {{.shape = {3}}, {.shape = {3}}}, .params = {3.0}, .types = OpExample::Types::number},
        {.inputs = {{.shape = {}}, {.shape = {}}}, .error = "got two scalars"}}};

// 1 - cos where the target is 1, max(0, cos - margin) where it is -1.
Operands cosine_embedding_compose(const Call& call) {
  constexpr double kEps = 1e-12;
  const auto real = [](const Tensor& x) { return is_floating(x.dtype()) ? x : to(x, default_dtype()); };
  const Tensor a = real(call.input(0)), b = real(call.input(1)), &target = call.input(2);
  need_same_shape("cosine_embedding_loss", a, b);
  if (a.ndim() != 1 && a.ndim() != 2)
    fail("cosine_embedding_loss: inputs must be [N, D] or [D] (got shape ", a.shape(), ")");
  if (!(target.shape() == (a.ndim() == 2 ? Shape{a.size(0)} : Shape{})))
    fail("cosine_embedding_loss: inputs of shape ", a.shape(), " need a target of shape ",
         a.ndim() == 2 ? Shape{a.size(0)} : Shape{}, " (got ", target.shape(), ")");
  const int last = a.ndim() - 1;
  const DType type = promote(a.dtype(), b.dtype());
  const Tensor cosine = squeeze(row_cosine(to(a, type), to(b, type), last, kEps, true), last);
  const Tensor zero = Tensor::number(0.0);
  const Tensor apart =
      where(eq(target, Tensor::number(int64_t(-1))), at_least(cosine - call.real(0), 0), zero);
  const Tensor loss = where(eq(target, Tensor::number(int64_t(1))), 1.0 - cosine, apart);
  return {cast_back(reduced(loss, reduction_of(call, 1)), call.input(0), call.input(1))};
}
const Op kCosineEmbeddingLoss{
    .name = "cosine_embedding_loss",
    .doc = "1 - cosine for pairs with target 1, max(0, cosine - margin) for pairs with target -1.",
    .inputs = {{"input1"}, {"input2"}, {"target"}},
    .params = {{"margin", ParamKind::real, 0.0}, kReduction},
    .compose = cosine_embedding_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32};

Operands triplet_margin_compose(const Call& call) {
  const Tensor &anchor = call.input(0), &positive = call.input(1), &negative = call.input(2);
  need_same_shape("triplet_margin_loss", anchor, positive);
  need_same_shape("triplet_margin_loss", anchor, negative);
  if (anchor.ndim() == 0) fail("triplet_margin_loss: at least 1 dim is needed");
  const double margin = call.real(0), p = call.real(1), eps = call.real(2);
  const auto distance = [&](const Tensor& x, const Tensor& y) {
    return distance_along_rows(x, y, p, eps, false);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (call.flag(3)) far = minimum(far, distance(positive, negative));
  const Tensor loss = reduced(at_least(near - far + margin, 0), reduction_of(call, 4));
  const DType type = promote(promote(anchor.dtype(), positive.dtype()), negative.dtype());
  return {is_16bit_float(type) ? to(loss, type) : loss};
}
const Op kTripletMarginLoss{.name = "triplet_margin_loss",
                            .doc = "max(0, |anchor - positive| - |anchor - negative| + margin).",
                            .inputs = {{"anchor"}, {"positive"}, {"negative"}},
                            .params = {{"margin", ParamKind::real, 1.0},
                                       {"p", ParamKind::real, 2.0},
                                       {"eps", ParamKind::real, 1e-6},
                                       {"swap", ParamKind::boolean, false},
                                       kReduction},
                            .compose = triplet_margin_compose,
                            .family = OpFamily::loss,
                            .autocast = AutocastPolicy::f32};

Operands margin_ranking_compose(const Call& call) {
  need_same_shape("margin_ranking_loss", call.input(0), call.input(1));
  need_same_shape("margin_ranking_loss", call.input(0), call.input(2));
  return {reduced(at_least(call.input(2) * (call.input(1) - call.input(0)) + call.real(0), 0),
                  reduction_of(call, 1))};
}
const Op kMarginRankingLoss{.name = "margin_ranking_loss",
                            .doc = "max(0, -target (input1 - input2) + margin) for targets 1 and -1.",
                            .inputs = {{"input1"}, {"input2"}, {"target"}},
                            .params = {{"margin", ParamKind::real, 0.0}, kReduction},
                            .compose = margin_ranking_compose,
                            .family = OpFamily::loss,
                            .autocast = AutocastPolicy::f32};

Operands hinge_embedding_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("hinge_embedding_loss", x, target);
  const Tensor zero = Tensor::number(0.0);
  // A term is 0 only for the target of the other term. Targets other than 1 and -1 get both terms, as in
  // PyTorch.
  const Tensor apart = where(ne(target, Tensor::number(int64_t(1))), at_least(call.real(0) - x, 0), zero);
  const Tensor alike = where(ne(target, Tensor::number(int64_t(-1))), x, zero);
  return {reduced(apart + alike, reduction_of(call, 1))};
}
const Op kHingeEmbeddingLoss{.name = "hinge_embedding_loss",
                             .doc = "input where target is 1, max(0, margin - input) where it is -1.",
                             .inputs = {{"input"}, {"target"}},
                             .params = {{"margin", ParamKind::real, 1.0}, kReduction},
                             .compose = hinge_embedding_compose,
                             .family = OpFamily::loss,
                             .autocast = AutocastPolicy::f32};

Operands soft_margin_compose(const Call& call) {
  need_same_shape("soft_margin_loss", call.input(0), call.input(1));
  return {reduced(-logsigmoid(call.input(1) * call.input(0)), reduction_of(call))};
}
const Op kSoftMarginLoss{.name = "soft_margin_loss",
                         .doc = "log(1 + exp(-target input)) for targets 1 and -1.",
                         .inputs = {{"input"}, {"target"}},
                         .params = {kReduction},
                         .compose = soft_margin_compose,
                         .family = OpFamily::loss,
                         .autocast = AutocastPolicy::f32};

// --- classes against each other ---

// The inputs as [N, C] and the targets as [N] or, with several classes, [N, C].
struct Classes {
  Tensor x, target;
  int64_t count;
};
Classes classes_of(const Call& call, bool several) {
  const char* const name = call.op->name;
  const Tensor &x = call.input(0), &target = call.input(1);
  if (x.ndim() != 1 && x.ndim() != 2) fail(name, ": input must be [N, C] or [C] (got shape ", x.shape(), ")");
  if (!is_floating(x.dtype())) fail(name, ": a floating type is needed (got ", x.dtype(), ")");
  if (target.dtype() != DType::i64)
    fail(name, ": target must be i64 (got ", target.dtype(), "); target:long() converts it");
  const int64_t count = x.size(-1), items = x.ndim() == 2 ? x.size(0) : 1;
  const Shape wanted = several ? x.shape() : x.ndim() == 2 ? Shape{items} : Shape{};
  if (!(target.shape() == wanted) && !(!several && x.ndim() == 1 && target.shape() == Shape{1}))
    fail(name, ": input of shape ", x.shape(), " needs a target of shape ", wanted, " (got ", target.shape(),
         ")");
  if (count == 0) fail(name, ": there are no classes in input of shape ", x.shape());
  return {reshape(upcast(x), {items, count}), reshape(target, several ? Shape{items, count} : Shape{items}),
          count};
}
Tensor reduced_items(const Tensor& loss, const Call& call, int at) {
  const Reduction how = reduction_of(call, at);
  const Tensor each = how == Reduction::none && call.input(0).ndim() == 1 ? reshape(loss, {}) : loss;
  return to(reduced(each, how), call.input(0).dtype());
}

Operands multi_margin_compose(const Call& call) {
  const auto [x, target, count] = classes_of(call, false);
  const int64_t p = call.integer(0);
  if (p != 1 && p != 2) fail("multi_margin_loss: p must be 1 or 2 (got ", p, ")");
  const Tensor own = unsqueeze(target, 1);
  Tensor terms = at_least(x - gather(x, 1, own) + call.real(1), 0);
  if (p == 2) terms = square(terms);
  if (call.has(2)) {
    const Tensor& weight = call.input(2);
    if (!(weight.shape() == Shape{count}))
      fail("multi_margin_loss: weight has shape ", weight.shape(), " where ", count, " classes need [", count,
           "]");
    terms = terms * unsqueeze(index_select(weight, 0, target), 1);
  }
  const Tensor others = ne(arange(0, double(count), 1, DType::i64, x.device()), own);
  const Tensor loss = sum(where(others, terms, Tensor::number(0.0)), {1}) / double(count);
  return {reduced_items(loss, call, 2)};
}
const ExampleOperand label(const Shape& shape, double high) {
  return {.shape = shape, .low = 0, .high = high, .kind = ExampleOperand::Kind::index};
}
const Op kMultiMarginLoss{
    .name = "multi_margin_loss",
    .doc =
        "The mean over the classes of max(0, margin - input[target] + input[class])^p, without the target's "
        "own, "
        "times weight[target].",
    .inputs = {{"input"}, {"target"}, {"weight", true}},
    .params = {{"p", ParamKind::integer, 1}, {"margin", ParamKind::real, 1.0}, kReduction},
    .compose = multi_margin_compose,
    .integer_inputs = 2,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32,
    .order = {"input", "target", "p", "margin", "weight", "reduction"},
    .examples = {{.inputs = {{.shape = {3, 4}}, label({3}, 4), {.kind = ExampleOperand::Kind::absent}},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 4}}, label({3}, 4), {.kind = ExampleOperand::Kind::absent}},
                  .params = {2, 0.5, int64_t(Reduction::none)},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {4}}, label({}, 4), {.kind = ExampleOperand::Kind::absent}},
                  .params = {1, 1.5, int64_t(Reduction::sum)},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 4}}, label({3}, 4), {.kind = ExampleOperand::Kind::absent}},
                  .params = {3},
                  .error = "p must be 1 or 2"},
                 {.inputs = {{.shape = {3, 4}}, label({2}, 4), {.kind = ExampleOperand::Kind::absent}},
                  .error = "needs a target of shape [3]"}}};

// The sums over i of max(0, 1 + x[n, i] - own[n, j]) for x [N, C], where `counts` is true, and own [N, T]:
// [N, T]. Of many elements they are differences of running sums of the sorted elements, since the terms alone
// would be [N, T, C].
Tensor sums_of_margins(const Tensor& x, const Tensor& counts, const Tensor& own) {
  constexpr int64_t kManyTerms = 1 << 16;
  const Tensor zero = Tensor::number(0.0), ignored = Tensor::number(-INFINITY);
  if (x.numel() * own.size(1) <= kManyTerms)
    return sum(where(unsqueeze(counts, 1), at_least(unsqueeze(x, 1) - unsqueeze(own, 2) + 1.0, 0), zero),
               {2});
  // Relative to the largest element, running sums keep more digits.
  const Tensor largest = apply1(*find_op("amax"), {x.detach()}, {Value(Dims{1}), true});
  const Tensor origin = where(isfinite(largest), largest, zero);
  const Tensor sorted = sort(where(counts, x - origin, ignored), 1).first, least = own - origin - 1.0;
  Tensor below, others;  // how many elements are less, and how many are not
  {
    const NoGrad off;
    below = apply1(*find_op("_searchsorted"), {sorted, contiguous(least)}, {false});
    others = double(x.size(1)) - to(below, x.dtype());
  }
  // above[n, p]: the sum of the elements from place p on.
  const Tensor elements = where(eq(sorted, ignored), zero, sorted);
  const Tensor above =
      cat({flip(cumsum(flip(elements, {1}), 1), {1}), zeros_like(narrow(elements, 1, 0, 1))}, 1);
  return gather(above, 1, below) - where(eq(others, zero), zero, others * least);
}

// The classes in a row of the target end at the first negative id.
Operands multilabel_margin_compose(const Call& call) {
  const auto [x, target, count] = classes_of(call, true);
  const Tensor zero = Tensor::number(0.0);
  Tensor named, place, others;
  {
    const NoGrad off;
    named =
        gt(cumprod(to(ge(target, Tensor::number(int64_t(0))), DType::i64), 1), Tensor::number(int64_t(0)));
    place = where(named, target, Tensor::number(int64_t(0)));
    const Tensor marks = scatter_add(blank(x.shape(), x.dtype(), x.device()), 1, place, to(named, x.dtype()));
    others = eq(marks, zero);
  }
  const Tensor sums = sums_of_margins(x, others, gather(x, 1, place));
  const Tensor loss = sum(where(named, sums, zero), {1}) / double(count);
  return {reduced_items(loss, call, 0)};
}
const Op kMultilabelMarginLoss{
    .name = "multilabel_margin_loss",
    .doc =
        "The sum of max(0, 1 - input[target] + input[class]) over the classes that target names, up to its "
        "first -1, "
        "and those that it does not, divided by the number of classes.",
    .inputs = {{"input"}, {"target"}},
    .params = {kReduction},
    .compose = multilabel_margin_compose,
    .integer_inputs = 2,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::f32,
    .examples = {{.inputs = {{.shape = {3, 4}},
                             {.shape = {3, 4}, .low = -1, .high = 4, .kind = ExampleOperand::Kind::index}},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {4}},
                             {.shape = {4}, .low = -1, .high = 4, .kind = ExampleOperand::Kind::index}},
                  .params = {int64_t(Reduction::none)},
                  .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3, 4}}, label({3}, 4)}, .error = "needs a target of shape [3, 4]"}}};

}  // namespace

std::span<const Op* const> margin_loss_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list{&kCosineSimilarity,  &kPairwiseDistance,  &kCosineEmbeddingLoss,
                                &kTripletMarginLoss, &kMarginRankingLoss, &kHingeEmbeddingLoss,
                                &kSoftMarginLoss,    &kMultiMarginLoss,   &kMultilabelMarginLoss};
    list.insert(list.end(), row_measure_ops().begin(), row_measure_ops().end());
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
