// Singular values, and what is computed from them.
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/products/cpu/blas.h"

namespace lunagrad {
namespace {

[[noreturn]] void fail_singular_values(const char* op, const Shape& shape, int64_t item) {
  fail_as(ErrorKind::numeric, op, ": the singular values of ", in_batch(shape, item), " do not converge");
}

double svd_flops(const Call& call) {
  const Tensor& a = call.input(0);
  return 14 * elements(a) * double(std::min(a.size(-1), a.size(-2)));
}

// --- svd ---

void svd_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const bool full = call.flag(0);
  lapack::check_size(call.op->name, std::max(m, n), full ? std::max(m, n) : k, 4);
  const Shape batch = batch_shape(a.shape());
  call.emit(with_dims(batch, {m, full ? m : k}), a.dtype());
  call.emit(with_dims(batch, {k}), part_type(a.dtype()));
  call.emit(with_dims(batch, {full ? n : k, n}), a.dtype());
}

template <class T>
void fill_identity(const Tensor& out) {
  T* const values = out.data<T>();
  std::fill_n(values, out.numel(), T(0));
  const int64_t n = out.size(-1), items = n > 0 ? out.numel() / (n * n) : 0;
  for (int64_t i = 0; i < items * n; ++i) values[i * n + i % n] = T(1);
}

void svd_cpu(const Call& call) {
  const Tensor &a = call.input(0), &u = call.output(0), &s = call.output(1), &vh = call.output(2);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const bool full = call.flag(0);
  require_finite(call.op->name, a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    if (k == 0) {
      if (u.numel() > 0) fill_identity<T>(u);
      if (vh.numel() > 0) fill_identity<T>(vh);
      return;
    }
    const auto turned = [&](const Tensor& out) {
      return Tensor::empty(with_dims(batch_shape(out.shape()), {out.size(-1), out.size(-2)}), out.dtype());
    };
    const Tensor matrices = columns_of(a), left = turned(u), right = turned(vh);
    for_items(a.numel() / (m * n), 14 * double(m * n) * double(k), [&](int64_t item) {
      if (lapack::svd(m, n, matrices.data<T>() + item * m * n, s.data<Part<T>>() + item * k,
                      left.data<T>() + item * m * u.size(-1), right.data<T>() + item * n * vh.size(-2),
                      full) > 0)
        fail_singular_values(call.op->name, a.shape(), item);
    });
    copy_from_columns(u, left);
    copy_from_columns(vh, right);
  });
}

// With E_ij = s_j^2 - s_i^2, skew(X) = X - X^H and V = Vh^H:
//   dA = U [skew(U^H dU) / E S + S skew(V^H dV) / E + dS] V^H
//        + (1 - U U^H) dU S^-1 V^H + U S^-1 dV^H (1 - V V^H),
// and for complex numbers the diagonal part Im(U^H dU) / S: Townsend, "Differentiating the singular value
// decomposition", 2016; Wan, Zhang, "Automatic differentiation for complex valued SVD", 2019. Where singular
// values are equal or 0, the quotients count as 0: the numbers that they multiply are 0 for every function
// that does not depend on the choice of the singular vectors.
void svd_vjp(Backward& b) {
  const int64_t k = b.output(1).size(-1);
  const Tensor u = narrow(b.output(0), -1, 0, k), s = b.output(1), vh = narrow(b.output(2), -2, 0, k);
  const DType type = u.dtype();
  const int64_t m = u.size(-2), n = vh.size(-1);
  Tensor inner = diag_embed(to(conjugated(b.grad(1)), type));
  if (!b.has_grad(0) && !b.has_grad(2))
    return b.set(0, conjugated(matmul(u, to(unsqueeze(b.grad(1), -1), type) * vh)));
  const auto skew = [](const Tensor& x) { return x - adjoint(x); };
  const Tensor squares = square(s);
  const Tensor e = to(reciprocal_or_zero(unsqueeze(squares, -2) - unsqueeze(squares, -1)), type);
  const Tensor row = to(unsqueeze(s, -2), type), column = to(unsqueeze(s, -1), type);
  const Tensor inverse = to(reciprocal_or_zero(s), type);
  Tensor du, dvh, outside;
  if (b.has_grad(0)) {
    du = narrow(conjugated(b.grad(0)), -1, 0, k);
    const Tensor product = matmul(adjoint(u), du), turn = skew(product);
    inner = inner + turn * e * row;
    if (is_complex(type)) inner = inner + diag_embed(diagonal_of(turn) * inverse * 0.5);
    if (m > k) outside = matmul((du - matmul(u, product)) * unsqueeze(inverse, -2), vh);
  }
  if (b.has_grad(2)) {
    dvh = narrow(conjugated(b.grad(2)), -2, 0, k);
    const Tensor product = matmul(vh, adjoint(dvh));
    inner = inner + column * (skew(product) * e);
    if (n > k) {
      const Tensor part = matmul(u, unsqueeze(inverse, -1) * (dvh - matmul(adjoint(product), vh)));
      outside = outside.defined() ? outside + part : part;
    }
  }
  const Tensor da = matmul(matmul(u, inner), vh);
  b.set(0, conjugated(outside.defined() ? da + outside : da));
}

const Op kSvd{
    .name = "linalg.svd",
    .doc =
        "U, S and Vh with A = U diag(S) Vh, S in descending order; full_matrices completes U and Vh to "
        "squares. The driver's name is accepted and not needed.",
    .inputs = {{"A"}},
    .params = {{"full_matrices", ParamKind::boolean, true},
               {.name = "driver",
                .kind = ParamKind::choice,
                .choices = {"gesvd", "gesvdj", "gesvda"},
                .optional = true}},
    .shape = svd_shape,
    .cpu = svd_cpu,
    .vjp = svd_vjp,
    .reads = {{.outputs = 7}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {svd_flops, "14 m n min(m, n) for each matrix"},
    .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 2}}}, .params = {false}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 4}}}, .params = {false}, .types = OpExample::Types::floating},
                 {.inputs = {{{3}}}, .error = "linalg.svd: A must have at least 2 dims"}}};

// torch.svd gives V, not its adjoint.
Operands plain_svd_compose(const Call& call) {
  const Operands parts = apply(kSvd, call.in, {!call.flag(0), {}});
  if (call.flag(1)) return {parts[0], parts[1], adjoint(parts[2])};
  return {zeros_like(parts[0].detach()), parts[1], zeros_like(adjoint(parts[2]).detach())};
}
const Op kPlainSvd{.name = "svd",
                   .doc = "U, S and V with input = U diag(S) V^H; some = false completes U and V to squares.",
                   .inputs = {{"input"}},
                   .params = {{"some", ParamKind::boolean, true}, {"compute_uv", ParamKind::boolean, true}},
                   .compose = plain_svd_compose,
                   .family = OpFamily::linear_algebra,
                   .examples = {{.inputs = {{{3, 2}}}, .types = OpExample::Types::floating}}};

// --- svdvals ---

void svdvals_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  lapack::check_size(call.op->name, a.size(-2), a.size(-1), 4);
  call.emit(with_dims(batch_shape(a.shape()), {std::min(a.size(-2), a.size(-1))}), part_type(a.dtype()));
}
// The transposed matrix, as LAPACK sees it, has the same singular values.
void svdvals_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  require_finite(call.op->name, a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const Tensor ordered = in_order(a);
    for_items(a.numel() / (m * n), 3 * double(m * n) * double(k), [&](int64_t item) {
      const Workspace<T> matrix(m * n);
      std::copy_n(ordered.data<T>() + item * m * n, m * n, matrix.data());
      if (lapack::svd<T>(n, m, matrix.data(), call.output().data<Part<T>>() + item * k, nullptr, nullptr,
                         false) > 0)
        fail_singular_values(call.op->name, a.shape(), item);
    });
  });
}
// dA = U dS V^H; the vectors are computed only when a gradient is wanted.
void svdvals_vjp(Backward& b) {
  const Operands parts = linalg_svd(b.input(0), false);
  const Tensor scaled = to(unsqueeze(b.grad(), -1), parts[2].dtype()) * parts[2];
  b.set(0, conjugated(matmul(parts[0], scaled)));
}
double svdvals_flops(const Call& call) { return svd_flops(call) * 3 / 14; }
const Op kSvdvals{.name = "linalg.svdvals",
                  .doc = "The singular values of A in descending order.",
                  .inputs = {{"A"}},
                  .params = {{.name = "driver",
                              .kind = ParamKind::choice,
                              .choices = {"gesvd", "gesvdj", "gesvda"},
                              .optional = true}},
                  .shape = svdvals_shape,
                  .cpu = svdvals_cpu,
                  .vjp = svdvals_vjp,
                  .reads = {{.inputs = 1}},
                  .half_through_f32 = true,
                  .complex = true,
                  .judges_values = true,
                  .family = OpFamily::linear_algebra,
                  .autocast = AutocastPolicy::f32,
                  .flops = {svdvals_flops, "3 m n min(m, n) for each matrix"},
                  .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                               {.inputs = {{{2, 4, 2}}}, .types = OpExample::Types::floating},
                               {.inputs = {{{3}}}, .error = "linalg.svdvals: A must have at least 2 dims"}}};

// --- pinv ---

constexpr int kPinvRcondAt = 0, kHermitianAt = 1, kAtolAt = 2, kRtolAt = 3;
const ParamSpec kAtol{.name = "atol", .kind = ParamKind::real, .optional = true};
const ParamSpec kRtol{.name = "rtol", .kind = ParamKind::real, .optional = true};

void pinv_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (call.flag(kHermitianAt)) require_square(call);
  lapack::check_size(call.op->name, m, n, 4);
  call.emit(with_dims(batch_shape(a.shape()), {n, m}), a.dtype());
}

// The bound under which a singular value counts as 0: PyTorch's max(atol, rtol s_1), where rtol is
// max(m, n) eps unless a positive atol is given.
template <class R>
R bound_of(const Value& atol, const Value& rtol, int64_t longest, R largest) {
  const R absolute = atol.present() ? R(atol.f) : R(0);
  const R relative = rtol.present()    ? R(rtol.f)
                     : absolute > R(0) ? R(0)
                                       : std::numeric_limits<R>::epsilon() * R(longest);
  return std::max(absolute, relative * largest);
}

void pinv_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Value &atol = call.params[kAtolAt],
              &rtol = call.params[kRtolAt].present() ? call.params[kRtolAt] : call.params[kPinvRcondAt];
  require_finite(call.op->name, a);
  Tensor source = a;
  if (call.flag(kHermitianAt)) {  // only the lower triangle is read
    const NoGrad off;
    const Tensor below = tril(a, -1);
    source = tril(a) + adjoint(below);
  }
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    using R = Part<T>;
    const Tensor ordered = in_order(source);
    for_items(a.numel() / (m * n), 16 * double(m * n) * double(k), [&](int64_t item) {
      // LAPACK sees A^T = left S right, column-major, so read row by row A = right S left.
      const Workspace<T> memory(m * n + n * k + k * m);
      T *const matrix = memory.data(), *const left = matrix + m * n, *const right = left + n * k;
      std::vector<R> s(static_cast<size_t>(k));
      std::copy_n(ordered.data<T>() + item * m * n, m * n, matrix);
      if (lapack::svd(n, m, matrix, s.data(), left, right, false) > 0)
        fail_singular_values(call.op->name, a.shape(), item);
      const R bound = bound_of(atol, rtol, std::max(m, n), s[0]);
      const auto conjugate = [](T x) {
        if constexpr (is_complex_v<T>)
          return std::conj(x);
        else
          return x;
      };
      // A^+ = left^H S^-1 right^H; left is [k, n] and right [m, k] row by row.
      for (int64_t i = 0; i < k; ++i) {
        const R factor = s[size_t(i)] > bound ? 1 / s[size_t(i)] : R(0);
        for (int64_t j = 0; j < n; ++j) left[i * n + j] = conjugate(left[i * n + j]) * factor;
      }
      for (int64_t i = 0; i < m * k; ++i) right[i] = conjugate(right[i]);
      blas::gemm<T>(n, m, k, {left, n, true}, {right, k, true}, T(0), call.output().data<T>() + item * n * m,
                    m);
    });
  });
}

void pinv_vjp(Backward& b) {
  b.set(0, conjugated(pinv_gradient(conjugated(b.grad()), b.output(), b.input(0))));
}
const Op kPinv{
    .name = "linalg.pinv",
    .doc =
        "The pseudoinverse of A; singular values up to the larger of atol and rtol (or rcond) times the "
        "largest count as 0. hermitian reads only the lower triangle.",
    .inputs = {{"A"}},
    .params = {{.name = "rcond", .kind = ParamKind::real, .optional = true}, kHermitian, kAtol, kRtol},
    .shape = pinv_shape,
    .cpu = pinv_cpu,
    .vjp = pinv_vjp,
    .reads = {{.inputs = 1, .outputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {svd_flops, "14 m n min(m, n) for each matrix"},
    .examples = {{.inputs = {{{4, 2}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 2, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{3}}}, .error = "linalg.pinv: A must have at least 2 dims"}}};

Operands pinverse_compose(const Call& call) { return apply(kPinv, call.in, {call.params[0], false, {}, {}}); }
const Op kPinverse{.name = "pinverse",
                   .doc = "The pseudoinverse of input: linalg.pinv.",
                   .inputs = {{"input"}},
                   .params = {{"rcond", ParamKind::real, 1e-15}},
                   .compose = pinverse_compose,
                   .family = OpFamily::linear_algebra,
                   .examples = {{.inputs = {{{4, 2}}}, .types = OpExample::Types::floating}}};

// --- matrix_rank ---

Operands rank_compose(const Call& call) {
  require_matrix(call);
  const NoGrad off;
  const Tensor& a = call.input(0);
  const bool hermitian = call.flag(1);
  const Tensor s = hermitian ? abs(linalg_eigvalsh(a)) : linalg_svdvals(a);
  const Shape batch = batch_shape(a.shape());
  if (s.size(-1) == 0) return {zeros(batch, DType::i64, a.device())};
  const Value &tol = call.params[0], &atol = tol.present() ? tol : call.params[2], &rtol = call.params[3];
  const double absolute = atol.present() ? atol.f : 0;
  const double eps = part_type(a.dtype()) == DType::f64 ? std::numeric_limits<double>::epsilon()
                                                        : double(std::numeric_limits<float>::epsilon());
  const double relative = rtol.present()                  ? rtol.f
                          : tol.present() || absolute > 0 ? 0
                                                          : eps * double(std::max(a.size(-1), a.size(-2)));
  const Tensor bound = maximum(amax(s, {-1}, true) * relative, Tensor::number(absolute));
  return {sum(to(gt(s, bound), DType::i64), {-1})};
}
const Op kMatrixRank{
    .name = "linalg.matrix_rank",
    .doc = "How many singular values of A exceed the larger of atol and rtol times the largest one; or tol.",
    .inputs = {{"A"}},
    .params = {{.name = "tol", .kind = ParamKind::real, .optional = true}, kHermitian, kAtol, kRtol},
    .compose = rank_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 4}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{3}}}, .error = "linalg.matrix_rank: A must have at least 2 dims"}}};

}  // namespace

// Golub, Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
// variables separate", 1973, in the order of products that is cheaper for the shape of A. The rank must not
// change near A.
Tensor pinv_gradient(const Tensor& g, const Tensor& pinv, const Tensor& a) {
  const Tensor gh = adjoint(g), ph = adjoint(pinv);
  if (a.size(-2) <= a.size(-1)) {
    const Tensor k = matmul(gh, pinv), kph = matmul(k, ph);
    return kph - adjoint(matmul(pinv, k)) - matmul(matmul(a, pinv), kph) +
           matmul(matmul(ph, pinv), gh - matmul(k, a));
  }
  const Tensor k = matmul(pinv, gh), phk = matmul(ph, k);
  return matmul(matmul(gh - matmul(a, k), pinv), ph) + phk - adjoint(matmul(k, pinv)) -
         matmul(matmul(phk, pinv), a);
}

Operands linalg_svd(const Tensor& a, bool full_matrices) { return apply(kSvd, {a}, {full_matrices, {}}); }
Tensor linalg_svdvals(const Tensor& a) { return apply1(kSvdvals, {a}, {Value()}); }
Tensor linalg_pinv(const Tensor& a) { return apply1(kPinv, {a}, {Value(), false, Value(), Value()}); }

std::span<const Op* const> linalg_svd_ops() {
  static constexpr const Op* ops[] = {&kSvd, &kPlainSvd, &kSvdvals, &kPinv, &kPinverse, &kMatrixRank};
  return ops;
}

}  // namespace lunagrad
