// Inverses and systems of linear equations.
#include <cmath>

#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

double cube_flops(const Call& call) { return 2 * elements(call.in[0]) * double(call.input(0).size(-1)); }

[[noreturn]] void fail_singular(const char* op, const Shape& shape, int64_t item, int pivot) {
  fail_as(ErrorKind::numeric, op, ": ", in_batch(shape, item), " is singular: the pivot of column ", pivot,
          " is 0");
}

// Fails for the first matrix whose factorization stopped.
void require_regular(const char* op, const Shape& shape, const std::vector<int>& info) {
  for (size_t item = 0; item < info.size(); ++item)
    if (info[item] > 0) fail_singular(op, shape, int64_t(item), info[item]);
}

// --- inv ---

void inv_shape(Call& call) {
  require_square(call);
  lapack::check_size(call.op->name, call.input(0).size(-1), call.input(0).size(-1));
  call.emit(call.input(0).shape(), call.input(0).dtype());
}

// LAPACK sees the transposed matrix, whose inverse is the transposed inverse: no copy has to be transposed.
void inv_cpu(const Call& call) {
  const Tensor a = in_order(call.input(0));
  const int64_t n = a.size(-1), items = a.numel() / (n * n);
  std::vector<int> info(size_t(items), 0);
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    T* const out = call.output().data<T>();
    std::copy_n(a.data<T>(), a.numel(), out);
    for_items(items, 2 * double(n * n) * double(n), [&](int64_t item) {
      std::vector<int> pivots(static_cast<size_t>(n));
      T* const matrix = out + item * n * n;
      info[size_t(item)] = lapack::factor_lu(n, n, matrix, pivots.data());
      if (info[size_t(item)] == 0) info[size_t(item)] = lapack::invert(n, matrix, pivots.data());
    });
  });
  require_regular(call.op->name, a.shape(), info);
}

// dA = -A^-T dY A^-T: Giles, "An extended collection of matrix derivative results", 2008, section 2.2.3.
void inv_vjp(Backward& b) {
  const Tensor y = transposed(b.output());
  b.set(0, -matmul(y, matmul(b.grad(), y)));
}

const Op kInv{.name = "linalg.inv",
              .doc = "The inverse of square matrices.",
              .inputs = {{"A"}},
              .shape = inv_shape,
              .cpu = inv_cpu,
              .vjp = inv_vjp,
              .reads = {{.outputs = 1}},
              .half_through_f32 = true,
              .complex = true,
              .judges_values = true,
              .family = OpFamily::linear_algebra,
              .autocast = AutocastPolicy::f32,
              .flops = {cube_flops, "2 n^3 for each matrix"},
              .examples = {{.inputs = {{{1, 1}, 0.5, 2}}, .types = OpExample::Types::floating},
                           {.inputs = {{{3, 1, 1}, 0.5, 2}}, .types = OpExample::Types::floating},
                           {.inputs = {{{0, 0}}}, .types = OpExample::Types::floating},
                           {.inputs = {{{2, 3}}}, .error = "linalg.inv: A must be a square matrix"},
                           {.inputs = {{{2, 2}, 0, 0}}, .error = "linalg.inv: the matrix is singular"}}};

Operands inverse_compose(const Call& call) { return apply(kInv, call.in); }
const Op kInverse{.name = "inverse",
                  .doc = "The inverse of square matrices: linalg.inv.",
                  .inputs = {{"input"}},
                  .compose = inverse_compose,
                  .family = OpFamily::linear_algebra,
                  .examples = {{.inputs = {{{2, 1, 1}, 0.5, 2}}, .types = OpExample::Types::floating}}};

// --- systems: A [..., n, n], B [..., n, k]; batches broadcast ---

// For each item of `batch`: the number of the matrix in a contiguous batch of shape `own`.
std::vector<int64_t> items_of(const Shape& own, const Shape& batch) {
  const Strides strides = broadcast_strides(own, contiguous_strides(own), batch);
  std::vector<int64_t> items(size_t(numel(batch)), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    int64_t rest = int64_t(i);
    for (int d = batch.size() - 1; d >= 0; --d) {
      items[i] += rest % batch[d] * strides[d];
      rest /= batch[d];
    }
  }
  return items;
}

void system_shape(Call& call, bool left) {
  require_square(call, 0);
  require_matrix(call, 1);
  require_same_dtype(call);
  const Tensor &a = call.input(0), &b = call.input(1);
  const char* const name = call.op->name + (call.op->hidden() ? 1 : 0);
  lapack::check_size(name, a.size(-1), a.size(-1));
  lapack::check_size(name, b.size(-2), b.size(-1));
  if (b.size(left ? -2 : -1) != a.size(-1))
    fail(name, ": A of shape ", a.shape(), " does not fit B of shape ", b.shape(), ": B must have ",
         a.size(-1), left ? " rows" : " columns");
  const Shape batch = broadcast_shapes(name, batch_shape(a.shape()), batch_shape(b.shape()));
  call.emit(with_dims(batch, {b.size(-2), b.size(-1)}), b.dtype());
}

// Copies B, expanded to the shape of the result, into the result.
void fill_with(const Tensor& out, const Tensor& b) {
  copy_strided(out.raw(), out.dtype(), out.strides(), b.raw(), b.dtype(),
               broadcast_strides(b.shape(), b.strides(), out.shape()), out.shape());
}

double system_flops(const Call& call) {
  const double n = double(call.input(0).size(-1));
  return elements(call.in[0]) * n * 2 / 3 + 2 * n * elements(call.out[0]);
}

void solve_shape(Call& call) { system_shape(call, true); }

// With LAPACK's view of row-major matrices, A X = B is X^T A^T = B^T. A^T = P L U gives
// X^T = B^T U^-1 L^-1 P^T.
void solve_cpu(const Call& call) {
  const Tensor a = in_order(call.input(0));
  const Tensor& x = call.output();
  const int64_t n = a.size(-1), columns = x.size(-1), matrices = a.numel() / (n * n);
  const Shape own = batch_shape(a.shape()), batch = batch_shape(x.shape());
  const std::vector<int64_t> source = items_of(own, batch);
  std::vector<int> info(size_t(matrices), 0), pivots(size_t(matrices * n));
  fill_with(x, call.input(1));
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    Tensor factors = Tensor::empty(a.shape(), a.dtype());
    T* const lu = factors.data<T>();
    std::copy_n(a.data<T>(), a.numel(), lu);
    for_items(matrices, double(n * n) * double(n), [&](int64_t item) {
      info[size_t(item)] = lapack::factor_lu(n, n, lu + item * n * n, pivots.data() + item * n);
    });
    require_regular(call.op->name + 1, a.shape(), info);
    T* const result = x.data<T>();
    for_items(int64_t(source.size()), 2 * double(n * n) * double(columns), [&](int64_t item) {
      const T* const factor = lu + source[size_t(item)] * n * n;
      const int* const exchanged = pivots.data() + source[size_t(item)] * n;
      T* const rows = result + item * n * columns;
      lapack::solve_triangular(true, true, 'N', false, columns, n, factor, n, rows, columns);
      lapack::solve_triangular(true, false, 'N', true, columns, n, factor, n, rows, columns);
      for (int64_t i = n - 1; i >= 0; --i)
        if (exchanged[i] - 1 != i)
          std::swap_ranges(rows + i * columns, rows + (i + 1) * columns, rows + (exchanged[i] - 1) * columns);
    });
  });
}

// dB = A^-T dX, dA = -dB X^T: Giles 2008, section 2.3.1.
void solve_vjp(Backward& b) {
  const Tensor db = apply1(*b.node().op, {transposed(b.input(0)), b.grad()});
  if (b.needs(1)) b.set(1, db);
  if (b.needs(0)) b.set(0, -matmul(db, transposed(b.output())));
}
const Op kSolveMatrices{.name = "_linalg.solve",
                        .doc = "The solution X of A X = B for matrices B.",
                        .inputs = {{"A"}, {"B"}},
                        .shape = solve_shape,
                        .cpu = solve_cpu,
                        .vjp = solve_vjp,
                        .reads = {{.inputs = 1, .outputs = 1}, {.inputs = 1}},
                        .half_through_f32 = true,
                        .complex = true,
                        .judges_values = true,
                        .family = OpFamily::linear_algebra,
                        .autocast = AutocastPolicy::f32,
                        .flops = {system_flops, "2/3 n^3 for each matrix and 2 n^2 for each column of B"}};

Operands solve_compose(const Call& call) {
  require_square(call, 0);
  const Tensor& a = call.input(0);
  const bool left = call.flag(0);
  const auto [b, vectors] = right_side_of(call, left);
  const Tensor x = left ? apply1(kSolveMatrices, {a, b})
                        : transposed(apply1(kSolveMatrices, {transposed(a), transposed(b)}));
  return {vectors ? squeeze(x, -1) : x};
}
const Op kSolve{
    .name = "linalg.solve",
    .doc = "The solution X of A X = B, or of X A = B if left is false; B may hold vectors.",
    .inputs = {{"A"}, {"B"}},
    .params = {{"left", ParamKind::boolean, true}},
    .compose = solve_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{1, 1}, 0.5, 2}, {{1, 3}}}, .types = OpExample::Types::floating},
        {.inputs = {{{1, 1}, 0.5, 2}, {{1}}}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 1, 1}, 0.5, 2}, {{2, 1, 1, 2}}}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 1, 1}, 0.5, 2}, {{2, 1}}}, .types = OpExample::Types::floating},
        {.inputs = {{{1, 1}, 0.5, 2}, {{3, 1}}}, .params = {false}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 2}}, {{3, 1}}}, .error = "B must have 2 rows"},
        {.inputs = {{{2, 2}}, {{2, 3}}}, .params = {false}, .error = "B must have 2 columns"},
        {.inputs = {{{2, 2}}, {{2}}}, .params = {false}, .error = "left = false needs a matrix B"},
        {.inputs = {{{2, 3}}, {{2, 1}}}, .error = "linalg.solve: A must be a square matrix"}}};

// --- solve_triangular ---

constexpr int kUpperAt = 0, kLeftAt = 1, kUnitAt = 2;

void triangular_shape(Call& call) { system_shape(call, call.flag(kLeftAt)); }

// LAPACK sees the transposed matrices: A X = B is X^T A^T = B^T, a product from the right.
void triangular_cpu(const Call& call) {
  const Tensor a = in_order(call.input(0));
  const Tensor& x = call.output();
  const bool upper = call.flag(kUpperAt), left = call.flag(kLeftAt), unit = call.flag(kUnitAt);
  const int64_t n = a.size(-1), rows = x.size(-2), columns = x.size(-1);
  const std::vector<int64_t> source = items_of(batch_shape(a.shape()), batch_shape(x.shape()));
  fill_with(x, call.input(1));
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const T* const factors = a.data<T>();
    T* const result = x.data<T>();
    for_items(int64_t(source.size()), double(n) * double(rows * columns), [&](int64_t item) {
      lapack::solve_triangular(left, !upper, 'N', unit, columns, rows, factors + source[size_t(item)] * n * n,
                               n, result + item * rows * columns, columns);
    });
  });
}

// dB = A^-T dX and dA = -dB X^T in the triangle that is read; from the right dB = dX A^-T, dA = -X^T dB:
// Giles 2008, section 2.3.1.
void triangular_vjp(Backward& b) {
  const bool upper = b.flag(kUpperAt), left = b.flag(kLeftAt), unit = b.flag(kUnitAt);
  const Tensor db = linalg_solve_triangular(transposed(b.input(0)), b.grad(), !upper, left, unit);
  if (b.needs(1)) b.set(1, db);
  if (!b.needs(0)) return;
  const Tensor x = transposed(b.output());
  const Tensor da = -(left ? matmul(db, x) : matmul(x, db));
  b.set(0, upper ? triu(da, unit ? 1 : 0) : tril(da, unit ? -1 : 0));
}
double triangular_flops(const Call& call) { return elements(call.out[0]) * double(call.input(0).size(-1)); }
const Op kSolveTriangular{
    .name = "linalg.solve_triangular",
    .doc =
        "The solution X of A X = B, or of X A = B if left is false, where A is a triangle; only the "
        "triangle that upper names is read, without its diagonal if unitriangular.",
    .inputs = {{"A"}, {"B"}},
    .params = {{"upper", ParamKind::boolean, {}},
               {"left", ParamKind::boolean, true},
               {"unitriangular", ParamKind::boolean, false}},
    .shape = triangular_shape,
    .cpu = triangular_cpu,
    .vjp = triangular_vjp,
    .reads = {{.inputs = 1, .outputs = 1}, {.inputs = 1}},
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {triangular_flops, "n^2 for each column of B"},
    .examples = {
        {.inputs = {{{3, 3}, 0.5, 1.5}, {{3, 2}}}, .params = {true}, .types = OpExample::Types::floating},
        {.inputs = {{{3, 3}, 0.5, 1.5}, {{2, 3, 2}}}, .params = {false}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 3}, 0.5, 1.5}, {{4, 3}}},
         .params = {true, false},
         .types = OpExample::Types::floating},
        {.inputs = {{{3, 3}, 0.5, 1.5}, {{3, 2}}},
         .params = {false, true, true},
         .types = OpExample::Types::floating},
        {.inputs = {{{3, 3}}, {{2, 3}}}, .params = {true}, .error = "B must have 3 rows"}}};

// torch.triangular_solve: its results are the solution and a copy of the triangle.
Operands old_triangular_compose(const Call& call) {
  require_square(call, 1);
  const Tensor &b = call.input(0), &a = call.input(1);
  const bool upper = call.flag(0), transpose_it = call.flag(1), unit = call.flag(2);
  return {linalg_solve_triangular(transpose_it ? transposed(a) : a, b, upper != transpose_it, true, unit),
          clone(a)};
}
const Op kTriangularSolve{
    .name = "triangular_solve",
    .doc =
        "The solution X of A X = b, where A is a triangle, and a copy of A: linalg.solve_triangular under "
        "its old name.",
    .inputs = {{"b"}, {"A"}},
    .params = {{"upper", ParamKind::boolean, true},
               {"transpose", ParamKind::boolean, false},
               {"unitriangular", ParamKind::boolean, false}},
    .compose = old_triangular_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 2}}, {{3, 3}, 0.5, 1.5}}, .types = OpExample::Types::floating},
                 {.inputs = {{{3, 2}}, {{3, 3}, 0.5, 1.5}},
                  .params = {false, true, true},
                  .types = OpExample::Types::floating}}};

// --- tensors as matrices ---

int64_t product_of(const Shape& shape, int first, int last) {
  int64_t product = 1;
  for (int d = first; d < last; ++d) product *= shape[d];
  return product;
}

Operands tensorinv_compose(const Call& call) {
  const Tensor& a = call.input(0);
  const int64_t ind = call.integer(0);
  if (ind < 1) fail("linalg.tensorinv: ind must be at least 1 (got ", ind, ")");
  const int split = int(std::min<int64_t>(ind, a.ndim()));
  const int64_t rows = product_of(a.shape(), 0, split), columns = product_of(a.shape(), split, a.ndim());
  if (rows != columns)
    fail("linalg.tensorinv: the first ", ind, " dims of shape ", a.shape(), " hold ", rows,
         " elements and the others ", columns, "; they must be equal");
  Shape shape;
  for (int d = split; d < a.ndim(); ++d) shape.push_back(a.shape()[d]);
  for (int d = 0; d < split; ++d) shape.push_back(a.shape()[d]);
  return {reshape(linalg_inv(reshape(a, {rows, columns})), shape)};
}
const Op kTensorinv{
    .name = "linalg.tensorinv",
    .doc = "The inverse of A as a linear map from its last dims to its first ind dims.",
    .inputs = {{"A"}},
    .params = {{"ind", ParamKind::integer, 2}},
    .compose = tensorinv_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{1, 1, 1}, 0.5, 2}}, .params = {1}, .types = OpExample::Types::floating},
        {.inputs = {{{2, 3, 5}}}, .error = "the first 2 dims of shape [2, 3, 5] hold 6 elements and the"}}};

Operands tensorsolve_compose(const Call& call) {
  Tensor a = call.input(0);
  const Tensor& b = call.input(1);
  if (call.params[0].present()) {
    // The named dims move to the end, in their order.
    const Dims& dims = call.list(0);
    Dims ends;
    for (int i = 0; i < dims.size(); ++i) ends.push_back(a.ndim() - dims.size() + i);
    a = movedim(a, dims, ends);
  }
  if (b.ndim() > a.ndim())
    fail("linalg.tensorsolve: B of shape ", b.shape(), " does not fit A of shape ", a.shape());
  Shape rest;
  for (int d = b.ndim(); d < a.ndim(); ++d) rest.push_back(a.shape()[d]);
  const int64_t unknowns = numel(rest);
  if (unknowns != b.numel() || a.numel() != unknowns * unknowns)
    fail("linalg.tensorsolve: A of shape ", a.shape(), " as a matrix of ", b.numel(), " rows for B of shape ",
         b.shape(), " is not square");
  const Tensor x = apply1(kSolve, {reshape(a, {unknowns, unknowns}), reshape(b, {unknowns})}, {true});
  return {reshape(x, rest)};
}
const Op kTensorsolve{
    .name = "linalg.tensorsolve",
    .doc = "The solution X of tensordot(A, X, X:dim()) = B; dims of A move to its end first.",
    .inputs = {{"A"}, {"B"}},
    .params = {{.name = "dims", .kind = ParamKind::dims, .optional = true}},
    .compose = tensorsolve_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{1, 1, 1}, 0.5, 2}, {{1}}}, .types = OpExample::Types::floating},
                 {.inputs = {{{2, 3, 5}}, {{2}}}, .error = "is not square"}}};

// --- lu_factor, inv and solve that return the place of a singular matrix instead of throwing an Error ---
// The solution for a singular matrix is NaN.

const ParamSpec kCheckErrors{"check_errors", ParamKind::boolean, false};

Operands factor(const Tensor& a) { return apply(*find_op("linalg.lu_factor"), {a}, {true}); }

// For each matrix the number of the first 0 on the diagonal of U, or 0 if there is none; i32.
Tensor info_of(const Tensor& packed) {
  const Tensor diagonal = diagonal_of(packed.detach());
  const Shape batch = batch_shape(packed.shape());
  if (diagonal.size(-1) == 0) return zeros(batch, DType::i32, packed.device());
  const Tensor zero = to(eq(diagonal, Tensor::number(0.0)), DType::i32);
  const Tensor place = argmax(zero, -1) + Tensor::number(int64_t(1));
  return to(where(any(zero, {-1}), place, Tensor::number(int64_t(0))), DType::i32);
}

void check_info(const Call& call, const Tensor& info, bool wanted) {
  if (!wanted || info.numel() == 0) return;
  const Tensor on_host = contiguous(to(info, cpu_device()));
  for (int64_t item = 0; item < on_host.numel(); ++item)
    if (const int32_t place = on_host.data<int32_t>()[item]; place > 0)
      fail_as(ErrorKind::numeric, call.op->name, ": ", in_batch(call.input(0).shape(), item),
              " is singular: pivot ", place, " is 0");
}

Operands lu_factor_ex_compose(const Call& call) {
  if (!call.flag(0))
    fail(call.op->name, ": pivot = false is not supported: factors without exchanges of rows are not stable");
  Operands made = factor(call.input(0));
  const Tensor info = info_of(made[0]);
  check_info(call, info, call.flag(1));
  return {made[0], made[1], info};
}
const Op kLuFactorEx{
    .name = "linalg.lu_factor_ex",
    .doc =
        "The results of linalg.lu_factor, and for each matrix 0 or the number of the first pivot that is 0 "
        "(an error with check_errors).",
    .inputs = {{"A"}},
    .params = {{"pivot", ParamKind::boolean, true}, kCheckErrors},
    .compose = lu_factor_ex_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{3, 3}}}, .types = kFloating},
                 {.inputs = {{{2, 2, 3}}}, .types = kFloating},
                 {.inputs = {{{2, 2}, 0, 0}}, .params = {true, true}, .error = "singular: pivot 1 is 0"}}};

// X of A X = B, or X A = B, from the factors of A.
Operands solve_checked(const Call& call, const Tensor& b, bool left, bool check_errors) {
  const Operands factors = factor(call.input(0));
  const Tensor& packed = factors[0];
  const Tensor info = info_of(packed);
  check_info(call, info, check_errors);
  const Tensor singular = unsqueeze(unsqueeze(ne(info, Tensor::number(int64_t(0))), -1), -1);
  const Tensor regular = where(singular, identity_like(packed), packed);
  const Tensor x = apply1(*find_op("linalg.lu_solve"), {regular, factors[1], b}, {left, false});
  return {where(singular, Tensor::number(NAN), x), info};
}

Operands inv_ex_compose(const Call& call) {
  require_square(call);
  return solve_checked(call, identity_like(call.input(0)), true, call.flag(0));
}
const Op kInvEx{
    .name = "linalg.inv_ex",
    .doc =
        "The inverses of square matrices, and for each 0 or the number of the pivot that is 0 (an error with "
        "check_errors): its inverse is NaN.",
    .inputs = {{"A"}},
    .params = {kCheckErrors},
    .compose = inv_ex_compose,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{1, 1}, 0.5, 2}}, .types = kFloating},
                 {.inputs = {{{3, 1, 1}, 0.5, 2}}, .types = kFloating},
                 {.inputs = {{{2, 3}}}, .error = "linalg.inv_ex: A must be a square matrix"},
                 {.inputs = {{{2, 2}, 0, 0}}, .params = {true}, .error = "the matrix is singular: pivot 1"}}};

Operands solve_ex_compose(const Call& call) {
  require_square(call);
  const bool left = call.flag(0);
  const auto [b, vectors] = right_side_of(call, left);
  Operands made = solve_checked(call, b, left, call.flag(1));
  if (vectors) made[0] = squeeze(made[0], -1);
  return made;
}
const Op kSolveEx{
    .name = "linalg.solve_ex",
    .doc =
        "The solution of linalg.solve, and for each matrix A 0 or the number of the pivot that is 0 (an "
        "error with check_errors): its solution is NaN.",
    .inputs = {{"A"}, {"B"}},
    .params = {{"left", ParamKind::boolean, true}, kCheckErrors},
    .compose = solve_ex_compose,
    .family = OpFamily::linear_algebra,
    .examples = {
        {.inputs = {{{1, 1}, 0.5, 2}, {{1, 3}}}, .types = kFloating},
        {.inputs = {{{3, 1, 1}, 0.5, 2}, {{3, 1, 2}}}, .types = kFloating},
        {.inputs = {{{1, 1}, 0.5, 2}, {{3, 1}}}, .params = {false}, .types = kFloating},
        {.inputs = {{{2, 2}}, {{3, 1}}}, .error = "B must have 2 rows"},
        {.inputs = {{{2, 2}, 0, 0}, {{2, 1}}}, .params = {true, true}, .error = "singular: pivot 1 is 0"}}};

}  // namespace

Tensor linalg_inv(const Tensor& a) { return apply1(kInv, {a}); }
Tensor linalg_solve(const Tensor& a, const Tensor& b) { return apply1(kSolveMatrices, {a, b}); }
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left, bool unitriangular) {
  return apply1(kSolveTriangular, {a, b}, {upper, left, unitriangular});
}

std::span<const Op* const> linalg_solve_ops() {
  static constexpr const Op* ops[] = {&kInv,       &kInverse,     &kSolveMatrices,   &kSolve,
                                      &kTensorinv, &kTensorsolve, &kSolveTriangular, &kTriangularSolve};
  return ops;
}

std::span<const Op* const> linalg_checked_ops() {
  static constexpr const Op* ops[] = {&kLuFactorEx, &kInvEx, &kSolveEx};
  return ops;
}

}  // namespace lunagrad
