// Norms of vectors and matrices, and the condition number.
#include <cmath>

#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/reductions/reduction.h"

namespace lunagrad {
namespace {

// The order of a norm: a number, or one of two names.
enum Name : int64_t { kFrobenius, kNuclear };
constexpr int kOrdAt = 0, kDimAt = 1, kKeepAt = 2, kTypeAt = 3;
const ParamSpec kDtype{.name = "dtype", .kind = ParamKind::dtype, .optional = true};

const Op& vector_norm_op() {
  static const Op* const op = find_op("vector_norm");
  return *op;
}
Tensor vector_norm_of(const Tensor& x, double ord, const Value& dims, bool keepdim, const Value& dtype = {}) {
  return apply1(vector_norm_op(), {x}, {ord, dims, keepdim, dtype});
}

Operands vector_norm_compose(const Call& call) { return apply(vector_norm_op(), call.in, call.params); }
const Op kVectorNorm{
    .name = "linalg.vector_norm",
    .doc = "The ord-norm over dim, or of all elements; ord may be 0, inf and -inf.",
    .inputs = {{"x"}},
    .params = {{"ord", ParamKind::real, 2.0}, kDims, kKeepdim, kDtype},
    .compose = vector_norm_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{{2, 3}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}}, .params = {3.0, Dims{1}, true}, .types = OpExample::Types::floating}}};

// The matrices of the dims `first` and `second`, moved to the end.
Tensor with_matrices_last(const Tensor& a, int first, int second) {
  if (first == a.ndim() - 2 && second == a.ndim() - 1) return a;
  return movedim(a, {first, second}, {a.ndim() - 2, a.ndim() - 1});
}
// Puts dims of size 1 back in the places of the two reduced ones.
Tensor keep_dims(const Tensor& y, int first, int second) {
  const int low = std::min(first, second), high = std::max(first, second);
  return unsqueeze(unsqueeze(y, low), high);
}

Tensor matrix_norm_of(const char* op, const Tensor& given, const Value& ord, int first, int second,
                      bool keepdim, const Value& dtype) {
  const Tensor a = dtype.present() ? to(given, DType(dtype.i)) : given;
  if (!is_differentiable(a.dtype())) fail(op, ": a floating or complex type is needed (got ", a.dtype(), ")");
  if (first == second) fail(op, ": dim must name two different dims (got ", first + 1, " twice)");
  const Tensor matrices = with_matrices_last(a, first, second);
  Tensor y;
  if (ord.kind == Value::Kind::integer) {
    y = ord.i == kFrobenius ? vector_norm_of(matrices, 2, Dims{-2, -1}, false)
                            : sum(linalg_svdvals(matrices), {-1});
  } else {
    const double p = ord.f, size = std::abs(p);
    if (size != 1 && size != 2 && !std::isinf(p))
      fail(op, ": ord must be 1, -1, 2, -2, math.huge, -math.huge, \"fro\" or \"nuc\" (got ", p, ")");
    const Tensor values =
        size == 2 ? linalg_svdvals(matrices) : vector_norm_of(matrices, 1, Dims{size == 1 ? -2 : -1}, false);
    y = p > 0 ? amax(values, {-1}) : amin(values, {-1});
  }
  return keepdim ? keep_dims(y, first, second) : y;
}

Operands matrix_norm_compose(const Call& call) {
  const Tensor& a = call.input(0);
  if (a.ndim() < 2) fail("linalg.matrix_norm: A must have at least 2 dims (got shape ", a.shape(), ")");
  const Dims& dims = call.list(kDimAt);
  if (dims.size() != 2) fail("linalg.matrix_norm: dim must name two dims (got ", dims.size(), ")");
  return {matrix_norm_of(
      call.op->name, a, call.params[kOrdAt], normalize_dim(call.op->name, dims[0], a.shape()),
      normalize_dim(call.op->name, dims[1], a.shape()), call.flag(kKeepAt), call.params[kTypeAt])};
}
const Op kMatrixNorm{
    .name = "linalg.matrix_norm",
    .doc = "The norm of matrices in the two dims dim: \"fro\", \"nuc\", or of order 1, -1, 2, -2, inf, -inf.",
    .inputs = {{"A"}},
    .params = {{"ord", ParamKind::real, int64_t(kFrobenius), {"fro", "nuc"}},
               {"dim", ParamKind::dims, Dims{-2, -1}},
               kKeepdim,
               kDtype},
    .compose = matrix_norm_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{{2, 3}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 3}}}, .params = {int64_t(kNuclear)}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 3}}}, .params = {2.0, Dims{0, 2}, true}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 3}}}, .params = {1.0}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 4}}}, .params = {3.0}, .error = "linalg.matrix_norm: ord must be 1, -1, 2, -2"},
        {.inputs = {{{3}}}, .error = "linalg.matrix_norm: A must have at least 2 dims"}}};

// PyTorch's rule: it is a matrix norm if dim names two dims, or if ord is given without dim and A has two
// dims.
Operands norm_compose(const Call& call) {
  const Tensor& a = call.input(0);
  const Value &ord = call.params[kOrdAt], &dim = call.params[kDimAt];
  const bool keepdim = call.flag(kKeepAt);
  const int count = !dim.present() ? a.ndim() : dim.kind == Value::Kind::list ? dim.list.size() : 1;
  if (!ord.present() || (count == 1 && ord.kind == Value::Kind::real))
    return {vector_norm_of(a, ord.present() ? ord.f : 2, dim, keepdim, call.params[kTypeAt])};
  if (count != 2)
    fail("linalg.norm: an order of matrices needs two dims (got ", count,
         "); name them with dim, or leave ord "
         "out for the 2-norm of all elements");
  const int first = dim.present() ? normalize_dim(call.op->name, dim.list[0], a.shape()) : 0;
  const int second = dim.present() ? normalize_dim(call.op->name, dim.list[1], a.shape()) : 1;
  return {matrix_norm_of(call.op->name, a, ord, first, second, keepdim, call.params[kTypeAt])};
}
const Op kNorm{
    .name = "linalg.norm",
    .doc =
        "The norm of vectors if dim names one dim or ord is absent, else of matrices; ord is a number, "
        "\"fro\" or \"nuc\".",
    .inputs = {{"A"}},
    .params = {{.name = "ord", .kind = ParamKind::real, .choices = {"fro", "nuc"}, .optional = true},
               kDims,
               kKeepdim,
               kDtype},
    .compose = norm_compose,
    .family = OpFamily::reduction,
    .examples = {
        {.inputs = {{{2, 3, 2}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}}, .params = {int64_t(kNuclear)}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}}, .params = {3.0, Dims{0}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}}, .params = {-1.0, Dims{1, 0}, true}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 2}}},
         .params = {1.0},
         .error = "linalg.norm: an order of matrices needs two dims"}}};

// --- cond ---

Operands cond_compose(const Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  const Value& p = call.params[0];
  const double order = p.kind == Value::Kind::real ? p.f : 0;
  if (!p.present() || order == 2 || order == -2) {
    const Tensor s = linalg_svdvals(a);
    if (s.size(-1) == 0) return {zeros(batch_shape(a.shape()), part_type(a.dtype()), a.device())};
    const Tensor largest = select(s, -1, 0), least = select(s, -1, s.size(-1) - 1);
    return {order == -2 ? least / largest : largest / least};
  }
  require_square(call);
  const int n = a.ndim();
  const auto norm_of = [&](const Tensor& x) {
    return matrix_norm_of(call.op->name, x, p, n - 2, n - 1, false, {});
  };
  if (a.size(-1) == 0) return {zeros(batch_shape(a.shape()), part_type(a.dtype()), a.device())};
  // A singular matrix has the condition number inf, as in PyTorch: its inverse is replaced by infinities.
  const Tensor sign = linalg_slogdet(a.detach())[0];
  const Tensor singular = unsqueeze(unsqueeze(eq(sign, zeros_like(sign)), -1), -1);
  const Tensor regular = where(singular, identity_like(a), a);
  const Tensor inverse_norm = norm_of(linalg_inv(regular));
  const Tensor infinite = full(inverse_norm.shape(), std::numeric_limits<double>::infinity(),
                               inverse_norm.dtype(), inverse_norm.device());
  return {norm_of(a) * where(squeeze(squeeze(singular, -1), -1), infinite, inverse_norm)};
}
const Op kCond{
    .name = "linalg.cond",
    .doc =
        "The condition number |A| |A^-1| in the matrix norm p; without p the ratio of the largest and the "
        "smallest singular value.",
    .inputs = {{"A"}},
    .params = {{.name = "p", .kind = ParamKind::real, .choices = {"fro", "nuc"}, .optional = true}},
    .compose = cond_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{4, 2}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3}}}, .params = {1.0}, .error = "linalg.cond: A must be a square matrix"}}};

}  // namespace

std::span<const Op* const> linalg_norm_ops() {
  static constexpr const Op* ops[] = {&kVectorNorm, &kMatrixNorm, &kNorm, &kCond};
  return ops;
}

}  // namespace lunagrad
