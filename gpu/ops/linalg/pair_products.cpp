// The sum over j of w[i, j] (x1[i] - x2[j]), the gradient of 2-norms, as a matrix product: the total of row i
// of w times x1[i] - c, less row i of w times the rows x2[j] - c. The terms would cancel where rows lie far
// from the origin, so both are relative to a center c of x2.
#include <algorithm>
#include <utility>

#include "gpu/ops/linalg/matrices.h"
#include "gpu/ops/linalg/pairs.h"
#include "gpu/ops/products/matmul.h"
#include "gpu/ops/reductions/reduce.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::PairProducts, shaders::PairWeights;

// A call, or the part of it for some items of the batch or some rows of x1.
struct Sums {
  Tensor x1, center, centered, weights, scale, out;
  bool condensed;
  uint32_t first_row;

  Shape batch() const { return batch_dims(out); }
  // f32 numbers of w, and of the product unless the result holds it.
  int64_t elements() const {
    const int64_t held = out.dtype() == DType::f32 ? 0 : out.size(-1);
    return numel(batch()) * out.size(-2) * (centered.size(-2) + held);
  }

  // Items or rows first ... first + size - 1 of a dim of the result.
  Sums part(int dim, int64_t first, int64_t size) const {
    const bool rows = dim == out.ndim() - 2;
    const auto of = [&](const Tensor& x) {
      return x.defined() ? slice_of(x, dim - (out.ndim() - x.ndim()), first, size) : x;
    };
    Sums part = *this;
    part.x1 = of(x1);
    part.out = of(out);
    if (!rows) part.center = of(center), part.centered = of(centered);
    if (condensed)
      part.first_row += uint32_t(first);
    else
      part.weights = of(weights), part.scale = of(scale);
    return part;
  }
};

// Dims that repeat one matrix have the size 1.
Tensor without_repeats(const Tensor& x) {
  Shape shape = x.shape();
  for (int d = 0; d < x.ndim() - 2; ++d)
    if (x.strides()[d] == 0) shape[d] = 1;
  return window(x, shape, x.strides());
}
Tensor empty_f32(const Shape& shape, const Tensor& like) {
  return Tensor::empty(shape, DType::f32, like.device());
}

PairArguments arguments_of(const Shape& batch, int64_t m, int64_t n, int64_t k) {
  PairArguments arguments{};
  arguments.m = uint32_t(m), arguments.n = uint32_t(n), arguments.k = uint32_t(k);
  arguments.batches = uint32_t(numel(batch));
  arguments.batch_dims = uint32_t(batch.size());
  for (int d = 0; d < batch.size(); ++d) arguments.batch_size[d] = uint32_t(batch[d]);
  return arguments;
}
void run_pass(Launch& launch, uint32_t mode, const Tensor& rows, const Tensor& result,
              PairArguments& arguments, Recorder& recorder) {
  arguments.result = launch.writes(result);
  launch.run(PairProducts{.type = uint32_t(rows.dtype()), .mode = mode},
             {groups_for(uint64_t(result.numel()), recorder)}, bytes_of(arguments));
}

Tensor center_of(const Tensor& x2, Recorder& recorder) {
  const Shape batch = batch_dims(x2);
  const int64_t n = x2.size(-2);
  Shape shape = x2.shape();
  shape[x2.ndim() - 2] = 1;
  const Tensor center = empty_f32(shape, x2);
  DimReduction work = float_reduction({}, x2, 1u << (x2.ndim() - 2), center);
  work.factor = float(1 / double(n));
  reduce_dims(work, recorder);
  PairArguments arguments = arguments_of(batch, 1, n, x2.size(-1));
  Launch launch(recorder);
  arguments.x2 = read_pairs(launch, x2, batch);
  run_pass(launch, PairProducts::kCenter, x2, center, arguments, recorder);
  return center;
}
// made = x2 - center
void center_rows(const Tensor& x2, const Tensor& center, const Tensor& made, Recorder& recorder) {
  const Shape batch = batch_dims(x2);
  PairArguments arguments = arguments_of(batch, 1, x2.size(-2), x2.size(-1));
  Launch launch(recorder);
  arguments.x2 = read_pairs(launch, x2, batch);
  arguments.factors = read_pairs(launch, center, batch);
  run_pass(launch, PairProducts::kCentered, x2, made, arguments, recorder);
}

bool lies_along_n(const Tensor& of_pairs) {
  const int dims = of_pairs.ndim();
  return dims < 2 || of_pairs.strides()[dims - 1] <= of_pairs.strides()[dims - 2];
}

// w [..., m, n], whose matrices lie in memory as the gradient's, and its totals for each row of x1 and of x2.
struct Weights {
  Tensor w, row_totals, column_totals;
};
struct Totals {
  bool rows, columns;
};
Weights weights_of(const Sums& sums, Totals wanted, Recorder& recorder) {
  constexpr int64_t kTile = 64;  // of pair_weights.comp
  const Shape batch = sums.batch();
  const int64_t m = sums.out.size(-2), n = sums.centered.size(-2);
  const bool along_n = lies_along_n(sums.weights);
  PairArguments arguments = arguments_of(batch, m, n, sums.out.size(-1));
  arguments.row_tiles = uint32_t((m + kTile - 1) / kTile);
  arguments.column_tiles = uint32_t((n + kTile - 1) / kTile);
  arguments.part = sums.first_row;
  const auto matrices = [&](int64_t rows, int64_t columns) {
    Shape shape = batch;
    shape.push_back(rows), shape.push_back(columns);
    return shape;
  };
  const Tensor made = empty_f32(along_n ? matrices(m, n) : matrices(n, m), sums.out);
  const auto parts = [&](bool is_wanted, uint32_t tiles, int64_t size) {
    return is_wanted ? empty_f32({int64_t(tiles), int64_t(arguments.batches) * size}, sums.out) : Tensor();
  };
  const Tensor row_parts = parts(wanted.rows, arguments.column_tiles, m),
               column_parts = parts(wanted.columns, arguments.row_tiles, n);
  {
    Launch launch(recorder);
    arguments.weights = read_pairs(launch, sums.weights, batch);
    arguments.scale = read_pairs(launch, sums.scale, batch);
    arguments.result = launch.writes(made);
    if (wanted.rows) arguments.row_totals = launch.writes(row_parts);
    if (wanted.columns) arguments.column_totals = launch.writes(column_parts);
    launch.run_in_turns(
        PairWeights{.scale = sums.scale.defined() ? PairWeights::kAfter : PairWeights::kUnscaled,
                    .condensed = sums.condensed,
                    .type = uint32_t(sums.weights.dtype()),
                    .along_n = along_n,
                    .row_totals = wanted.rows,
                    .column_totals = wanted.columns},
        arguments.batches * arguments.row_tiles * arguments.column_tiles, bytes_of(arguments));
  }
  const auto total = [&](const Tensor& of_tiles, int64_t size) {
    if (!of_tiles.defined() || of_tiles.size(0) == 1)
      return of_tiles.defined() ? reshape(of_tiles, matrices(size, 1)) : of_tiles;
    const Tensor added = empty_f32(matrices(size, 1), sums.out);
    add_parts(added, of_tiles, recorder);
    return added;
  };
  return {along_n ? made : transpose(made, -1, -2), total(row_parts, m), total(column_parts, n)};
}

// out = totals (own - center) - w centered
void multiply_weights(const Tensor& w, const Tensor& totals, const Tensor& own, const Tensor& center,
                      const Tensor& centered, const Tensor& out, Recorder& recorder) {
  const Shape batch = batch_dims(out);
  const Tensor product = out.dtype() == DType::f32 ? out : empty_f32(out.shape(), out);
  multiply_in_f32(w, centered, false, product, recorder);
  PairArguments arguments = arguments_of(batch, out.size(-2), centered.size(-2), out.size(-1));
  Launch launch(recorder);
  arguments.x1 = read_pairs(launch, own, batch);
  arguments.factors = read_pairs(launch, center, batch);
  arguments.weights = read_pairs(launch, totals, batch);
  arguments.held = launch.reads(product);
  run_pass(launch, PairProducts::kCombined, own, out, arguments, recorder);
}

// Each part is another five launches, so few elements are not divided.
void sum_parts(const Sums& sums, int64_t most, Recorder& recorder) {
  const int dim = outermost_dim(sums.out.shape(), (1u << (sums.out.ndim() - 1)) - 1);
  if (sums.elements() > most && dim >= 0) {
    const int64_t size = sums.out.shape()[dim], half = (size + 1) / 2;
    sum_parts(sums.part(dim, 0, half), most, recorder);
    return sum_parts(sums.part(dim, half, size - half), most, recorder);
  }
  const Weights found = weights_of(sums, {.rows = true, .columns = false}, recorder);
  multiply_weights(found.w, found.row_totals, sums.x1, sums.center, sums.centered, sums.out, recorder);
}

}  // namespace

void multiply_in_f32(const Tensor& a, const Tensor& b, bool transposed, const Tensor& c, Recorder& recorder) {
  struct Precision {
    MatmulPrecision before = std::exchange(context().matmul_precision, MatmulPrecision::highest);
    ~Precision() { context().matmul_precision = before; }
  } const highest;
  multiply(a, b, transposed, {}, c, recorder);
}

int64_t room_beside(const Call& call, int64_t others) {
  double bytes = 0;
  for (const auto* tensors : {&call.in, &call.out})
    for (const Tensor& x : *tensors)
      if (x.defined()) bytes += double(x.nbytes());
  return int64_t(bytes * 0.48 / sizeof(float)) - others;
}

bool can_sum_by_products(const Call& call) {
  const Tensor &out = call.output(), &x2 = call.input(1);
  const int64_t n = x2.size(-2), pairs = out.numel() / std::max<int64_t>(1, out.size(-1)) * n;
  return call.real(kPairPowerAt) == 1 && call.flag(kPairOddAt) && !call.has(kPairFactorsAt) &&
         is_worth_products(pairs, out.size(-1)) && indexable(out) && indexable(x2) &&
         pairs < most_elements() &&
         (out.dtype() == DType::f32 || room_beside(call, 2 * without_repeats(x2).numel()) > 0);
}
void sum_by_products(const Call& call, Recorder& recorder) {
  constexpr int64_t kFew = 1 << 17;
  const NoGrad off;
  const Tensor x2 = without_repeats(call.input(1));
  const Tensor center = center_of(x2, recorder), centered = empty_f32(x2.shape(), x2);
  center_rows(x2, center, centered, recorder);
  const Sums all{.x1 = call.input(0),
                 .center = center,
                 .centered = centered,
                 .weights = call.input(kPairWeightsAt),
                 .scale = call.has(kPairScaleAt) ? call.input(kPairScaleAt) : Tensor(),
                 .out = call.output(),
                 .condensed = call.flag(kPairCondensedAt),
                 .first_row = 0};
  sum_parts(all, std::max(room_beside(call, centered.numel()), kFew), recorder);
}

namespace {

// Whether all w find room beside one centered operand. The other one lies in the larger result.
bool has_room_for_weights(const Call& call) {
  const Tensor &first = call.output(0), &second = call.output(1);
  const int64_t k = first.size(-1), pairs = first.numel() / std::max<int64_t>(1, k) * second.size(-2);
  return first.dtype() == DType::f32 && is_worth_products(pairs, k) && indexable(first) &&
         indexable(second) && pairs < most_elements() &&
         room_beside(call, std::min(first.numel(), second.numel())) >= pairs;
}

void run_by_sums(const Call& call, Recorder& recorder) {
  static const Op& op = *find_op("_pair_row_sums");
  const Tensor &g = call.input(0), &y = call.input(3);
  for (int side = 0; side < 2; ++side) {
    Call sums;
    sums.op = &op;
    sums.in = side == 0 ? Operands{call.input(1), call.input(2), g, y, Tensor()}
                        : Operands{call.input(2), call.input(1), transpose(g, -1, -2), transpose(y, -1, -2),
                                   Tensor()};
    sums.params = {1.0, true, false};
    sums.out.push_back(call.output(side));
    find_kernel(op)->run(sums, recorder);
  }
}

}  // namespace

void run_cdist_grad(const Call& call, Recorder& recorder) {
  const NoGrad off;
  if (!has_room_for_weights(call)) return run_by_sums(call, recorder);
  const Tensor rows[] = {call.input(1), call.input(2)};
  const int larger = call.output(0).numel() >= call.output(1).numel() ? 0 : 1;
  Weights found;
  // The centered rows of the larger operand lie in its own gradient until the other gradient is computed.
  for (const int side : {1 - larger, larger}) {
    const Tensor other = without_repeats(rows[1 - side]), center = center_of(other, recorder);
    const Tensor &out = call.output(side), &held = call.output(1 - side);
    const Tensor centered = side == larger ? empty_f32(other.shape(), other)
                                           : window(held, other.shape(), contiguous_strides(other.shape()));
    center_rows(other, center, centered, recorder);
    if (!found.w.defined()) {
      const Sums both{.x1 = rows[0],
                      .center = {},
                      .centered = rows[1],
                      .weights = call.input(0),
                      .scale = call.input(3),
                      .out = call.output(0),
                      .condensed = false,
                      .first_row = 0};
      found = weights_of(both, {.rows = true, .columns = true}, recorder);
    }
    multiply_weights(side == 0 ? found.w : transpose(found.w, -1, -2),
                     side == 0 ? found.row_totals : found.column_totals, rows[side], center, centered, out,
                     recorder);
  }
}

}  // namespace lunagrad::gpu
