// Losses of distances and margins, all compositions: cosine_similarity, cosine_embedding_loss,
// triplet_margin_loss, margin_ranking_loss, hinge_embedding_loss, soft_margin_loss.
#include <cmath>

#include "runtime/ops/families.h"
#include "runtime/ops/loss.h"

namespace lunagrad {
namespace {

// At the limit the gradient passes, as in PyTorch.
Tensor at_least(const Tensor& x, double least) { return clamp(x, least, INFINITY); }

// The small numbers that keep roots away from 0 cannot be represented in 16 bits.
Tensor widened(const Tensor& x) { return is_half(x.dtype()) ? to(x, DType::f32) : x; }
Tensor narrowed(const Tensor& result, const Tensor& a, const Tensor& b) {
  const DType dtype = promote(a.dtype(), b.dtype());
  return is_half(dtype) ? to(result, dtype) : result;
}

// Each norm is at least eps. The limit is inside the root, so that a vector of zeros has a gradient.
Operands cosine_similarity_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const Shape shape = broadcast_shapes("cosine_similarity", a.shape(), b.shape());
  const int dim = normalize_dim("cosine_similarity", call.integer(0), shape);
  const double eps = call.real(1);
  const Tensor x = expand(widened(a), shape), y = expand(widened(b), shape);
  const auto norm_of = [&](const Tensor& v) { return sqrt(at_least(sum(square(v), {dim}), eps * eps)); };
  return {narrowed(sum(x * y, {dim}) / (norm_of(x) * norm_of(y)), a, b)};
}
const Op kCosineSimilarity{.name = "cosine_similarity",
                           .doc = "x1 x2 / (|x1| |x2|) along dim, each norm at least eps.",
                           .inputs = {{"x1"}, {"x2"}},
                           .params = {{"dim", ParamKind::dim, 1}, {"eps", ParamKind::real, 1e-8}},
                           .compose = cosine_similarity_compose,
                           .family = OpFamily::reduction,
                           .autocast = AutocastPolicy::wide};

// |x1 - x2 + eps|_p along the last dim, as in PyTorch.
Operands pairwise_distance_compose(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1);
  if (broadcast_shapes("pairwise_distance", a.shape(), b.shape()).empty())
    fail("pairwise_distance: vectors along the last dim are needed (got two scalars)");
  const Tensor difference = widened(a) - widened(b) + call.real(1);
  return {narrowed(norm(difference, call.real(0), {-1}, call.flag(2)), a, b)};
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
  const Tensor a = widened(call.input(0)), b = widened(call.input(1)), &target = call.input(2);
  need_same_shape("cosine_embedding_loss", a, b);
  if (a.ndim() != 1 && a.ndim() != 2)
    fail("cosine_embedding_loss: inputs must be [N, D] or [D] (got shape ", a.shape(), ")");
  if (!(target.shape() == (a.ndim() == 2 ? Shape{a.size(0)} : Shape{})))
    fail("cosine_embedding_loss: inputs of shape ", a.shape(), " need a target of shape ",
         a.ndim() == 2 ? Shape{a.size(0)} : Shape{}, " (got ", target.shape(), ")");
  const auto square_of = [&](const Tensor& v) { return sum(square(v), {-1}) + kEps; };
  const Tensor cosine = sum(a * b, {-1}) / sqrt(square_of(a) * square_of(b));
  const Tensor zero = Tensor::number(0.0);
  const Tensor apart =
      where(eq(target, Tensor::number(int64_t(-1))), at_least(cosine - call.real(0), 0), zero);
  const Tensor loss = where(eq(target, Tensor::number(int64_t(1))), 1.0 - cosine, apart);
  return {narrowed(reduced(loss, reduction_of(call, 1)), call.input(0), call.input(1))};
}
const Op kCosineEmbeddingLoss{
    .name = "cosine_embedding_loss",
    .doc = "1 - cosine for pairs with target 1, max(0, cosine - margin) for pairs with target -1.",
    .inputs = {{"input1"}, {"input2"}, {"target"}},
    .params = {{"margin", ParamKind::real, 0.0}, kReduction},
    .compose = cosine_embedding_compose,
    .family = OpFamily::loss,
    .autocast = AutocastPolicy::wide};

// |x - y + eps|_p along the last dim, as in PyTorch.
Tensor distance(const Tensor& x, const Tensor& y, double p, double eps) { return norm(x - y + eps, p, {-1}); }

Operands triplet_margin_compose(const Call& call) {
  const Tensor &anchor = call.input(0), &positive = call.input(1), &negative = call.input(2);
  need_same_shape("triplet_margin_loss", anchor, positive);
  need_same_shape("triplet_margin_loss", anchor, negative);
  if (anchor.ndim() == 0) fail("triplet_margin_loss: at least 1 dim is needed");
  const double margin = call.real(0), p = call.real(1), eps = call.real(2);
  const Tensor near = distance(anchor, positive, p, eps);
  Tensor far = distance(anchor, negative, p, eps);
  if (call.flag(3)) far = minimum(far, distance(positive, negative, p, eps));
  return {reduced(at_least(near - far + margin, 0), reduction_of(call, 4))};
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
                            .autocast = AutocastPolicy::wide};

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
                            .autocast = AutocastPolicy::wide};

Operands hinge_embedding_compose(const Call& call) {
  const Tensor &x = call.input(0), &target = call.input(1);
  need_same_shape("hinge_embedding_loss", x, target);
  const Tensor zero = Tensor::number(0.0);
  // Each term is 0 where the target is not its own, as in PyTorch for targets other than 1 and -1.
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
                             .autocast = AutocastPolicy::wide};

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
                         .autocast = AutocastPolicy::wide};

}  // namespace

std::span<const Op* const> margin_loss_ops() {
  static const Op* const ops[] = {&kCosineSimilarity,  &kPairwiseDistance,  &kCosineEmbeddingLoss,
                                  &kTripletMarginLoss, &kMarginRankingLoss, &kHingeEmbeddingLoss,
                                  &kSoftMarginLoss};
  return ops;
}

}  // namespace lunagrad
