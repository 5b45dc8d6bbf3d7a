// LU factors, and determinants, which are products of their pivots.
#include "runtime/batching/batched.h"
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

double lu_flops(const Call& call) {
  const Tensor& a = call.input(0);
  return 2.0 / 3 * elements(a) * double(std::min(a.size(-1), a.size(-2)));
}

// --- lu_factor ---

void lu_factor_shape(Call& call) {
  require_matrix(call);
  const Tensor& a = call.input(0);
  lapack::check_size(call.op->name, a.size(-2), a.size(-1));
  if (!call.flag(0))
    fail(call.op->name, ": pivot = false is not supported: factors without exchanges of rows are not stable");
  call.emit(a.shape(), a.dtype());
  call.emit(with_dims(batch_shape(a.shape()), {std::min(a.size(-2), a.size(-1))}), DType::i32);
}

void lu_factor_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
  if (k == 0) return;
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const Tensor columns = columns_of(a);
    T* const matrices = columns.data<T>();
    int32_t* const pivots = call.output(1).data<int32_t>();
    for_items(a.numel() / (m * n), double(m * n) * double(k),
              [&](int64_t item) { lapack::factor_lu(m, n, matrices + item * m * n, pivots + item * k); });
    copy_from_columns(call.output(), columns);
  });
}

// The parts of packed factors: L [m, k] with ones on the diagonal, U [k, n].
Tensor unit_lower(const Tensor& packed) {
  const int64_t m = packed.size(-2), k = std::min(m, packed.size(-1));
  return tril(narrow(packed, -1, 0, k), -1) + eye(m, k, packed.dtype(), packed.device());
}
Tensor upper_part(const Tensor& packed) {
  return triu(narrow(packed, -2, 0, std::min(packed.size(-2), packed.size(-1))));
}

// --- the permutation of the pivots: i64 [..., m], row i of L U is row p[i] of A ---

void permutation_shape(Call& call) {
  const Tensor& pivots = call.input(0);
  if ((pivots.dtype() != DType::i32 && pivots.dtype() != DType::i64) || pivots.ndim() < 1)
    fail("lu_unpack: pivots must be i32 and have at least 1 dim, as lu_factor returns them (got ",
         pivots.dtype(), " of shape ", pivots.shape(), ")");
  Shape shape = pivots.shape();
  shape[shape.size() - 1] = call.integer(0);
  call.emit(shape, DType::i64);
}
void permutation_cpu(const Call& call) {
  const Tensor pivots = in_order(to(call.input(0), DType::i64));
  const int64_t m = call.integer(0), k = pivots.size(-1), items = m > 0 ? call.output().numel() / m : 0;
  for (int64_t item = 0; item < items; ++item) {
    int64_t* const order = call.output().data<int64_t>() + item * m;
    for (int64_t i = 0; i < m; ++i) order[i] = i;
    const int64_t* const exchanged = pivots.data<int64_t>() + item * k;
    for (int64_t i = 0; i < k; ++i) {
      const int64_t other = exchanged[i] - 1;
      if (i >= m || other < i || other >= m)
        fail("lu_unpack: pivot ", i + 1, " is ", exchanged[i], ", which does not lie in ", i + 1, " to ", m);
      std::swap(order[i], order[other]);
    }
  }
}
const Op kPermutation{.name = "_lu_permutation",
                      .doc = "The order of rows that LU pivots make.",
                      .inputs = {{"pivots"}},
                      .params = {{"rows", ParamKind::integer, {}}},
                      .shape = permutation_shape,
                      .cpu = permutation_cpu,
                      .integer_inputs = 1,
                      .judges_values = true,
                      .family = OpFamily::linear_algebra,
                      .flops = kMovesData};

// P with A = P L U: column i has its 1 in row p[i].
Tensor permutation_matrix(const Tensor& pivots, int64_t rows, DType dtype) {
  const Tensor order = apply1(kPermutation, {pivots}, {rows});
  return to(transposed(eq(unsqueeze(order, -1), arange(0, double(rows), 1, DType::i64, order.device()))),
            dtype);
}

// With P^T A = L U and the conjugate gradients dL, dU of the packed factors: of a square A
//   dA = P L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H,
// de Hoog, Anderssen, Lukas, "Differentiation of matrix functionals using triangular factorization", 2011.
// The columns A2 = P L U2 beyond the square part give dA2 = P L^-H dU2 and add -dU2 U2^H to L^H dL; the rows
// A2 = L2 U below it give dA2 = dL2 U^-H and add -L2^H dL2 to dU U^H.
void lu_factor_vjp(Backward& b) {
  const Tensor packed = b.output(0), g = conjugated(b.grad(0));
  const int64_t m = packed.size(-2), n = packed.size(-1), k = std::min(m, n);
  const Tensor square = narrow(narrow(packed, -2, 0, k), -1, 0, k);
  const Tensor dsquare = narrow(narrow(g, -2, 0, k), -1, 0, k);
  const Tensor l = unit_lower(square), u = triu(square);
  Tensor lower = matmul(adjoint(l), tril(dsquare, -1)), upper = matmul(triu(dsquare), adjoint(u));
  Tensor rest;
  if (n > k) {
    const Tensor du = narrow(g, -1, k, n - k);
    lower = lower - matmul(du, adjoint(narrow(packed, -1, k, n - k)));
    rest = linalg_solve_triangular(adjoint(l), du, true, true, true);
  } else if (m > k) {
    const Tensor dl = narrow(g, -2, k, m - k);
    upper = upper - matmul(adjoint(narrow(packed, -2, k, m - k)), dl);
    rest = linalg_solve_triangular(adjoint(u), dl, false, false);
  }
  Tensor da = linalg_solve_triangular(adjoint(l), tril(lower, -1) + triu(upper), true, true, true);
  da = linalg_solve_triangular(adjoint(u), da, false, false);
  if (rest.defined()) da = cat({da, rest}, n > k ? -1 : -2);
  b.set(0, conjugated(matmul(permutation_matrix(b.output(1), m, packed.dtype()), da)));
}

const ParamSpec kPivot{"pivot", ParamKind::boolean, true};
const Op kLuFactor{
    .name = "linalg.lu_factor",
    .doc =
        "A = P L U as one matrix with L below the diagonal (ones on it are left out) and U, and the pivots: "
        "row i was exchanged with row pivots[i], counted from 1 as in LAPACK.",
    .inputs = {{"A"}},
    .params = {kPivot},
    .shape = lu_factor_shape,
    .cpu = lu_factor_cpu,
    .vjp = lu_factor_vjp,
    .reads = {{.outputs = 3}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {lu_flops, "2/3 m n min(m, n) for each matrix"},
    .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 4}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{4, 2}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{3}}}, .error = "linalg.lu_factor: A must have at least 2 dims"}}};

// --- lu, lu_unpack, lu_solve ---

Operands unpack(const Tensor& packed, const Tensor& pivots) {
  return {permutation_matrix(pivots, packed.size(-2), packed.dtype()), unit_lower(packed),
          upper_part(packed)};
}

Operands lu_compose(const Call& call) {
  const Operands factors = apply(kLuFactor, call.in, call.params);
  return unpack(factors[0], factors[1]);
}
const Op kLu{.name = "linalg.lu",
             .doc =
                 "The permutation P, the lower triangle L with ones on its diagonal, and the upper triangle "
                 "U with A = P L U.",
             .inputs = {{"A"}},
             .params = {kPivot},
             .compose = lu_compose,
             .family = OpFamily::linear_algebra,
             .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                          {.inputs = {{{2, 2, 3}}}, .types = OpExample::Types::floating}}};

Operands lu_unpack_compose(const Call& call) {
  require_matrix(call);
  const Tensor& packed = call.input(0);
  Operands parts = unpack(packed, call.input(1));
  if (parts[0].ndim() != packed.ndim())
    fail("lu_unpack: LU_pivots of shape ", call.input(1).shape(), " does not fit LU_data of shape ",
         packed.shape());
  return parts;
}
const Op kLuUnpack{
    .name = "lu_unpack",
    .doc = "P, L and U from the results of lu_factor.",
    .inputs = {{"LU_data"}, {"LU_pivots"}},
    .compose = lu_unpack_compose,
    .integer_inputs = 2,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{2, 2}}, kSecondRow}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 2}}, {{2}}}, .error = "lu_unpack: pivots must be i32"},
        {.inputs = {{{2, 2}}, {.shape = {2}, .low = 3, .high = 4, .kind = ExampleOperand::Kind::index}},
         .error = "lu_unpack: pivot 1 is 3, which does not lie in 1 to 2"}}};

Operands lu_solve_compose(const Call& call) {
  require_square(call, 0);
  require_matrix(call, 2);
  const bool left = call.flag(0), adjoint_it = call.flag(1);
  const Operands parts = unpack(call.input(0), call.input(1));
  const Tensor &p = parts[0], &l = parts[1], &u = parts[2];
  // X A = B is A^H X^H = B^H.
  const Tensor b = left ? call.input(2) : adjoint(call.input(2));
  Tensor x;
  if (adjoint_it != left)  // P L U X = B
    x = linalg_solve_triangular(u, linalg_solve_triangular(l, matmul(transposed(p), b), false, true, true),
                                true);
  else  // U^H L^H P^T X = B
    x = matmul(p, linalg_solve_triangular(adjoint(l), linalg_solve_triangular(adjoint(u), b, false), true,
                                          true, true));
  return {left ? x : adjoint(x)};
}
const Op kLuSolve{
    .name = "linalg.lu_solve",
    .doc =
        "The solution X of A X = B (X A = B if left is false; with the adjoint of A if adjoint is true) "
        "from the results of lu_factor.",
    .inputs = {{"LU"}, {"pivots"}, {"B"}},
    .params = {{"left", ParamKind::boolean, true}, {"adjoint", ParamKind::boolean, false}},
    .compose = lu_solve_compose,
    .integer_inputs = 2,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 2}, 0.5, 1.5}, kSecondRow, {{2, 1}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 2}, 0.5, 1.5}, kSecondRow, {{3, 2}}},
                  .params = {false, true},
                  .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3}}, kSecondRow, {{2, 1}}},
                  .error = "linalg.lu_solve: LU must be a square matrix"}}};

// torch.lu_solve has the right side first.
Operands plain_lu_solve_compose(const Call& call) {
  return apply(kLuSolve, {call.input(1), call.input(2), call.input(0)}, {true, false});
}
const Op kPlainLuSolve{
    .name = "lu_solve",
    .doc = "The solution X of A X = b from the results of lu_factor.",
    .inputs = {{"b"}, {"LU_data"}, {"LU_pivots"}},
    .compose = plain_lu_solve_compose,
    .integer_inputs = 4,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 1}}, {{2, 2}, 0.5, 1.5}, kSecondRow}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 1}}, {{2, 3}}, kSecondRow},
                  .error = "linalg.lu_solve: LU must be a square matrix"}}};

// --- determinants ---

// Calls use(item, the sign of the row exchanges, -1 or 1, the factored matrix) for each matrix.
template <class T, class F>
void factor_each(const Tensor& a, F&& use) {
  const int64_t n = a.size(-1);
  const Tensor ordered = in_order(a);
  for_items(numel(batch_shape(a.shape())), double(n * n) * double(n), [&](int64_t item) {
    const Workspace<T> matrix(std::max<int64_t>(1, n * n));
    std::vector<int> pivots(static_cast<size_t>(n));
    int sign = 1;
    if (n > 0) {
      std::copy_n(ordered.data<T>() + item * n * n, n * n, matrix.data());
      lapack::factor_lu(n, n, matrix.data(), pivots.data());
    }
    for (int64_t i = 0; i < n; ++i) sign = pivots[size_t(i)] == i + 1 ? sign : -sign;
    use(item, sign, matrix.data());
  });
}

void det_shape(Call& call) {
  require_square(call);
  lapack::check_size(call.op->name, call.input(0).size(-1), call.input(0).size(-1));
  call.emit(batch_shape(call.input(0).shape()), call.input(0).dtype());
}
void det_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    T* const out = call.output().data<T>();
    factor_each<T>(a, [&](int64_t item, int sign, const T* lu) {
      T product = T(Part<T>(sign));
      for (int64_t i = 0; i < n; ++i) product *= lu[i * n + i];
      out[item] = product;
    });
  });
}

// --- the cofactors, det(A) A^-T where A is regular ---

// With A = U S V^H: cof(A) = det(U) det(V^H) conj(U) diag(products of the other singular values) V^T.
template <class T>
void cofactors_by_svd(int64_t n, const T* a, T* out) {
  using R = Part<T>;
  const Workspace<T> memory(4 * n * n);
  T *const matrix = memory.data(), *const u = matrix + n * n, *const vt = u + n * n, *const copy = vt + n * n;
  std::vector<R> s(static_cast<size_t>(n));
  std::vector<int> pivots(static_cast<size_t>(n));
  std::copy_n(a, n * n, matrix);  // LAPACK sees A^T = u S vt
  if (lapack::svd(n, n, matrix, s.data(), u, vt, true) > 0)
    fail_as(ErrorKind::numeric, "linalg.det: the singular values that its gradient needs do not converge");
  T det = 1;
  for (const T* const factor : {u, vt}) {
    std::copy_n(factor, n * n, copy);
    lapack::factor_lu(n, n, copy, pivots.data());
    for (int64_t i = 0; i < n; ++i) det *= pivots[size_t(i)] == i + 1 ? copy[i * n + i] : -copy[i * n + i];
  }
  // cof(A)^T = cof(A^T) = det conj(u) diag(others) conj(vt), column-major, so its memory is cof(A) row by
  // row.
  const auto conjugate = [](T x) {
    if constexpr (is_complex_v<T>)
      return std::conj(x);
    else
      return x;
  };
  std::fill_n(out, n * n, T(0));
  for (int64_t k = 0; k < n; ++k) {
    T others = det;
    for (int64_t i = 0; i < n; ++i)
      if (i != k) others *= s[size_t(i)];
    for (int64_t j = 0; j < n; ++j) {
      const T factor = others * conjugate(vt[j * n + k]);
      for (int64_t i = 0; i < n; ++i) out[j * n + i] += factor * conjugate(u[k * n + i]);
    }
  }
}

void cofactor_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }
// Computed from the LU factors, or if a pivot is tiny from the SVD.
void cofactor_cpu(const Call& call) {
  const Tensor a = in_order(call.input(0));
  const int64_t n = a.size(-1);
  require_finite("linalg.det", a);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    using R = Part<T>;
    T* const results = call.output().data<T>();
    const R tiny = std::sqrt(std::numeric_limits<R>::epsilon());
    for_items(a.numel() / (n * n), 3 * double(n * n) * double(n), [&](int64_t item) {
      const T* const source = a.data<T>() + item * n * n;
      T* const out = results + item * n * n;
      std::vector<int> pivots(static_cast<size_t>(n));
      // The factors of A^T, as LAPACK sees it; column-major, its inverse is A^-1 row by row.
      const Workspace<T> matrix(n * n);
      std::copy_n(source, n * n, matrix.data());
      const bool zero = lapack::factor_lu(n, n, matrix.data(), pivots.data()) > 0;
      T det = 1;
      R least = std::numeric_limits<R>::infinity(), most = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T pivot = matrix.data()[i * n + i];
        det *= pivots[size_t(i)] == i + 1 ? pivot : -pivot;
        least = std::min(least, std::abs(pivot));
        most = std::max(most, std::abs(pivot));
      }
      if (zero || !(least > tiny * most)) return cofactors_by_svd(n, source, out);
      lapack::invert(n, matrix.data(), pivots.data());
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < n; ++j) out[i * n + j] = det * matrix.data()[j * n + i];
    });
  });
}
Tensor times_scalars(const Tensor& scalars, const Tensor& matrices) {
  return unsqueeze(unsqueeze(scalars, -1), -1) * matrices;
}
// The cofactors of invertible matrices.
Tensor cofactors_by_inverse(const Tensor& a) {
  return times_scalars(linalg_det(a), transposed(linalg_inv(a)));
}

// The cofactors and the determinant by the Faddeev-LeVerrier recurrence, which only divides by whole numbers.
// For few rows: with many it is not stable.
std::pair<Tensor, Tensor> cofactors_without_division(const Tensor& a) {
  const int64_t n = a.size(-1);
  const Tensor unit = expand(eye(n, n, a.dtype(), a.device()), a.shape());
  const auto trace_of = [](const Tensor& x) { return sum(diagonal_of(x), {-1}); };
  Tensor adjugate = unit;
  for (int64_t k = 1; k < n; ++k) {
    const Tensor product = matmul(a, adjugate);
    adjugate = times_scalars(trace_of(product) / double(k), unit) - product;
  }
  return {transposed(adjugate), trace_of(matmul(a, adjugate)) / double(n)};
}

// The number of singular values that are large beside the largest one, in every matrix of the batch.
int64_t common_rank(const Tensor& values) {
  const int64_t n = values.size(-1);
  const double small = values.dtype() == DType::f64 ? 1e-5 : 1e-2;
  const std::vector<double> list = values.to_vector<double>();
  int64_t rank = n;
  for (size_t first = 0; first < list.size(); first += size_t(n)) {
    int64_t large = 0;
    while (large < rank && list[first + size_t(large)] > small * list[first]) ++large;
    rank = large;
  }
  return rank;
}

// The cofactors as a composition whose derivatives of any order are right for singular matrices, too. The
// singular vectors U and V of A's value are constants. M = U^H A V has the derivatives of A; its value is the
// diagonal matrix of the singular values, large ones first. With its blocks B = M11, which is invertible, and
// C = M22 - M21 B^-1 M12, which is small,
//   det M = det B det C,  cof(M)22 = det(B) cof(C),  cof(M)21 = -cof(M)22 (B^-1 M12)^T,
//   cof(M)12 = -(M21 B^-1)^T cof(M)22,  cof(M)11 = det(C) cof(B) - (M21 B^-1)^T cof(M)21,
// and cof(A) = det(U) det(V^H) conj(U) cof(M) V^T.
Operands cofactor_compose(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1);
  if (context().capturing || a.numel() == 0) return {cofactors_by_inverse(a)};
  Tensor u, vh, turns;
  int64_t rank = 0;
  {
    const NoGrad off;
    const Operands parts = linalg_svd(a, true);
    u = parts[0], vh = parts[2];
    rank = common_rank(parts[1]);
    turns = linalg_det(u) * linalg_det(vh);
  }
  if (rank == n) return {cofactors_by_inverse(a)};
  const Tensor m = matmul(matmul(adjoint(u), a), adjoint(vh));
  const auto block = [&](int64_t row, int64_t column) {
    const auto part = [&](const Tensor& x, int dim, int64_t at) {
      return narrow(x, dim, at, at == 0 ? rank : n - rank);
    };
    return part(part(m, -2, row), -1, column);
  };
  Tensor cofactors;
  if (rank == 0) {
    cofactors = cofactors_without_division(m).first;
  } else {
    const Tensor b = block(0, 0), inverse = linalg_inv(b);
    const Tensor right = matmul(inverse, block(0, rank)), below = matmul(block(rank, 0), inverse);
    const auto [of_rest, det_of_rest] =
        cofactors_without_division(block(rank, rank) - matmul(block(rank, 0), right));
    const Tensor det = linalg_det(b), corner = times_scalars(det, of_rest);
    const Tensor below_left = -matmul(corner, transposed(right));
    const Tensor above_right = -matmul(transposed(below), corner);
    const Tensor above_left =
        times_scalars(det_of_rest * det, transposed(inverse)) - matmul(transposed(below), below_left);
    cofactors = cat({cat({above_left, above_right}, -1), cat({below_left, corner}, -1)}, -2);
  }
  const Tensor back = matmul(matmul(conjugated(u), cofactors), conjugated(vh));
  return {times_scalars(turns, back)};
}
const Op kCofactor{.name = "_cofactor",
                   .doc = "The derivative of the determinant by the elements, also of singular matrices.",
                   .inputs = {{"A"}},
                   .shape = cofactor_shape,
                   .cpu = cofactor_cpu,
                   .vjp = differentiate_composition,
                   .reads = {{.inputs = 1}},
                   .compose = cofactor_compose,
                   .composed = [](const Call&) { return false; },  // the kernel is faster
                   .complex = true,
                   .family = OpFamily::linear_algebra,
                   .autocast = AutocastPolicy::own,
                   .flops = {lu_flops, "2/3 n^3 for each matrix"}};

// dA = dy cof(A): Jacobi's formula, Giles 2008, section 2.2.4.
void det_vjp(Backward& b) {
  b.set(0, unsqueeze(unsqueeze(b.grad(), -1), -1) * apply1(kCofactor, {b.input(0)}));
}
const Op kDet{.name = "linalg.det",
              .doc = "The determinant of square matrices; its derivatives are also right for singular ones.",
              .inputs = {{"A"}},
              .shape = det_shape,
              .cpu = det_cpu,
              .vjp = det_vjp,
              .reads = {{.inputs = 1}},
              .half_through_f32 = true,
              .complex = true,
              .family = OpFamily::linear_algebra,
              .autocast = AutocastPolicy::f32,
              .flops = {lu_flops, "2/3 n^3 for each matrix"},
              .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                           {.inputs = {{{2, 2, 2}}}, .types = OpExample::Types::floating},
                           {.inputs = {{{0, 3, 3}}}, .types = OpExample::Types::floating},
                           {.inputs = {{{2, 3}}}, .error = "linalg.det: A must be a square matrix"}}};

Operands plain_det_compose(const Call& call) { return apply(kDet, call.in); }
const Op kPlainDet{.name = "det",
                   .doc = "The determinant of square matrices: linalg.det.",
                   .inputs = {{"input"}},
                   .compose = plain_det_compose,
                   .family = OpFamily::linear_algebra,
                   .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating}}};

// --- slogdet, logdet ---

void slogdet_shape(Call& call) {
  det_shape(call);
  call.emit(batch_shape(call.input(0).shape()), part_type(call.input(0).dtype()));
}
void slogdet_cpu(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t n = a.size(-1);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    using R = Part<T>;
    T* const signs = call.output(0).data<T>();
    R* const logs = call.output(1).data<R>();
    factor_each<T>(a, [&](int64_t item, int sign, const T* lu) {
      T direction = T(R(sign));
      R sum = 0;
      for (int64_t i = 0; i < n; ++i) {
        const T pivot = lu[i * n + i];
        const R size = std::abs(pivot);
        direction *= size == 0 ? T(0) : pivot / size;
        sum += std::log(size);
      }
      signs[item] = direction;
      logs[item] = sum;
    });
  });
}

// A^-T. For a singular matrix, whose determinant has the sign 0: infinities with the signs of the cofactors,
// as in PyTorch.
Tensor inverse_transposed(const Tensor& a, const Tensor& sign) {
  const bool readable = !is_batched(a) && !context().capturing && a.numel() > 0;
  if (!readable || any(eq(sign.detach(), Tensor::number(0.0))).item() == 0) return transposed(linalg_inv(a));
  return apply1(kCofactor, {a}) / unsqueeze(unsqueeze(linalg_det(a), -1), -1);
}

// d log|det| = Re tr(A^-1 dA) and d sign = i sign Im tr(A^-1 dA). With the conjugate gradient h of the sign
// and c = Im(h sign) the gradient is (dlog + i c) A^-T.
void slogdet_vjp(Backward& b) {
  const DType type = b.output(0).dtype();
  Tensor factor = to(b.grad(1), type);
  if (is_complex(type) && b.has_grad(0)) {
    const Tensor c = imag(b.grad(0) * b.output(0));
    factor = factor + complex(zeros_like(c.detach()), c);
  }
  b.set(0, times_scalars(factor, inverse_transposed(b.input(0), b.output(0))));
}
const Op kSlogdet{.name = "linalg.slogdet",
                  .doc = "The sign of the determinant (of complex numbers det / |det|) and log|det|.",
                  .inputs = {{"A"}},
                  .shape = slogdet_shape,
                  .cpu = slogdet_cpu,
                  .vjp = slogdet_vjp,
                  .reads = {{.inputs = 1, .outputs = 1}},
                  .half_through_f32 = true,
                  .complex = true,
                  .family = OpFamily::linear_algebra,
                  .autocast = AutocastPolicy::f32,
                  .flops = {lu_flops, "2/3 n^3 for each matrix"},
                  .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating},
                               {.inputs = {{{2, 2, 2}}}, .types = OpExample::Types::floating},
                               {.inputs = {{{2, 3}}}, .error = "linalg.slogdet: A must be a square matrix"}}};

Operands plain_slogdet_compose(const Call& call) { return apply(kSlogdet, call.in); }
const Op kPlainSlogdet{.name = "slogdet",
                       .doc = "The sign of the determinant and log|det|: linalg.slogdet.",
                       .inputs = {{"input"}},
                       .compose = plain_slogdet_compose,
                       .family = OpFamily::linear_algebra,
                       .examples = {{.inputs = {{{3, 3}}}, .types = OpExample::Types::floating}}};

// NaN for a negative determinant.
Operands logdet_compose(const Call& call) {
  const Operands parts = apply(kSlogdet, call.in);
  return {parts[1] + log(parts[0])};
}
const Op kLogdet{.name = "logdet",
                 .doc = "log(det(input)) of square matrices; NaN where the determinant is negative.",
                 .inputs = {{"input"}},
                 .compose = logdet_compose,
                 .family = OpFamily::linear_algebra,
                 .examples = {{.inputs = {{{2, 1, 1}, 0.5, 2}}, .types = OpExample::Types::floating}}};

}  // namespace

Tensor linalg_det(const Tensor& a) { return apply1(kDet, {a}); }
Operands linalg_slogdet(const Tensor& a) { return apply(kSlogdet, {a}); }

std::span<const Op* const> linalg_lu_ops() {
  static constexpr const Op* ops[] = {&kLuFactor, &kPermutation,  &kLu,           &kLuUnpack,
                                      &kLuSolve,  &kPlainLuSolve, &kDet,          &kCofactor,
                                      &kPlainDet, &kSlogdet,      &kPlainSlogdet, &kLogdet};
  return ops;
}

}  // namespace lunagrad
