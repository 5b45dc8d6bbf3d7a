// Distances of pairs of rows and the sums of pairs.h, of f32, f16 or bf16: pair_columns.comp and
// pair_rows.comp.
#include "gpu/ops/linalg/pairs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "gpu/ops/linalg/matrices.h"
#include "gpu/ops/reductions/reduce.h"
#include "gpu/ops/through_f32.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::PairColumns, shaders::PairRows;

// Parameters of runtime/ops/linalg/cdist.cpp.
constexpr int kPowerAt = 0, kComputeAt = 1;
enum Compute : int64_t { kIfNecessary, kProduct, kDirect };
constexpr int64_t kManyRows = 25;

}  // namespace

PairArguments pair_arguments(const Call& call, const Shape& batch) {
  PairArguments arguments{};
  const Tensor& a = call.input(0);
  arguments.m = uint32_t(a.size(-2));
  arguments.n = uint32_t(call.input(call.in.size() > 1 ? 1 : 0).size(-2));
  arguments.k = uint32_t(a.size(-1));
  arguments.batches = uint32_t(numel(batch));
  arguments.parts = 1;
  arguments.batch_dims = uint32_t(batch.size());
  for (int d = 0; d < batch.size(); ++d) arguments.batch_size[d] = uint32_t(batch[d]);
  return arguments;
}
PairMatrices read_pairs(Launch& launch, const Tensor& x, const Shape& batch) {
  PairMatrices matrices{};
  if (!x.defined()) return matrices;
  matrices.memory = launch.reads(x);
  const int dims = x.ndim();
  matrices.column = x.strides()[dims - 1];
  if (dims < 2) return matrices;  // pairs
  matrices.row = x.strides()[dims - 2];
  Strides own;
  for (int d = 0; d < dims - 2; ++d) own.push_back(x.strides()[d]);
  const Strides steps = broadcast_strides(batch_dims(x), own, batch);
  std::copy(steps.begin(), steps.end(), matrices.batch);
  return matrices;
}

namespace {

Tensor optional_input(const Call& call, int i) { return call.has(i) ? call.input(i) : Tensor(); }

// The function of sums, as a constant of the shaders.
uint32_t power_constant(double power) {
  return power == 0          ? PairColumns::kConstant
         : power == 1        ? PairColumns::kLinear
         : power == 2        ? PairColumns::kSquare
         : std::isinf(power) ? PairColumns::kLargest
                             : PairColumns::kAny;
}
// As on the CPU (runtime/ops/linalg/cpu/pair_kernels.cpp). A weight over a large scale may be subnormal.
uint32_t scale_constant(const Call& call, const PhysicalDevice& physical) {
  const double power = call.real(kPowerAt);
  if (!call.has(kPairScaleAt)) return PairColumns::kUnscaled;
  return std::abs(power) <= 1 && physical.keeps_denormals ? PairColumns::kAfter : PairColumns::kBefore;
}
// Multiply-adds that take the time of a term.
double work_of(uint32_t power) { return power == PairColumns::kAny ? 40 : 2; }

bool supports(const Call& call) {
  const Shape& batch = call.output().shape();
  return have_one_float_type(call) && batch.size() - 2 <= kMostPairBatchDims &&
         std::all_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
           return !x.defined() || std::all_of(x.shape().begin(), x.shape().end(),
                                              [](int64_t size) { return size < int64_t(1) << 31; });
         });
}

constexpr uint32_t kTile = PairColumns::kTile;
uint32_t tiles_of(uint32_t size, uint32_t tile) { return (size + tile - 1) / tile; }
// The columns of a step: no more than there are.
uint32_t step_of(uint32_t k) { return k <= 4 ? 4 : k <= 8 ? 8 : 16; }

void run_columns(Launch& launch, PairColumns form, DType type, PairArguments& arguments) {
  arguments.row_tiles = tiles_of(arguments.m, kTile);
  arguments.column_tiles = tiles_of(arguments.n, kTile);
  form.step = step_of(arguments.k);
  form.type = uint32_t(type);
  if (form.mode != PairColumns::kMultiplied)
    launch.multiplies(double(arguments.batches) * arguments.m * arguments.n * arguments.k *
                      work_of(form.power));
  launch.run_in_turns(form, arguments.batches * arguments.row_tiles * arguments.column_tiles,
                      bytes_of(arguments));
}

// The squares of the lengths of x1's and x2's rows, or nothing. With the products of the rows they give the
// distances. Kernels of products multiply faster than pair_columns.comp does, but the products are written
// and read once more.
struct Squares {
  Tensor own, others;
  static Tensor of(const Tensor& x, Recorder& recorder) {
    Shape shape = x.shape();
    shape[x.ndim() - 1] = 1;
    const Tensor squares = Tensor::empty(shape, DType::f32, x.device());
    DimReduction work = float_reduction({.map = shaders::Reduce::kTimes}, x, 1u << (x.ndim() - 1), squares);
    work.other = &x;
    reduce_dims(work, recorder);
    return squares;
  }
};
// The number of f32 products that may be there at a time. An f32 result holds them; products of 16-bit rows
// take room beside operands and results. Without matrix units rows and products are converted, too.
int64_t most_products(const Call& call, const PhysicalDevice& physical) {
  const Tensor &x1 = call.input(0), &x2 = call.input(1), &out = call.output();
  if (out.dtype() == DType::f32) return out.numel();
  const int64_t rows = x1.numel() + x2.numel();
  const MatrixUnits& units = physical.matrix_units;
  if (out.dtype() == DType::f16 ? units.float16 : units.bfloat16) return room_beside(call, rows / 2);
  return room_beside(call, rows) / 2;
}
bool worth_a_product(const Call& call, const PhysicalDevice& physical) {
  return is_worth_products(call.output().numel(), call.input(0).size(-1)) && indexable(call.output()) &&
         indexable(call.input(0)) && indexable(call.input(1)) && most_products(call, physical) > 0;
}

enum class Way { differences, one_kernel };

void run_distances(const Call& call, const Shape& batch, Way way, const Squares& squares, bool condensed,
                   Recorder& recorder) {
  const NoGrad off;
  const double p = call.real(kPowerAt);
  PairArguments arguments = pair_arguments(call, batch);
  const Tensor& out = call.output();
  Tensor products;
  if (squares.own.defined()) {
    products = out.dtype() == DType::f32 ? out : Tensor::empty(out.shape(), DType::f32, out.device());
    multiply_in_f32(call.input(0), call.input(1), true, products, recorder);
  }
  Launch launch(recorder);
  if (products.defined()) {
    arguments.weights = read_pairs(launch, squares.own, batch);
    arguments.scale = read_pairs(launch, squares.others, batch);
  }
  arguments.x1 = read_pairs(launch, call.input(0), batch);
  arguments.x2 = condensed ? arguments.x1 : read_pairs(launch, call.input(1), batch);
  arguments.result = launch.writes(call.output());
  if (products.defined()) arguments.held = launch.reads(products);
  arguments.exponent = float(p);
  run_columns(launch,
              {.power = p == 0 ? PairColumns::kCount : power_constant(p),
               .condensed = condensed,
               .mode = products.defined()       ? PairColumns::kMultiplied
                       : way == Way::one_kernel ? PairColumns::kProducts
                                                : PairColumns::kDistances},
              call.output().dtype(), arguments);
}
// Takes items of the batch or rows of x1 at a time, so that there are no more products at a time.
void run_in_parts(const Call& call, int64_t most, const Squares& squares, Recorder& recorder) {
  const Tensor &x1 = call.input(0), &x2 = call.input(1), &out = call.output();
  const int dims = out.ndim(), dim = outermost_dim(out.shape(), (1u << (dims - 1)) - 1);
  if (out.numel() <= most || dim < 0)
    return run_distances(call, batch_dims(out), Way::one_kernel, squares, false, recorder);
  const int64_t size = out.shape()[dim], half = (size + 1) / 2;
  for (const int64_t first : {int64_t(0), half}) {
    const int64_t length = std::min(half, size - first);
    const auto slice = [&](const Tensor& x) { return slice_of(x, dim - (dims - x.ndim()), first, length); };
    Call part = call;
    Squares own = squares;
    part.in[0] = slice(x1), own.own = slice(squares.own);
    if (dim < dims - 2) part.in[1] = slice(x2), own.others = slice(squares.others);
    part.out[0] = slice(out);
    run_in_parts(part, most, own, recorder);
  }
}
void run_cdist(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  const int64_t mode = call.integer(kComputeAt);
  const bool many = std::max(out.size(-2), out.size(-1)) > kManyRows;
  const bool product = call.real(kPowerAt) == 2 && (mode == kProduct || (mode == kIfNecessary && many));
  if (product && worth_a_product(call, recorder.physical)) {
    constexpr int64_t kFew = 1 << 16;
    const NoGrad off;
    const Squares squares{Squares::of(call.input(0), recorder), Squares::of(call.input(1), recorder)};
    return run_in_parts(call, std::max(kFew, most_products(call, recorder.physical)), squares, recorder);
  }
  run_distances(call, batch_dims(out), product ? Way::one_kernel : Way::differences, {}, false, recorder);
}
void run_pdist(const Call& call, Recorder& recorder) {
  run_distances(call, {}, Way::differences, {}, true, recorder);
}

void run_column_sums(const Call& call, Recorder& recorder) {
  const Shape batch = batch_dims(call.output());
  PairArguments arguments = pair_arguments(call, batch);
  Launch launch(recorder);
  arguments.x1 = read_pairs(launch, call.input(0), batch);
  arguments.x2 = read_pairs(launch, call.input(1), batch);
  arguments.weights = read_pairs(launch, call.input(kPairWeightsAt), batch);
  arguments.scale = read_pairs(launch, optional_input(call, kPairScaleAt), batch);
  arguments.factors = read_pairs(launch, optional_input(call, kPairFactorsAt), batch);
  arguments.result = launch.writes(call.output());
  arguments.exponent = float(call.real(kPowerAt));
  run_columns(launch,
              {.power = power_constant(call.real(kPowerAt)),
               .odd = call.flag(kPairOddAt),
               .scale = scale_constant(call, recorder.physical),
               .has_factors = call.has(kPairFactorsAt),
               .mode = PairColumns::kSums},
              call.output().dtype(), arguments);
}

// The tile of pair_rows.comp: few columns leave more invocations for rows.
struct RowTile {
  uint32_t across, own, step;
  uint32_t rows() const { return own * (kGroupSize / across); }
  uint32_t columns() const { return 4 * across; }
};
RowTile row_tile_of(uint32_t k) {
  return k <= 4 ? RowTile{1, 1, 8} : k <= 16 ? RowTile{4, 4, 8} : RowTile{16, 4, 16};
}
// Into how many parts the rows of x2 are divided, so that few results keep the device busy. The parts take at
// most an eighth of the memory of the weights.
uint32_t parts_of(const PairArguments& arguments, uint64_t tiles, const Recorder& recorder) {
  constexpr uint64_t kLeastRows = 256, kShare = 8;
  const uint64_t busy = recorder.rates.busy_groups(4), rows = arguments.n;
  const uint64_t room = rows / (kShare * std::max(1u, arguments.k));
  return uint32_t(std::clamp<uint64_t>(
      std::min({busy / std::max<uint64_t>(tiles, 1), rows / kLeastRows, room}), 1, rows + 1));
}

void run_row_sums(const Call& call, Recorder& recorder) {
  if (can_sum_by_products(call)) return sum_by_products(call, recorder);
  const Tensor &out = call.output(), &weights = call.input(kPairWeightsAt);
  const Shape batch = batch_dims(out);
  PairArguments arguments = pair_arguments(call, batch);
  const RowTile tile = row_tile_of(arguments.k);
  arguments.row_tiles = tiles_of(arguments.m, tile.rows());
  arguments.column_tiles = tiles_of(arguments.k, tile.columns());
  const uint32_t tiles = arguments.batches * arguments.row_tiles * arguments.column_tiles;
  const uint32_t wanted = parts_of(arguments, tiles, recorder);
  arguments.part = std::max(1u, (arguments.n + wanted - 1) / wanted);
  arguments.parts = std::max(1u, tiles_of(arguments.n, arguments.part));
  const NoGrad off;
  const Tensor sums = arguments.parts == 1
                          ? out
                          : Tensor::empty({int64_t(arguments.parts), out.numel()}, DType::f32, out.device());
  {
    Launch launch(recorder);
    arguments.x1 = read_pairs(launch, call.input(0), batch);
    arguments.x2 = read_pairs(launch, call.input(1), batch);
    arguments.weights = read_pairs(launch, weights, batch);
    arguments.scale = read_pairs(launch, optional_input(call, kPairScaleAt), batch);
    arguments.factors = read_pairs(launch, optional_input(call, kPairFactorsAt), batch);
    arguments.result = launch.writes(sums);
    arguments.exponent = float(call.real(kPowerAt));
    const uint32_t power = power_constant(call.real(kPowerAt));
    launch.multiplies(double(arguments.batches) * arguments.m * arguments.n * arguments.k * work_of(power));
    launch.run_in_turns(PairRows{.power = power,
                                 .odd = call.flag(kPairOddAt),
                                 .scale = scale_constant(call, recorder.physical),
                                 .has_factors = call.has(kPairFactorsAt),
                                 .condensed = call.flag(kPairCondensedAt),
                                 .step = tile.step,
                                 .type = uint32_t(out.dtype()),
                                 .across = tile.across,
                                 .own = tile.own,
                                 .along_n = arguments.weights.column <= arguments.weights.row,
                                 .result_type = uint32_t(sums.dtype())},
                        tiles * arguments.parts, bytes_of(arguments));
  }
  if (arguments.parts > 1) add_parts(out, sums, recorder);
}

}  // namespace

std::vector<KernelEntry> pairs_kernels() {
  return {{find_op("cdist"), {supports, run_cdist}},
          {find_op("pdist"), {supports, run_pdist}},
          {find_op("_pair_column_sums"), {supports, run_column_sums}},
          {find_op("_pair_row_sums"), {supports, run_row_sums}},
          {find_op("_cdist_grad"), {supports, run_cdist_grad}}};
}

}  // namespace lunagrad::gpu
