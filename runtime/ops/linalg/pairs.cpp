// The records of pairs.h. Their gradients are sums of the same kind: the derivative of |t|^q is
// q sign(t) |t|^(q-1), and the derivative of sign(t) |t|^q is q |t|^(q-1).
#include "runtime/ops/linalg/pairs.h"

#include <cassert>
#include <cmath>

#include "runtime/ops/linalg/cpu/pair_kernels.h"
#include "runtime/ops/linalg/linalg.h"
#include "runtime/ops/linalg/pair_blocks.h"

namespace lunagrad {
namespace {

constexpr int kPairWeightsAt = 2, kPairScaleAt = 3, kPairFactorsAt = 4;  // inputs
constexpr int kPairPowerAt = 0, kPairOddAt = 1, kPairCondensedAt = 2;    // parameters

template <class T>
PairFunction function_of(const T& call) {
  return {call.real(kPairPowerAt), call.flag(kPairOddAt)};
}

Shape pair_batch(const Call& call) {
  Shape batch;
  for (const Tensor& x : call.in)
    if (x.defined()) batch = broadcast_shapes(call.op->name, batch, batch_shape(x.shape()));
  return batch;
}
// Error unless the operand, if the call has it, consists of such matrices.
void check_matrices(const Call& call, int input, int64_t rows, int64_t columns) {
  if (!call.has(input)) return;
  const Tensor& x = call.input(input);
  if (x.ndim() < 2 || x.size(-2) != rows || x.size(-1) != columns)
    fail(call.op->name, ": ", input_name(*call.op, size_t(input)), " must end with the dims ",
         Shape{rows, columns}, " (got shape ", x.shape(), ")");
}
void check_rows(const Call& call) {
  require_floating(call);
  const Tensor &a = call.input(0), &b = call.input(1);
  if (a.ndim() < 2 || b.ndim() < 2 || a.size(-1) != b.size(-1))
    fail(call.op->name, ": x1 and x2 must be matrices with rows of one size (got shapes ", a.shape(), " and ",
         b.shape(), ")");
}

void column_sums_shape(Call& call) {
  check_rows(call);
  const int64_t m = call.input(0).size(-2), n = call.input(1).size(-2), k = call.input(0).size(-1);
  check_matrices(call, kPairWeightsAt, m, k);
  check_matrices(call, kPairScaleAt, m, n);
  check_matrices(call, kPairFactorsAt, n, k);
  call.emit(with_dims(pair_batch(call), {m, n}), call.input(0).dtype());
}
void row_sums_shape(Call& call) {
  check_rows(call);
  const Tensor& x = call.input(0);
  const int64_t m = x.size(-2), n = call.input(1).size(-2), k = x.size(-1);
  check_matrices(call, kPairFactorsAt, n, k);
  if (!call.flag(kPairCondensedAt)) {
    check_matrices(call, kPairWeightsAt, m, n);
    check_matrices(call, kPairScaleAt, m, n);
    return call.emit(with_dims(pair_batch(call), {m, k}), x.dtype());
  }
  for (int i = 0; i < int(call.in.size()); ++i) {
    const bool pairs = i == kPairWeightsAt || i == kPairScaleAt;
    if (call.has(i) && (call.input(i).ndim() != (pairs ? 1 : 2) || m != n ||
                        (pairs && call.input(i).size(0) != pair_count(n))))
      fail(call.op->name, ": the pairs of ", n, " rows are needed (got shape ", call.input(i).shape(), ")");
  }
  call.emit(x.shape(), x.dtype());
}

template <class T>
Matrices<T> matrices_of(const Tensor& x, const Shape& batch) {
  const int dims = x.ndim();
  if (dims < 2) return {.first = x.data<T>(), .column = x.strides()[0]};  // pairs
  Strides own;
  for (int d = 0; d < dims - 2; ++d) own.push_back(x.strides()[d]);
  return {.first = x.data<T>(),
          .row = x.strides()[dims - 2],
          .column = x.strides()[dims - 1],
          .batch = broadcast_strides(batch_shape(x.shape()), own, batch)};
}
// _pair_row_sums of 16-bit operands.
extern const Op kPairRowSums;
void row_sums_of_halves(const Call& call) {
  static constexpr PairRole kRoles[] = {PairRole::own_rows, PairRole::other_rows, PairRole::pairs,
                                        PairRole::pairs, PairRole::other_rows};
  PairBlocks{.op = kPairRowSums,
             .params = {call.real(kPairPowerAt), call.flag(kPairOddAt), false},
             .inputs = kRoles,
             .output = PairRole::own_rows,
             .condensed = call.flag(kPairCondensedAt),
             .largest_at = std::isinf(call.real(kPairPowerAt)) ? kPairScaleAt : -1}
      .run(call);
}

template <template <class> class Kernel, bool weighs_pairs>
void sum_on_cpu(const Call& call) {
  const Tensor& out = call.output();
  if (weighs_pairs && is_16bit_float(out.dtype())) return row_sums_of_halves(call);
  Operands in = call.in;
  // Rows are read in order. What belongs to pairs has any strides, since it is often transposed.
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].defined() && i != kPairScaleAt && !(weighs_pairs && i == kPairWeightsAt))
      in[i] = in_order(in[i]);
  const auto run = [&]<class T>() {
    PairCall<T> work{.shape = batch_shape(out.shape()),
                     .m = in[0].size(-2),
                     .n = in[1].size(-2),
                     .k = in[0].size(-1),
                     .out = out.data<T>(),
                     .function = function_of(call),
                     .condensed = weighs_pairs && call.flag(kPairCondensedAt)};
    Matrices<T>* const operands[] = {&work.x1, &work.x2, &work.weights, &work.scale, &work.factors};
    for (size_t i = 0; i < in.size(); ++i)
      if (in[i].defined()) *operands[i] = matrices_of<T>(in[i], work.shape);
    Kernel<T>::run(work);
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

// --- the same from differences, as a reference and for ONNX ---

Tensor zeros_as(const Tensor& x, double instead) {
  return where(eq(x, Tensor::number(0.0)), Tensor::number(instead), x);
}
// f, applied to every element. Zeros are replaced by constants, since a power may have an infinite gradient
// there.
Tensor applied_to_each(const PairFunction& f, const Tensor& t) {
  const Tensor size = abs(t), zero = eq(t, Tensor::number(0.0));
  if (f.power == 0) return f.odd ? sign(t) : ones_like(t);
  if (std::isinf(f.power)) {
    const Tensor whole = where(ge(size, Tensor::number(1.0)), ones_like(t), zeros_like(t));
    return f.odd ? whole * sign(t) : whole;
  }
  const Tensor power =
      where(zero, Tensor::number(0.0), pow(where(zero, Tensor::number(1.0), size), Tensor::number(f.power)));
  return f.odd ? power * sign(t) : power;
}
// factors f((x1 - x2) / scale): [..., m, n, k].
Tensor pair_terms(const Call& call, const Tensor& scale) {
  Tensor t = unsqueeze(call.input(0), -2) - unsqueeze(call.input(1), -3);
  if (scale.defined()) t = t / unsqueeze(zeros_as(scale, 1), -1);
  t = applied_to_each(function_of(call), t);
  if (scale.defined()) t = where(unsqueeze(eq(scale, Tensor::number(0.0)), -1), Tensor::number(0.0), t);
  return call.has(kPairFactorsAt) ? t * unsqueeze(call.input(kPairFactorsAt), -3) : t;
}
Tensor optional_input(const Call& call, int i) { return call.has(i) ? call.input(i) : Tensor(); }

Operands column_sums_compose(const Call& call) {
  return {
      sum(pair_terms(call, optional_input(call, kPairScaleAt)) * unsqueeze(call.input(kPairWeightsAt), -2),
          {-1})};
}
Operands row_sums_compose(const Call& call) {
  Tensor weights = call.input(kPairWeightsAt), scale = optional_input(call, kPairScaleAt);
  if (call.flag(kPairCondensedAt)) {
    const int64_t n = call.input(1).size(-2);
    weights = square_of_pairs(weights, n);
    if (scale.defined()) scale = square_of_pairs(scale, n);
  }
  return {sum(pair_terms(call, scale) * unsqueeze(weights, -1), {-2})};
}
// --- gradients ---

Tensor transposed_or_none(const Tensor& x) { return x.defined() ? transposed(x) : x; }
Tensor product_or(const Tensor& factors, const Tensor& x) { return factors.defined() ? factors * x : x; }

// The operands and what both gradients need. In the comments f' is the derivative of f, and a transposed call
// exchanges x1 and x2, which changes the sign of the difference.
struct PairParts {
  explicit PairParts(const Backward& b)
      : x1(b.input(0)),
        x2(b.input(1)),
        weights(b.input(kPairWeightsAt)),
        scale(b.input(kPairScaleAt)),
        factors(b.input(kPairFactorsAt)),
        f(function_of(b)),
        slope{f.power - 1, !f.odd},
        is_flat(f.power == 0 || std::isinf(f.power)) {}
  Tensor x1, x2, weights, scale, factors;
  PairFunction f, slope;
  bool is_flat;  // f' is 0

  Tensor transposed_sums(const Tensor& of_pairs, const Tensor& of_rows, const PairFunction& g) const {
    const Tensor sums = pair_row_sums(x2, x1, {transposed(of_pairs), transposed_or_none(scale), of_rows}, g);
    return g.odd ? -sums : sums;
  }
  // Sets the gradients of x1 and x2 from weights of pairs and of the rows of x1.
  void set_rows(Backward& b, const Tensor& of_pairs, const Tensor& of_rows) const {
    if (is_flat || !(b.needs(0) || b.needs(1))) return;
    const Tensor slopes = scaled(of_pairs);
    if (b.needs(0)) b.set(0, of_rows * pair_row_sums(x1, x2, {slopes, scale, factors}, slope));
    if (b.needs(1)) b.set(1, -product_or(factors, transposed_sums(slopes, of_rows, slope)));
  }
  // power x / scale.
  Tensor scaled(const Tensor& x) const {
    return (scale.defined() ? x * reciprocal_or_zero(scale) : x) * f.power;
  }
};

void column_sums_vjp(Backward& b) {
  const PairParts p(b);
  const Tensor g = b.grad();
  if (b.needs(kPairWeightsAt)) b.set(kPairWeightsAt, pair_row_sums(p.x1, p.x2, {g, p.scale, p.factors}, p.f));
  if (p.scale.defined() && b.needs(kPairScaleAt) && !p.is_flat)
    b.set(kPairScaleAt, -p.scaled(g * b.output()));
  if (p.factors.defined() && b.needs(kPairFactorsAt))
    b.set(kPairFactorsAt, p.transposed_sums(g, p.weights, p.f));
  p.set_rows(b, g, p.weights);
}
void row_sums_vjp(Backward& b) {
  assert(!b.flag(kPairCondensedAt));
  const PairParts p(b);
  const Tensor g = b.grad();
  const bool scales = p.scale.defined() && b.needs(kPairScaleAt) && !p.is_flat;
  if (b.needs(kPairWeightsAt) || scales) {
    const Tensor slope = pair_column_sums(p.x1, p.x2, {g, p.scale, p.factors}, p.f);
    if (b.needs(kPairWeightsAt)) b.set(kPairWeightsAt, slope);
    if (scales) b.set(kPairScaleAt, -p.scaled(p.weights * slope));
  }
  if (p.factors.defined() && b.needs(kPairFactorsAt))
    b.set(kPairFactorsAt, p.transposed_sums(p.weights, g, p.f));
  p.set_rows(b, p.weights, g);
}

double pair_flops(const Call& call) { return 4 * elements(call.input(0)) * double(call.input(1).size(-2)); }
const FlopRule kPairFlops{pair_flops, "4 for each pair of elements"};
const std::vector<InputSpec> kPairInputs{{"x1"}, {"x2"}, {"weights"}, {"scale", true}, {"factors", true}};

const Op kPairColumnSums{
    .name = "_pair_column_sums",
    .doc =
        "The sums over columns of weights factors f((x1 - x2) / scale) for every row of x1 and every row of "
        "x2, where f is |t|^power, or has the sign of t if odd.",
    .inputs = kPairInputs,
    .params = {{"power", ParamKind::real, 1.0}, {"odd", ParamKind::boolean, false}},
    .shape = column_sums_shape,
    .cpu = sum_on_cpu<ColumnSums, false>,
    .vjp = column_sums_vjp,
    .reads = {{.inputs = 31, .outputs = 1}},
    .compose = column_sums_compose,
    .composed = never_composed,
    .half_through_f32 = true,
    .family = OpFamily::linear_algebra,
    .flops = kPairFlops,
    .examples = {
        {.inputs = {{{3, 4}}, {{5, 4}}, {{3, 4}}}, .params = {1.0, true}, .types = kFloating},
        {.inputs = {{{2, 3, 4}}, {{5, 4}}, {{3, 4}}, {{2, 3, 5}, 3, 5}, {{5, 4}}},
         .params = {3.0, false},
         .types = kFloating},
        {.inputs = {{{3, 4}}, {{5, 4}}, {{3, 4}}, {{3, 5}, 3, 5}}, .params = {0.5, true}, .types = kFloating},
        {.inputs = {{{3, 4}}, {{5, 3}}, {{3, 4}}}, .error = "rows of one size"},
        {.inputs = {{{3, 4}}, {{5, 4}}, {{5, 4}}}, .error = "weights must end with the dims [3, 4]"}}};

const Op kPairRowSums{
    .name = "_pair_row_sums",
    .doc =
        "The sums over the rows of x2 of weights factors f((x1 - x2) / scale) for every row of x1, where f "
        "is "
        "|t|^power, or has the sign of t if odd.",
    .inputs = kPairInputs,
    .params = {{"power", ParamKind::real, 1.0},
               {"odd", ParamKind::boolean, false},
               {"condensed", ParamKind::boolean, false}},
    .shape = row_sums_shape,
    .cpu = sum_on_cpu<RowSums, true>,
    .vjp = row_sums_vjp,
    .reads = {{.inputs = 31}},
    .compose = row_sums_compose,
    .composed = never_composed,
    .half_through_f32 = true,
    .family = OpFamily::linear_algebra,
    .flops = kPairFlops,
    .examples = {
        {.inputs = {{{3, 4}}, {{5, 4}}, {{3, 5}}}, .params = {1.0, true}, .types = kFloating},
        {.inputs = {{{2, 3, 4}}, {{5, 4}}, {{3, 5}}, {{2, 3, 5}, 3, 5}, {{5, 4}}},
         .params = {3.0, false},
         .types = kFloating},
        {.inputs = {{{3, 4}}, {{5, 4}}, {{3, 5}}, {{3, 5}, 3, 5}}, .params = {0.5, true}, .types = kFloating},
        {.inputs = {{{3, 4}}, {{5, 4}}, {{5, 3}}}, .error = "weights must end with the dims [3, 5]"},
        {.inputs = {{{3, 4}}, {{3, 4}}, {{2}}},
         .params = {1.0, true, true},
         .error = "the pairs of 3 rows"}}};

// --- both gradients of the 2-norm ---

void cdist_grad_shape(Call& call) {
  require_floating(call);
  const Tensor &g = call.input(0), &x1 = call.input(1), &x2 = call.input(2), &y = call.input(3);
  if (x1.ndim() < 2 || x2.ndim() < 2 || x1.size(-1) != x2.size(-1))
    fail(call.op->name, ": x1 and x2 must be matrices with rows of one size (got shapes ", x1.shape(),
         " and ", x2.shape(), ")");
  Shape batch;
  for (const Tensor* const x : {&g, &x1, &x2, &y}) {
    if (x->ndim() >= 2) batch = broadcast_shapes(call.op->name, batch, batch_shape(x->shape()));
    const bool of_pairs = x == &g || x == &y;
    if (of_pairs && (x->ndim() < 2 || x->size(-2) != x1.size(-2) || x->size(-1) != x2.size(-2)))
      fail(call.op->name, ": grad and result must have matrices of ", x1.size(-2), " x ", x2.size(-2),
           " elements (got shapes ", g.shape(), " and ", y.shape(), ")");
  }
  for (const Tensor* const x : {&x1, &x2})
    call.emit(with_dims(batch, {x->size(-2), x->size(-1)}), x->dtype());
}
void cdist_grad_cpu(const Call& call) {
  const auto turned = [](const Tensor& x) {
    const NoGrad off;
    return transposed(x);
  };
  const Tensor &g = call.input(0), &x1 = call.input(1), &x2 = call.input(2), &y = call.input(3);
  for (int side = 0; side < 2; ++side) {
    Call sums;
    sums.op = &kPairRowSums;
    sums.in = side == 0 ? Operands{x1, x2, g, y, Tensor()} : Operands{x2, x1, turned(g), turned(y), Tensor()};
    sums.params = {1.0, true, false};
    sums.out.push_back(call.output(side));
    kPairRowSums.cpu(sums);
  }
}
const Op kCdistGrad{
    .name = "_cdist_grad",
    .doc =
        "The gradients of cdist with p = 2 by x1 and x2, with the batch of all inputs, from its result's "
        "gradient and its result.",
    .inputs = {{"grad"}, {"x1"}, {"x2"}, {"result"}},
    .params = {},
    .shape = cdist_grad_shape,
    .cpu = cdist_grad_cpu,
    .half_through_f32 = true,
    .family = OpFamily::linear_algebra,
    .flops = {[](const Call& call) { return 4 * elements(call.input(0)) * double(call.input(1).size(-1)); },
              "4 for each pair of elements"},
    .examples = {
        {.inputs = {{{3, 5}}, {{3, 4}}, {{5, 4}}, {{3, 5}, 3, 5}}, .types = kFloating},
        {.inputs = {{{2, 3, 5}}, {{3, 4}}, {{5, 4}}, {{3, 5}, 3, 5}}, .types = kFloating},
        {.inputs = {{{3, 5}}, {{3, 4}}, {{5, 4}}, {{5, 3}, 3, 5}}, .error = "must have matrices of 3 x 5"}}};

Operands operands_of(const Tensor& x1, const Tensor& x2, const PairOperands& o) {
  return {x1, x2, o.weights, o.scale, o.factors};
}

}  // namespace

Tensor pair_column_sums(const Tensor& x1, const Tensor& x2, const PairOperands& o, const PairFunction& f) {
  return apply1(kPairColumnSums, operands_of(x1, x2, o), {f.power, f.odd});
}
Tensor pair_row_sums(const Tensor& x1, const Tensor& x2, const PairOperands& o, const PairFunction& f,
                     bool condensed) {
  return apply1(kPairRowSums, operands_of(x1, x2, o), {f.power, f.odd, condensed});
}

Operands cdist_gradients(const Tensor& g, const Tensor& x1, const Tensor& x2, const Tensor& y) {
  return apply(kCdistGrad, {g, x1, x2, y}, {});
}

bool never_composed(const Call&) { return false; }

Tensor square_of_pairs(const Tensor& pairs, int64_t n) {
  std::vector<int64_t> places(size_t(n * n), pair_count(n));  // the diagonal: the appended 0
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j)
      places[size_t(i * n + j)] = places[size_t(j * n + i)] = pair_index(i, j, n);
  const Tensor index = to(Tensor::from<int64_t>(places, {n * n}), pairs.device());
  return reshape(index_select(cat({pairs, zeros({1}, pairs.dtype(), pairs.device())}), 0, index), {n, n});
}

std::span<const Op* const> pair_ops() {
  static constexpr const Op* ops[] = {&kPairColumnSums, &kPairRowSums, &kCdistGrad};
  return ops;
}

}  // namespace lunagrad
