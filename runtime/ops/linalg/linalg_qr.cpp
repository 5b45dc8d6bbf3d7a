// QR factors and least squares.
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

enum Mode : int64_t { kReduced, kComplete, kOnlyR };

void qr_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const Shape batch = batch_shape(a.shape());
  const bool complete = call.integer(0) == kComplete;
  lapack::check_size(call.op->name, m, std::max(n, complete ? m : 0));
  call.emit(call.integer(0) == kOnlyR ? Shape{0} : with_dims(batch, {m, complete ? m : k}), a.dtype());
  call.emit(with_dims(batch, {complete ? m : k, n}), a.dtype());
}

void qr_cpu(const Call& call) {
  const Tensor &a = call.input(0), &q = call.output(0), &r = call.output(1);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  const int64_t items = numel(batch_shape(a.shape())), columns = q.ndim() > 1 ? q.size(-1) : 0;
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    if (k == 0) {  // R is 0, and Q is the identity
      std::fill_n(r.data<T>(), r.numel(), T(0));
      std::fill_n(q.data<T>(), q.numel(), T(0));
      for (int64_t item = 0; item < (columns > 0 ? items : 0); ++item)
        for (int64_t i = 0; i < std::min(m, columns); ++i) q.data<T>()[(item * m + i) * columns + i] = T(1);
      return;
    }
    const Tensor factored = columns_of(a);
    T* const matrices = factored.data<T>();
    const Workspace<T> tau(items * k);
    for_items(items, 2 * double(m * n) * double(k),
              [&](int64_t item) { lapack::factor_qr(m, n, matrices + item * m * n, tau.data() + item * k); });
    Shape rows = factored.shape();  // R: the upper triangle of the first rows of each column
    Tensor triangle = Tensor::empty(with_dims(batch_shape(rows), {n, r.size(-2)}), a.dtype());
    T* const to = triangle.data<T>();
    const int64_t height = r.size(-2);
    for_items(items * n, double(height), [&](int64_t column) {
      const int64_t kept = std::min(height, column % n + 1);
      std::copy_n(matrices + column * m, kept, to + column * height);
      std::fill_n(to + column * height + kept, height - kept, T(0));
    });
    copy_from_columns(r, triangle);
    if (columns == 0) return;
    Tensor vectors = Tensor::empty(with_dims(batch_shape(rows), {columns, m}), a.dtype());
    T* const made = vectors.data<T>();
    for_items(items, 2 * double(m * columns) * double(k), [&](int64_t item) {
      std::copy_n(matrices + item * m * n, m * std::min(n, columns), made + item * m * columns);
      lapack::make_q(m, columns, k, made + item * m * columns, tau.data() + item * k);
    });
    copy_from_columns(q, vectors);
  });
}

// The Hermitian matrix with the upper triangle of x, and the real part of its diagonal.
Tensor hermitian_from_upper(const Tensor& x) {
  const Tensor strict = triu(x, 1), diagonal = diagonal_of(x);
  return strict + adjoint(strict) + diag_embed((diagonal + conj(diagonal)) * 0.5);
}

// For m >= n: dA = (dQ + Q H(R dR^H - dQ^H Q)) R^-H, where H keeps the lower triangle and completes it to a
// Hermitian matrix (here from the adjoint's upper triangle): Walter, Lehmann, "On evaluating higher-order
// derivatives of the QR decomposition", 2012; Roberts, Roberts, "QR and LQ decomposition matrix
// backpropagation algorithms", 2020, also for m < n: there A = Q [R1, R2] gives dA2 = Q dR2 and adds A2 dR2^H
// to dQ.
void qr_vjp(Backward& b) {
  const int64_t mode = b.integer(0), m = b.shape(0)[b.shape(0).size() - 2], n = b.shape(0).back();
  if (mode == kOnlyR) fail("linalg.qr: mode \"r\" has no gradient, which needs Q; use mode \"reduced\"");
  if (mode == kComplete && m > n)
    fail("linalg.qr: mode \"complete\" has no gradient for more rows than columns (shape ", b.shape(0),
         "); use mode \"reduced\"");
  const Tensor q = b.output(0), r = b.output(1), dr = conjugated(b.grad(1));
  Tensor dq = conjugated(b.grad(0)), rest;
  Tensor r_square = r, dr_square = dr;
  if (m < n) {
    const Tensor dr2 = narrow(dr, -1, m, n - m);
    rest = matmul(q, dr2);
    dq = dq + matmul(matmul(q, narrow(r, -1, m, n - m)), adjoint(dr2));
    r_square = narrow(r, -1, 0, m);
    dr_square = narrow(dr, -1, 0, m);
  }
  const Tensor inner = matmul(dr_square, adjoint(r_square)) - matmul(adjoint(q), dq);
  Tensor da = dq + matmul(q, hermitian_from_upper(inner));
  da = linalg_solve_triangular(adjoint(r_square), da, false, false);
  b.set(0, conjugated(rest.defined() ? cat({da, rest}, -1) : da));
}

double qr_flops(const Call& call) {
  const Tensor& a = call.input(0);
  return 4 * elements(a) * double(std::min(a.size(-1), a.size(-2)));
}
const ParamSpec kMode{"mode", ParamKind::choice, int64_t(0), {"reduced", "complete", "r"}};
const Op kQr{
    .name = "linalg.qr",
    .doc =
        "Q with orthonormal columns and the upper triangle R with A = Q R; mode \"complete\" completes Q "
        "to a square, mode \"r\" leaves it out.",
    .inputs = {{"A"}},
    .params = {kMode},
    .shape = qr_shape,
    .cpu = qr_cpu,
    .vjp = qr_vjp,
    .reads = {{.outputs = 3}},
    .half_through_f32 = true,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {qr_flops, "4 m n min(m, n) for each matrix"},
    .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 4, 2}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 4}}}, .params = {1}, .types = OpExample::Types::floating},
                 {.inputs = {{{3}}}, .error = "linalg.qr: A must have at least 2 dims"}}};

Operands plain_qr_compose(const Call& call) {
  return apply(kQr, call.in, {int64_t(call.flag(0) ? kReduced : kComplete)});
}
const Op kPlainQr{.name = "qr",
                  .doc = "Q and R with input = Q R: linalg.qr under its old name.",
                  .inputs = {{"input"}},
                  .params = {{"some", ParamKind::boolean, true}},
                  .compose = plain_qr_compose,
                  .family = OpFamily::linear_algebra,
                  .examples = {{.inputs = {{{3, 2}}}, .types = OpExample::Types::floating}}};

// --- householder_product: the first n columns of H_1 H_2 ... H_k, H_i = 1 - tau_i v_i v_i^H ---

Operands householder_compose(const Call& call) {
  require_matrix(call);
  const Tensor &a = call.input(0), &tau = call.input(1);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (n > m || tau.ndim() != a.ndim() - 1 || tau.size(-1) > n)
    fail(call.op->name, ": ", call.op->inputs[0].name, " of shape ", a.shape(), " and tau of shape ",
         tau.shape(),
         " do not fit: a matrix needs at least as many rows as columns, and tau at most an "
         "element for each column");
  const Tensor lower = tril(a, -1) + eye(m, n, a.dtype(), a.device());
  Tensor q = eye(m, n, a.dtype(), a.device()) + zeros_like(lower.detach());
  for (int64_t i = tau.size(-1) - 1; i >= 0; --i) {
    const Tensor v = narrow(lower, -1, i, 1);
    q = q - unsqueeze(narrow(tau, -1, i, 1), -1) * matmul(v, matmul(adjoint(v), q));
  }
  return {q};
}
const Op kHouseholder{
    .name = "linalg.householder_product",
    .doc =
        "The first columns of the product of Householder reflections; their vectors are below the diagonal "
        "of A, their factors in tau.",
    .inputs = {{"A"}, {"tau"}},
    .compose = householder_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{4, 3}}, {{3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 3}}, {{2, 2}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3}}, {{2}}}, .error = "linalg.householder_product: A of shape [2, 3]"}}};
const Op kOrgqr{.name = "orgqr",
                .doc = "linalg.householder_product under its old name.",
                .inputs = {{"input"}, {"tau"}},
                .compose = householder_compose,
                .family = OpFamily::linear_algebra,
                .examples = {{.inputs = {{{4, 3}}, {{3}}}, .types = OpExample::Types::floating}}};

// --- geqrf, ormqr ---

void geqrf_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  lapack::check_size(call.op->name, a.size(-2), a.size(-1));
  call.emit(a.shape(), a.dtype());
  call.emit(with_dims(batch_shape(a.shape()), {std::min(a.size(-2), a.size(-1))}), a.dtype());
}
void geqrf_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  if (a.numel() == 0) return;
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const Tensor columns = columns_of(a);
    T *const matrices = columns.data<T>(), *const tau = call.output(1).data<T>();
    for_items(a.numel() / (m * n), 2 * double(m * n) * double(k),
              [&](int64_t item) { lapack::factor_qr(m, n, matrices + item * m * n, tau + item * k); });
    copy_from_columns(call.output(0), columns);
  });
}
const Op kGeqrf{.name = "geqrf",
                .doc =
                    "R of the QR factors of input with the vectors of the Householder reflections below its "
                    "diagonal, and "
                    "the factors tau of these; householder_product makes Q of both.",
                .inputs = {{"input"}},
                .shape = geqrf_shape,
                .cpu = geqrf_cpu,
                .half_through_f32 = true,
                .complex = true,
                .family = OpFamily::linear_algebra,
                .autocast = AutocastPolicy::f32,
                .flops = {qr_flops, "4 m n min(m, n) for each matrix"},
                .examples = {{.inputs = {{{4, 3}}}, .types = OpExample::Types::floating},
                             {.inputs = {{{2, 2, 3}}}, .types = OpExample::Types::floating},
                             {.inputs = {{{3}}}, .error = "geqrf: input must have at least 2 dims"}}};

// The square Q of the reflections: their vectors are padded with columns of zeros.
Operands ormqr_compose(const Call& call) {
  require_matrix(call);
  require_matrix(call, 2);
  const Tensor &a = call.input(0), &tau = call.input(1), &other = call.input(2);
  const bool left = call.flag(0), transposes = call.flag(1);
  const int64_t m = a.size(-2), n = a.size(-1);
  if (other.size(left ? -2 : -1) != m)
    fail("ormqr: input of shape ", a.shape(), " does not fit other of shape ", other.shape(),
         ": other must have ", m, left ? " rows" : " columns");
  Tensor square = a;
  if (n < m) square = pad(a, {0, m - n});
  if (n > m) square = narrow(a, -1, 0, m);
  const Tensor q = apply1(kHouseholder, {square, tau});
  const Tensor turned = transposes ? adjoint(q) : q;
  return {left ? matmul(turned, other) : matmul(other, turned)};
}
const Op kOrmqr{
    .name = "ormqr",
    .doc =
        "other times the square Q of the reflections that geqrf gives, from the left or from the right; with "
        "transpose the adjoint of Q.",
    .inputs = {{"input"}, {"tau"}, {"other"}},
    .params = {{"left", ParamKind::boolean, true}, {"transpose", ParamKind::boolean, false}},
    .compose = ormqr_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{4, 3}}, {{3}}, {{4, 2}}}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 2}}, {{2}}, {{2, 3}}}, .params = {false, true}, .types = OpExample::Types::floating},
        {.inputs = {{{4, 3}}, {{3}}, {{3, 2}}}, .error = "other must have 4 rows"}}};

// --- lstsq ---

enum Driver : int64_t { kGelsy, kGels, kGelsd, kGelss };
constexpr int kLstsqRcondAt = 0, kDriverAt = 1;

// Results: the solution, the ranks and the singular values.
void lstsq_shape(Call& call) {
  require_matrix(call, 0);
  require_matrix(call, 1);
  require_same_dtype(call);
  const Tensor &a = call.input(0), &b = call.input(1);
  const int64_t m = a.size(-2), n = a.size(-1);
  lapack::check_size("linalg.lstsq", std::max(m, n), std::max(n, b.size(-1)), 2);
  if (b.size(-2) != m)
    fail("linalg.lstsq: A of shape ", a.shape(), " does not fit B of shape ", b.shape(), ": B must have ", m,
         " rows");
  if (!(batch_shape(a.shape()) == batch_shape(b.shape())))
    fail("linalg.lstsq: the batches of A ", a.shape(), " and B ", b.shape(), " differ");
  const Shape batch = batch_shape(a.shape());
  call.emit(with_dims(batch, {n, b.size(-1)}), a.dtype());
  call.emit(batch, DType::i64);
  const bool values = call.integer(kDriverAt) >= kGelsd;
  call.emit(values ? with_dims(batch, {std::min(m, n)}) : Shape{0}, part_type(a.dtype()));
}
void lstsq_cpu(const Call& call) {
  const Tensor &a = call.input(0), &b = call.input(1), &x = call.output(0), &values = call.output(2);
  const int64_t m = a.size(-2), n = a.size(-1), columns = b.size(-1), k = std::min(m, n);
  const int64_t height = std::max(m, n), items = numel(batch_shape(a.shape()));
  std::fill_n(call.output(1).data<int64_t>(), items, int64_t(0));
  require_finite("linalg.lstsq", a);
  require_finite("linalg.lstsq", b);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    using R = Part<T>;
    if (k == 0 || columns == 0) return std::fill_n(x.data<T>(), x.numel(), T(0)), void();
    const R rcond = call.params[kLstsqRcondAt].present() ? R(call.real(kLstsqRcondAt))
                                                         : std::numeric_limits<R>::epsilon() * R(height);
    const Tensor matrices = columns_of(a), right = columns_of(b);
    const Tensor solved = Tensor::empty(with_dims(batch_shape(a.shape()), {columns, height}), a.dtype());
    for_items(items, 4 * double(m * n) * double(k), [&](int64_t item) {
      T* const solution = solved.data<T>() + item * columns * height;
      for (int64_t j = 0; j < columns; ++j) {
        std::copy_n(right.data<T>() + (item * columns + j) * m, m, solution + j * height);
        std::fill_n(solution + j * height + m, height - m, T(0));
      }
      R* const s = values.numel() > 0 ? values.data<R>() + item * k : nullptr;
      if (lapack::least_squares(m, n, columns, matrices.data<T>() + item * m * n, solution, rcond, s,
                                call.output(1).data<int64_t>()[item]) > 0)
        fail_as(ErrorKind::numeric, "linalg.lstsq: the singular values of ", in_batch(a.shape(), item),
                " do not converge");
    });
    copy_from_columns(x, narrow(solved, -1, 0, n));
  });
}

// X = A^+ B, with the gradient of the pseudoinverse, as in PyTorch.
void lstsq_vjp(Backward& b) {
  const Tensor a = b.input(0), inverse = linalg_pinv(a), g = b.grad(0);
  if (b.needs(1)) b.set(1, matmul(transposed(inverse), g));
  if (b.needs(0))
    b.set(0, conjugated(pinv_gradient(conjugated(matmul(g, transposed(b.input(1)))), inverse, a)));
}
double lstsq_flops(const Call& call) {
  const Tensor& a = call.input(0);
  return 4 * elements(a) * double(std::min(a.size(-1), a.size(-2)));
}
const ParamSpec kRcond{.name = "rcond", .kind = ParamKind::real, .optional = true};
const ParamSpec kDriver{"driver", ParamKind::choice, int64_t(kGelsy), {"gelsy", "gels", "gelsd", "gelss"}};
const Op kLstsqParts{.name = "_linalg.lstsq",
                     .doc = "Solutions of least squares, ranks and singular values.",
                     .inputs = {{"A"}, {"B"}},
                     .params = {kRcond, kDriver},
                     .shape = lstsq_shape,
                     .cpu = lstsq_cpu,
                     .vjp = lstsq_vjp,
                     .reads = {{.inputs = 3}, {.inputs = 1}},
                     .half_through_f32 = true,
                     .complex = true,
                     .judges_values = true,
                     .family = OpFamily::linear_algebra,
                     .autocast = AutocastPolicy::f32,
                     .flops = {lstsq_flops, "4 m n min(m, n) for each matrix"}};

// The residuals follow PyTorch: they are computed only if there are more rows than unknowns and every matrix
// has full rank.
Operands lstsq_compose(const Call& call) {
  require_matrix(call, 0);
  const Tensor& a = call.input(0);
  const bool vectors = call.input(1).ndim() == a.ndim() - 1;
  const Tensor b = vectors ? unsqueeze(call.input(1), -1) : call.input(1);
  const Operands parts = apply(kLstsqParts, {a, b}, call.params);
  const Tensor &x = parts[0], &rank = parts[1];
  bool full = a.size(-2) > a.size(-1);
  if (full)
    for (const int64_t r : rank.to_vector<int64_t>()) full &= r == a.size(-1);
  Tensor residuals = zeros({0}, part_type(x.dtype()), x.device());
  if (full) residuals = sum(norm_sq(matmul(a, x) - b), {-2});
  return {vectors ? squeeze(x, -1) : x, residuals, rank, parts[2]};
}
const Op kLstsq{
    .name = "linalg.lstsq",
    .doc =
        "The solution X of smallest norm that minimizes |A X - B|, the squared residuals (if A has full "
        "rank and more rows than columns), the rank of A, and with driver \"gelsd\" or \"gelss\" its "
        "singular values; smaller ones than rcond times the largest count as 0.",
    .inputs = {{"A"}, {"B"}},
    .params = {kRcond, kDriver},
    .compose = lstsq_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{4, 2}}, {{4, 3}}}, .second_order = false, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3}}, {{3, 1}}}, .error = "linalg.lstsq: A of shape [2, 3] does not fit B"}}};

}  // namespace

Operands linalg_qr(const Tensor& a) { return apply(kQr, {a}, {int64_t(kReduced)}); }

std::span<const Op* const> linalg_qr_ops() {
  static constexpr const Op* ops[] = {&kQr,    &kPlainQr, &kHouseholder, &kOrgqr,
                                      &kGeqrf, &kOrmqr,   &kLstsqParts,  &kLstsq};
  return ops;
}

}  // namespace lunagrad
