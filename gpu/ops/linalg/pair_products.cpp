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

using shaders::PairProducts;

// A call, or the part of it for some items of the batch or some rows of x1.
struct Sums {
  Tensor x1, center, centered, weights, scale, out;
  bool condensed;
  uint32_t first_row;

  Shape batch() const { return batch_dims(out); }
  int64_t pairs() const { return numel(batch()) * out.size(-2) * centered.size(-2); }

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

PairArguments arguments_of(const Shape& batch, int64_t m, int64_t n, int64_t k) {
  PairArguments arguments{};
  arguments.m = uint32_t(m), arguments.n = uint32_t(n), arguments.k = uint32_t(k);
  arguments.batches = uint32_t(numel(batch));
  arguments.batch_dims = uint32_t(batch.size());
  for (int d = 0; d < batch.size(); ++d) arguments.batch_size[d] = uint32_t(batch[d]);
  return arguments;
}
void run_pass(Launch& launch, const PairProducts& form, const Tensor& result, PairArguments& arguments,
              Recorder& recorder) {
  arguments.result = launch.writes(result);
  launch.run(form, {groups_for(uint64_t(result.numel()), recorder)}, bytes_of(arguments));
}

Tensor center_of(const Tensor& x2, Recorder& recorder) {
  const Shape batch = batch_dims(x2);
  const int64_t n = x2.size(-2);
  Shape shape = x2.shape();
  shape[x2.ndim() - 2] = 1;
  const Tensor center = Tensor::empty(shape, DType::f32, x2.device());
  DimReduction work = float_reduction({}, x2, 1u << (x2.ndim() - 2), center);
  work.factor = float(1 / double(n));
  reduce_dims(work, recorder);
  PairArguments arguments = arguments_of(batch, 1, n, x2.size(-1));
  Launch launch(recorder);
  arguments.x2 = read_pairs(launch, x2, batch);
  run_pass(launch, {.mode = PairProducts::kCenter}, center, arguments, recorder);
  return center;
}
Tensor centered_rows(const Tensor& x2, const Tensor& center, Recorder& recorder) {
  const Shape batch = batch_dims(x2);
  const Tensor made = Tensor::empty(x2.shape(), DType::f32, x2.device());
  PairArguments arguments = arguments_of(batch, 1, x2.size(-2), x2.size(-1));
  Launch launch(recorder);
  arguments.x2 = read_pairs(launch, x2, batch);
  arguments.factors = read_pairs(launch, center, batch);
  run_pass(launch, {.mode = PairProducts::kCentered}, made, arguments, recorder);
  return made;
}

void sum_part(const Sums& sums, Recorder& recorder) {
  const Shape batch = sums.batch();
  const int64_t m = sums.out.size(-2), n = sums.centered.size(-2), k = sums.out.size(-1);
  const int weight_dims = sums.weights.ndim();
  const bool along_n =
      weight_dims < 2 || sums.weights.strides()[weight_dims - 1] <= sums.weights.strides()[weight_dims - 2];
  Shape shape = batch;
  shape.push_back(along_n ? m : n);
  shape.push_back(along_n ? n : m);
  const Tensor weights = Tensor::empty(shape, DType::f32, sums.out.device());
  PairArguments arguments = arguments_of(batch, m, n, k);
  arguments.part = sums.first_row;
  {
    Launch launch(recorder);
    arguments.weights = read_pairs(launch, sums.weights, batch);
    arguments.scale = read_pairs(launch, sums.scale, batch);
    run_pass(launch,
             {.scale = sums.scale.defined() ? PairProducts::kAfter : PairProducts::kUnscaled,
              .condensed = sums.condensed,
              .mode = PairProducts::kWeights,
              .along_n = along_n},
             weights, arguments, recorder);
  }
  const Tensor by_rows = along_n ? weights : transpose(weights, -1, -2);
  shape = batch;
  shape.push_back(m);
  shape.push_back(1);
  const Tensor totals = Tensor::empty(shape, DType::f32, sums.out.device());
  reduce_dims(float_reduction({}, by_rows, 1u << (by_rows.ndim() - 1), totals), recorder);
  multiply_in_f32(by_rows, sums.centered, false, sums.out, recorder);
  Launch launch(recorder);
  arguments.x1 = read_pairs(launch, sums.x1, batch);
  arguments.factors = read_pairs(launch, sums.center, batch);
  arguments.weights = read_pairs(launch, totals, batch);
  run_pass(launch, {.mode = PairProducts::kCombined}, sums.out, arguments, recorder);
}
// w takes half of the memory of g at most, unless pairs are few: each part is another five launches. A
// condensed g has half of the pairs.
void sum_parts(const Sums& sums, int64_t most_pairs, Recorder& recorder) {
  const int dim = outermost_dim(sums.out.shape(), (1u << (sums.out.ndim() - 1)) - 1);
  if (sums.pairs() <= most_pairs || dim < 0) return sum_part(sums, recorder);
  const int64_t size = sums.out.shape()[dim], half = (size + 1) / 2;
  sum_parts(sums.part(dim, 0, half), most_pairs, recorder);
  sum_parts(sums.part(dim, half, size - half), most_pairs, recorder);
}

}  // namespace

void multiply_in_f32(const Tensor& a, const Tensor& b, bool transposed, const Tensor& c, Recorder& recorder) {
  struct Precision {
    MatmulPrecision before = std::exchange(context().matmul_precision, MatmulPrecision::highest);
    ~Precision() { context().matmul_precision = before; }
  } const highest;
  multiply(a, b, transposed, {}, c, recorder);
}

bool can_sum_by_products(const Call& call) {
  const Tensor& out = call.output();
  const int64_t n = call.input(1).size(-2), pairs = out.numel() / std::max<int64_t>(1, out.size(-1)) * n;
  return call.real(kPairPowerAt) == 1 && call.flag(kPairOddAt) && !call.has(kPairFactorsAt) &&
         is_worth_products(pairs, out.size(-1)) && indexable(out) && indexable(call.input(1)) &&
         pairs < most_elements();
}
void sum_by_products(const Call& call, Recorder& recorder) {
  constexpr int64_t kFewPairs = 1 << 18;
  const NoGrad off;
  const Tensor x2 = without_repeats(call.input(1));
  const Tensor center = center_of(x2, recorder);
  const Sums all{.x1 = call.input(0),
                 .center = center,
                 .centered = centered_rows(x2, center, recorder),
                 .weights = call.input(kPairWeightsAt),
                 .scale = call.has(kPairScaleAt) ? call.input(kPairScaleAt) : Tensor(),
                 .out = call.output(),
                 .condensed = call.flag(kPairCondensedAt),
                 .first_row = 0};
  sum_parts(all, std::max(all.pairs() / (all.condensed ? 4 : 2), kFewPairs), recorder);
}

}  // namespace lunagrad::gpu
