// L D L^T factors of symmetric matrices and L D L^H factors of Hermitian ones, and systems solved with them.
#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

double ldl_flops(const Call& call) { return elements(call.in[0]) * double(call.input(0).size(-1)) / 3; }

void ldl_shape(Call& call) {
  require_square(call);
  const Tensor& a = call.input(0);
  lapack::check_size(call.op->name, a.size(-1), a.size(-1));
  call.emit(a.shape(), a.dtype());
  call.emit(with_dims(batch_shape(a.shape()), {a.size(-1)}), DType::i32);
  call.emit(batch_shape(a.shape()), DType::i32);
}

void ldl_cpu(const Call& call) {
  const Tensor &a = call.input(0), &out = call.output(0);
  const int64_t n = a.size(-1), items = call.output(2).numel();
  int32_t* const info = call.output(2).data<int32_t>();
  std::fill_n(info, items, 0);
  if (a.numel() == 0) return;
  visit_linalg_dtype(a.dtype(), [&]<class T>() {
    const Tensor columns = columns_of(a);
    T* const matrices = columns.data<T>();
    int32_t* const pivots = call.output(1).data<int32_t>();
    for_items(items, double(n * n) * double(n), [&](int64_t item) {
      T* const matrix = matrices + item * n * n;
      info[item] = lapack::factor_ldl(n, matrix, pivots + item * n, call.flag(0));
      for (int64_t column = 1; column < n; ++column) std::fill_n(matrix + column * n, column, T(0));
    });
    copy_from_columns(out, columns);
  });
  if (!call.flag(1)) return;
  for (int64_t item = 0; item < items; ++item)
    if (info[item] > 0)
      fail_as(ErrorKind::numeric, call.op->name, ": ", in_batch(a.shape(), item), " is singular: element ",
              info[item], " of D is 0");
}

const Op kLdlFactorEx{
    .name = "linalg.ldl_factor_ex",
    .doc =
        "A = P L D L^T P^T of symmetric matrices (L^H if hermitian), from their lower triangles: L and the "
        "blocks of D in one matrix, LAPACK's pivots, and 0 or the place where D is 0 (an error with "
        "check_errors).",
    .inputs = {{"A"}},
    .params = {kHermitian, {"check_errors", ParamKind::boolean, false}},
    .shape = ldl_shape,
    .cpu = ldl_cpu,
    .half_through_f32 = true,
    .complex = true,
    .judges_values = true,
    .family = OpFamily::linear_algebra,
    .autocast = AutocastPolicy::f32,
    .flops = {ldl_flops, "n^3 / 3 for each matrix"},
    .examples = {
        {.inputs = {{{3, 3}}}, .types = kFloating},
        {.inputs = {{{2, 4, 4}}}, .types = kFloating},
        {.inputs = {{{2, 3}}}, .error = "linalg.ldl_factor_ex: A must be a square matrix"},
        {.inputs = {{{2, 2}, 0, 0}}, .params = {false, true}, .error = "the matrix is singular: element 1"}}};

Operands ldl_factor_compose(const Call& call) {
  Operands made = apply(kLdlFactorEx, call.in, {call.flag(0), true});
  return {made[0], made[1]};
}
const Op kLdlFactor{.name = "linalg.ldl_factor",
                    .doc = "The first two results of linalg.ldl_factor_ex; an error where D has a 0.",
                    .inputs = {{"A"}},
                    .params = {kHermitian},
                    .compose = ldl_factor_compose,
                    .family = OpFamily::linear_algebra,
                    .examples = {{.inputs = {{{3, 3}}}, .types = kFloating},
                                 {.inputs = {{{2, 2}, 0, 0}}, .error = "the matrix is singular"}}};

// --- ldl_solve ---

void ldl_solve_shape(Call& call) {
  require_square(call, 0);
  require_matrix(call, 2);
  const Tensor &factors = call.input(0), &pivots = call.input(1), &b = call.input(2);
  const char* const name = call.op->name + 1;
  lapack::check_size(name, factors.size(-1), factors.size(-1));
  lapack::check_size(name, b.size(-2), b.size(-1));
  call.emit(b.shape(), b.dtype());
  const Shape expected = with_dims(batch_shape(factors.shape()), {factors.size(-1)});
  if (!(pivots.shape() == expected))
    fail(name, ": pivots of shape ", pivots.shape(), " do not fit LD of shape ", factors.shape());
}

// LAPACK does not check the pivots: they must be in bounds, and the two rows of a block must have the same
// negative pivot.
void check_pivots(const int32_t* pivots, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = std::abs(int64_t(pivots[i]));
    const bool block = pivots[i] < 0;
    if (row < 1 || row > n || (block && (i + 1 >= n || pivots[i + 1] != pivots[i])))
      fail("linalg.ldl_solve: pivot ", i + 1, " is ", pivots[i], ", which ldl_factor does not give for ", n,
           " rows");
    if (block) ++i;
  }
}

void ldl_solve_cpu(const Call& call) {
  const Tensor &factors = call.input(0), &b = call.input(2);
  const Tensor pivots = in_order(call.input(1));
  const int64_t n = factors.size(-1), width = b.size(-1);
  if (factors.numel() == 0 || b.numel() == 0) return;
  const int64_t items = factors.numel() / (n * n);
  const int32_t* const exchanged = pivots.data<int32_t>();
  for (int64_t item = 0; item < items; ++item) check_pivots(exchanged + item * n, n);
  visit_linalg_dtype(b.dtype(), [&]<class T>() {
    const Tensor matrices = columns_of(factors), columns = columns_of(b);
    for_items(items, double(n * n) * double(width), [&](int64_t item) {
      lapack::solve_ldl(n, width, matrices.data<T>() + item * n * n, exchanged + item * n,
                        columns.data<T>() + item * n * width, call.flag(0));
    });
    copy_from_columns(call.output(), columns);
  });
}
double ldl_solve_flops(const Call& call) { return 2 * elements(call.in[2]) * double(call.input(0).size(-1)); }
// For factors and B with the same batch shape.
const Op kLdlSolveMatrices{.name = "_linalg.ldl_solve",
                           .doc = "The solution X of A X = B from the results of ldl_factor.",
                           .inputs = {{"LD"}, {"pivots"}, {"B"}},
                           .params = {kHermitian},
                           .shape = ldl_solve_shape,
                           .cpu = ldl_solve_cpu,
                           .half_through_f32 = true,
                           .integer_inputs = 2,
                           .complex = true,
                           .judges_values = true,
                           .family = OpFamily::linear_algebra,
                           .autocast = AutocastPolicy::f32,
                           .flops = {ldl_solve_flops, "2 n^2 for each column of B"}};

Operands ldl_solve_compose(const Call& call) {
  require_square(call, 0);
  require_matrix(call, 2);
  const Tensor &factors = call.input(0), &pivots = call.input(1), &b = call.input(2);
  const int64_t n = factors.size(-1);
  const char* const name = call.op->name;
  if (b.size(-2) != n)
    fail(name, ": LD of shape ", factors.shape(), " does not fit B of shape ", b.shape(), ": B must have ", n,
         " rows");
  if (b.dtype() != factors.dtype())
    fail(name, ": LD is ", factors.dtype(), " and B ", b.dtype(), "; they must have the same type");
  if (pivots.ndim() != factors.ndim() - 1)
    fail(name, ": pivots of shape ", pivots.shape(), " do not fit LD of shape ", factors.shape());
  if (pivots.dtype() != DType::i32 && pivots.dtype() != DType::i64)
    fail(name, ": pivots must be i32, as ldl_factor returns them (got ", pivots.dtype(), ")");
  const Shape batch = broadcast_shapes(name, batch_shape(factors.shape()), batch_shape(b.shape()));
  return {apply1(
      kLdlSolveMatrices,
      {expand(factors, with_dims(batch, {n, n})), expand(to(pivots, DType::i32), with_dims(batch, {n})),
       expand(b, with_dims(batch, {n, b.size(-1)}))},
      call.params)};
}
const Op kLdlSolve{
    .name = "linalg.ldl_solve",
    .doc = "The solution X of A X = B from the results of ldl_factor; hermitian must be the same.",
    .inputs = {{"LD"}, {"pivots"}, {"B"}},
    .params = {kHermitian},
    .compose = ldl_solve_compose,
    .integer_inputs = 2,
    .family = OpFamily::linear_algebra,
    .examples = {{.inputs = {{{2, 2}, 0.5, 1.5}, kSecondRow, {{2, 1}}}, .types = kFloating},
                 {.inputs = {{{2, 2}, 0.5, 1.5}, kSecondRow, {{3, 2, 2}}}, .types = kFloating},
                 {.inputs = {{{2, 2}}, {{2}}, {{2, 1}}}, .error = "pivots must be i32"},
                 {.inputs = {{{2, 2}}, kSecondRow, {{3, 1}}}, .error = "B must have 2 rows"}}};

}  // namespace

std::span<const Op* const> linalg_ldl_ops() {
  static constexpr const Op* ops[] = {&kLdlFactorEx, &kLdlFactor, &kLdlSolveMatrices, &kLdlSolve};
  return ops;
}

}  // namespace lunagrad
