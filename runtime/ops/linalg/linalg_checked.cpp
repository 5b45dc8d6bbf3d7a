// Forms of lu_factor, inv and solve that return the place of a singular matrix instead of throwing an Error.
// The solution for a singular matrix is NaN.
#include <cmath>

#include "runtime/ops/linalg/linalg.h"

namespace lunagrad {
namespace {

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

std::span<const Op* const> linalg_checked_ops() {
  static constexpr const Op* ops[] = {&kLuFactorEx, &kInvEx, &kSolveEx};
  return ops;
}

}  // namespace lunagrad
