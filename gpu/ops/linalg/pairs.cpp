// Distances of pairs of rows and the sums of pairs.h, f32: pair_columns.comp and pair_rows.comp.
#include <algorithm>
#include <cmath>

#include "gpu/ops/linalg/matrices.h"
#include "gpu/ops/reductions/reduce.h"
#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

using shaders::PairColumns, shaders::PairRows;

constexpr int kMostBatchDims = 6;

struct Matrices {
  uint64_t memory;
  int64_t row, column;
  int64_t batch[kMostBatchDims];
};
struct PairArguments {
  Matrices x1, x2, weights, scale, factors;
  uint64_t result;
  uint32_t m, n, k;
  uint32_t row_tiles, column_tiles;
  uint32_t batches;
  uint32_t parts, part;
  float exponent;
  uint32_t batch_dims;
  uint32_t batch_size[kMostBatchDims];
};
static_assert(offsetof(PairArguments, batch_size) == 5 * sizeof(Matrices) + 48);

// Operands and parameters of runtime/ops/linalg/pairs.cpp and cdist.cpp.
constexpr int kWeightsAt = 2, kScaleAt = 3, kFactorsAt = 4;
constexpr int kPowerAt = 0, kOddAt = 1, kCondensedAt = 2, kComputeAt = 1;
enum Compute : int64_t { kIfNecessary, kProduct, kDirect };
constexpr int64_t kManyRows = 25;

// Arguments of a call whose result is a batch of matrices; the operands' addresses are set by read().
PairArguments arguments_of(const Call& call, const Shape& batch) {
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
Matrices read(Launch& launch, const Tensor& x, const Shape& batch) {
  Matrices matrices{};
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
  if (!call.has(kScaleAt)) return PairColumns::kUnscaled;
  return std::abs(power) <= 1 && physical.keeps_denormals ? PairColumns::kAfter : PairColumns::kBefore;
}
// Multiply-adds that take the time of a term.
double work_of(uint32_t power) { return power == PairColumns::kAny ? 40 : 2; }

bool supports(const Call& call) {
  const Shape& batch = call.output().shape();
  return all_f32(call) && batch.size() - 2 <= kMostBatchDims &&
         std::all_of(call.in.begin(), call.in.end(), [](const Tensor& x) {
           return !x.defined() || std::all_of(x.shape().begin(), x.shape().end(),
                                              [](int64_t size) { return size < int64_t(1) << 31; });
         });
}

constexpr uint32_t kTile = PairColumns::kTile;
uint32_t tiles_of(uint32_t size, uint32_t tile) { return (size + tile - 1) / tile; }
// The columns of a step: no more than there are.
uint32_t step_of(uint32_t k) { return k <= 4 ? 4 : k <= 8 ? 8 : 16; }

void run_columns(Launch& launch, PairColumns form, PairArguments& arguments) {
  arguments.row_tiles = tiles_of(arguments.m, kTile);
  arguments.column_tiles = tiles_of(arguments.n, kTile);
  form.step = step_of(arguments.k);
  launch.multiplies(double(arguments.batches) * arguments.m * arguments.n * arguments.k *
                    work_of(form.power));
  launch.run_in_turns(form, arguments.batches * arguments.row_tiles * arguments.column_tiles,
                      bytes_of(arguments));
}

void run_distances(const Call& call, const Shape& batch, bool by_product, bool condensed,
                   Recorder& recorder) {
  const double p = call.real(kPowerAt);
  PairArguments arguments = arguments_of(call, batch);
  Launch launch(recorder);
  arguments.x1 = read(launch, call.input(0), batch);
  arguments.x2 = condensed ? arguments.x1 : read(launch, call.input(1), batch);
  arguments.result = launch.writes(call.output());
  arguments.exponent = float(p);
  run_columns(launch,
              {.power = p == 0 ? PairColumns::kCount : power_constant(p),
               .condensed = condensed,
               .mode = by_product ? PairColumns::kProducts : PairColumns::kDistances},
              arguments);
}
void run_cdist(const Call& call, Recorder& recorder) {
  const Tensor& out = call.output();
  const int64_t mode = call.integer(kComputeAt);
  const bool many = std::max(out.size(-2), out.size(-1)) > kManyRows;
  const bool product = call.real(kPowerAt) == 2 && (mode == kProduct || (mode == kIfNecessary && many));
  run_distances(call, batch_dims(out), product, false, recorder);
}
void run_pdist(const Call& call, Recorder& recorder) { run_distances(call, {}, false, true, recorder); }

void run_column_sums(const Call& call, Recorder& recorder) {
  const Shape batch = batch_dims(call.output());
  PairArguments arguments = arguments_of(call, batch);
  Launch launch(recorder);
  arguments.x1 = read(launch, call.input(0), batch);
  arguments.x2 = read(launch, call.input(1), batch);
  arguments.weights = read(launch, call.input(kWeightsAt), batch);
  arguments.scale = read(launch, optional_input(call, kScaleAt), batch);
  arguments.factors = read(launch, optional_input(call, kFactorsAt), batch);
  arguments.result = launch.writes(call.output());
  arguments.exponent = float(call.real(kPowerAt));
  run_columns(launch,
              {.power = power_constant(call.real(kPowerAt)),
               .odd = call.flag(kOddAt),
               .scale = scale_constant(call, recorder.physical),
               .has_factors = call.has(kFactorsAt),
               .mode = PairColumns::kSums},
              arguments);
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
  const Tensor &out = call.output(), &weights = call.input(kWeightsAt);
  const Shape batch = batch_dims(out);
  PairArguments arguments = arguments_of(call, batch);
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
    arguments.x1 = read(launch, call.input(0), batch);
    arguments.x2 = read(launch, call.input(1), batch);
    arguments.weights = read(launch, weights, batch);
    arguments.scale = read(launch, optional_input(call, kScaleAt), batch);
    arguments.factors = read(launch, optional_input(call, kFactorsAt), batch);
    arguments.result = launch.writes(sums);
    arguments.exponent = float(call.real(kPowerAt));
    const uint32_t power = power_constant(call.real(kPowerAt));
    launch.multiplies(double(arguments.batches) * arguments.m * arguments.n * arguments.k * work_of(power));
    launch.run_in_turns(PairRows{.power = power,
                                 .odd = call.flag(kOddAt),
                                 .scale = scale_constant(call, recorder.physical),
                                 .has_factors = call.has(kFactorsAt),
                                 .condensed = call.flag(kCondensedAt),
                                 .step = tile.step,
                                 .across = tile.across,
                                 .own = tile.own,
                                 .along_n = arguments.weights.column <= arguments.weights.row},
                        tiles * arguments.parts, bytes_of(arguments));
  }
  if (arguments.parts > 1) add_parts(out, sums, recorder);
}

}  // namespace

std::vector<KernelEntry> pairs_kernels() {
  return {{find_op("cdist"), {supports, run_cdist}},
          {find_op("pdist"), {supports, run_pdist}},
          {find_op("_pair_column_sums"), {supports, run_column_sums}},
          {find_op("_pair_row_sums"), {supports, run_row_sums}}};
}

}  // namespace lunagrad::gpu
