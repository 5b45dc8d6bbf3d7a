// Cholesky factors and what is computed from them.
#include "runtime/ops/linalg/cpu/cholesky.h"
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

const ParamSpec kUpper{"upper", ParamKind::boolean, false};

void cholesky_shape(Call& call) {
  require_square(call);
  lapack::check_size(call.op->name, call.input(0).size(-1), call.input(0).size(-1));
  call.emit(call.input(0).shape(), call.input(0).dtype());
}

// Writes L of every matrix to `out`, and to info the order of the failing minor (0: none). Reads the lower
// triangle of the operand. With `upper` it reads the upper triangle and writes U = L^H.
template <class T>
void factor_batch(const Tensor& a, const Tensor& out, bool upper, int32_t* info) {
  const int64_t n = a.size(-1), items = a.numel() / std::max<int64_t>(1, n * n);
  T* const factors = static_cast<T*>(out.raw());
  // The upper triangle of a Hermitian matrix is the lower one of its transpose, which has the factor conj(L).
  const Tensor source = upper ? columns_of(a) : in_order(a);
  std::copy_n(static_cast<const T*>(source.raw()), a.numel(), factors);
  for_items(items, double(n * n) * double(n), [&](int64_t item) {
    T* const matrix = factors + item * n * n;
    info[item] = factor_cholesky(n, matrix);
    for (int64_t i = 0; i < n; ++i) std::fill_n(matrix + i * n + i + 1, n - i - 1, T(0));
  });
  if (!upper) return;
  // U = L^H of the matrix itself is the transpose of the factor of its transpose.
  const Tensor lower = clone(out);
  Strides strides = lower.strides();
  std::swap(strides[a.ndim() - 2], strides[a.ndim() - 1]);
  copy_strided(out.raw(), out.dtype(), out.strides(), lower.raw(), lower.dtype(), strides, out.shape());
}

[[noreturn]] void fail_indefinite(const Call& call, int64_t item, int32_t order) {
  fail_as(ErrorKind::numeric, call.op->name, ": ", in_batch(call.input(0).shape(), item),
          " is not positive-definite: the leading minor of order ", order, " is not positive");
}

void cholesky_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1), items = a.numel() / (n * n);
  std::vector<int32_t> info(size_t(items), 0);
  visit_linalg_dtype(a.dtype(),
                     [&]<class T>() { factor_batch<T>(a, call.output(), call.flag(0), info.data()); });
  for (int64_t item = 0; item < items; ++item)
    if (info[size_t(item)] > 0) fail_indefinite(call, item, info[size_t(item)]);
}

// dA = L^-H sym(Phi(L^H dL)) L^-1, where Phi takes the lower triangle and half of the diagonal: Murray,
// "Differentiation of the Cholesky decomposition", 2016, section 4.
void cholesky_vjp(Backward& b) {
  const bool upper = b.flag(0);
  const Tensor factor = b.output(), g = conjugated(b.grad());
  const Tensor l = upper ? adjoint(factor) : factor, dl = upper ? adjoint(g) : g;
  const Tensor product = matmul(adjoint(l), dl);
  const Tensor phi = tril(product, -1) + diag_embed(diagonal_of(product)) * 0.5;
  const Tensor half = linalg_solve_triangular(adjoint(l), phi, true);
  const Tensor full = linalg_solve_triangular(l, half, false, false);
  b.set(0, conjugated((full + adjoint(full)) * 0.5));
}

double cholesky_flops(const Call& call) { return elements(call.in[0]) * double(call.input(0).size(-1)) / 3; }
const Op kCholesky{
    .name = "linalg.cholesky",
    .doc =
        "The lower triangle L with A = L L^H of positive-definite matrices, or with upper L^H; only that "
        "triangle of A is read.",
    .inputs = {{"A"}},
    .params = {kUpper},
    .shape = cholesky_shape,
    .cpu = cholesky_cpu,
    .vjp = cholesky_vjp,
    .reads = {{.outputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {cholesky_flops, "n^3 / 3 for each matrix"},
    .examples = {
        {.inputs = {{{3, 1, 1}, 0.5, 4}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 1, 1}, 0.5, 4}}, .params = {true}, .types = OpExample::Types::floating},
        {.inputs = {{{0, 3, 3}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}}, .error = "linalg.cholesky: A must be a square matrix"},
        {.inputs = {{{3}}}, .error = "linalg.cholesky: A must have at least 2 dims"},
        {.inputs = {{{2, 1, 1}, -2, -1}}, .error = "matrix 1 of the batch is not positive-definite"}}};

// --- cholesky_ex: the same, but returns the places of failures ---

void cholesky_ex_shape(Call& call) {
  cholesky_shape(call);
  call.emit(batch_shape(call.input(0).shape()), DType::i32);
}
void cholesky_ex_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  int32_t* const info = call.output(1).data<int32_t>();
  std::fill_n(info, call.output(1).numel(), 0);
  if (a.numel() > 0)
    visit_linalg_dtype(a.dtype(), [&]<class T>() { factor_batch<T>(a, call.output(0), call.flag(0), info); });
  if (!call.flag(1)) return;
  for (int64_t item = 0; item < call.output(1).numel(); ++item)
    if (info[item] > 0) fail_indefinite(call, item, info[item]);
}
const Op kCholeskyEx{
    .name = "linalg.cholesky_ex",
    .doc =
        "The factors of linalg.cholesky, and for each matrix 0 or the order of the leading minor that is not "
        "positive (an error with check_errors); the factor of such a matrix has no meaning.",
    .inputs = {{"A"}},
    .params = {kUpper, {"check_errors", ParamKind::boolean, false}},
    .shape = cholesky_ex_shape,
    .cpu = cholesky_ex_cpu,
    .vjp = cholesky_vjp,
    .reads = {{.outputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {cholesky_flops, "n^3 / 3 for each matrix"},
    .examples = {{.inputs = {{{3, 1, 1}, 0.5, 4}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 1, 1}, 0.5, 4}}, .params = {true}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3}}}, .error = "linalg.cholesky_ex: A must be a square matrix"},
                 {.inputs = {{{2, 1, 1}, -2, -1}},
                  .params = {false, true},
                  .error = "matrix 1 of the batch is not positive-definite"}}};

// torch.cholesky
Operands plain_cholesky_compose(const Call& call) { return apply(kCholesky, call.in, call.params); }
const Op kPlainCholesky{
    .name = "cholesky",
    .doc = "The lower triangle L with input = L L^H, or with upper L^H: linalg.cholesky under its old name.",
    .inputs = {{"input"}},
    .params = {kUpper},
    .compose = plain_cholesky_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 1, 1}, 0.5, 4}}, .types = OpExample::Types::floating}}};

// A X = B from the factor of A.
Tensor solve_with_factor(const Tensor& factor, const Tensor& b, bool upper) {
  const Tensor l = upper ? adjoint(factor) : factor;
  return linalg_solve_triangular(adjoint(l), linalg_solve_triangular(l, b, false), true);
}

Operands cholesky_solve_compose(const Call& call) {
  require_matrix(call, 0);
  require_square(call, 1);
  return {solve_with_factor(call.input(1), call.input(0), call.flag(0))};
}
const Op kCholeskySolve{
    .name = "cholesky_solve",
    .doc = "The solution X of A X = input from the Cholesky factor input2 of A.",
    .inputs = {{"input"}, {"input2"}},
    .params = {kUpper},
    .compose = cholesky_solve_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{3, 2}}, {{3, 3}, 0.5, 1.5}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 2}}, {{3, 3}, 0.5, 1.5}}, .params = {true}, .types = OpExample::Types::floating},
        {.inputs = {{{3}}, {{3, 3}}}, .error = "cholesky_solve: input must have at least 2 dims"}}};

Operands cholesky_inverse_compose(const Call& call) {
  require_square(call);
  const Tensor& factor = call.input(0);
  return {solve_with_factor(factor, identity_like(factor), call.flag(0))};
}
const Op kCholeskyInverse{
    .name = "cholesky_inverse",
    .doc = "The inverse of A from its Cholesky factor input.",
    .inputs = {{"input"}},
    .params = {kUpper},
    .compose = cholesky_inverse_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 3}, 0.5, 1.5}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 3}, 0.5, 1.5}}, .params = {true}, .types = OpExample::Types::floating}}};

}  // namespace

Tensor linalg_cholesky(const Tensor& a, bool upper) { return apply1(kCholesky, {a}, {upper}); }

std::span<const Op* const> linalg_cholesky_ops() {
  static constexpr const Op* ops[] = {&kCholesky, &kCholeskyEx, &kPlainCholesky, &kCholeskySolve,
                                      &kCholeskyInverse};
  return ops;
}

}  // namespace lunagrad
