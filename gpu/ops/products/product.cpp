#include "gpu/ops/products/product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops.h"

namespace lunagrad::gpu {
namespace {

// Shares and residency were measured on an NVIDIA H200 (160 and 1250 multiply-adds per ns and processor).
constexpr ProductTile kTiles[] = {{128, 128, 8, 8, 8, 1, 1},    {64, 64, 16, 8, 4, 3, 143.0 / 160},
                                  {32, 32, 16, 4, 4, 8, 0.375}, {128, 64, 16, 8, 4, 2, 0},
                                  {64, 128, 16, 4, 8, 2, 0},    {128, 32, 16, 8, 4, 4, 0},
                                  {32, 128, 16, 4, 8, 4, 0}};
constexpr ProductTile kUnitTiles[] = {{128, 128, 64, 64, 64, 2, 1},
                                      {64, 64, 64, 32, 32, 4, 0.56},
                                      {128, 64, 64, 64, 32, 3, 0},
                                      {64, 128, 64, 32, 64, 3, 0}};

// Whether a workgroup of the tile keeps to the limits of the device. Sizes as in matmul.comp and
// matmul_cooperative.comp.
bool fits(const ProductTile& tile, bool units, const PhysicalDevice& physical) {
  const auto eights = [&](uint32_t side) {  // vectors of eight for an operand, enough for both layouts
    return std::max((tile.bk / 8 + 1) * side, (side / 8 + 1) * tile.bk);
  };
  const uint32_t owners = tile.bm / tile.own_m * (tile.bn / tile.own_n);
  const uint32_t threads = owners * (units ? physical.subgroup_size : 1);
  const uint32_t vectors =
      units ? std::max(eights(tile.bm) + eights(tile.bn), owners * MatrixUnits::kSide * (tile.own_n / 4 + 1))
            : 2 * tile.bk * (tile.bm / 4 + tile.bn / 4 + 2);
  return threads <= physical.limits.maxComputeWorkGroupInvocations &&
         vectors * 16 <= physical.limits.maxComputeSharedMemorySize;
}

std::vector<const ProductTile*> tiles_for(const Product& p, const PhysicalDevice& physical) {
  std::vector<const ProductTile*> tiles;
  const auto list = [&](const auto& all) {
    for (const ProductTile& tile : all)
      if (fits(tile, p.on_units(), physical)) tiles.push_back(&tile);
  };
  p.on_units() ? list(kUnitTiles) : list(kTiles);
  return tiles;
}

constexpr int64_t kShortest = 128;  // elements of k: a shorter part does not repay the second pass

// What the cost model knows about the device.
struct Model {
  const PhysicalDevice& physical;
  const DeviceRates& rates;

  // Workgroups that the device runs at a time. A CPU core runs one.
  double slots(const ProductTile& tile) const {
    return double(rates.processors) *
           (physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 1 : double(tile.resident));
  }
};

double tiles_of(const Product& p, const ProductTile& tile) {
  return std::ceil(double(p.m) / tile.bm) * std::ceil(double(p.n) / tile.bn) * double(numel(p.batch));
}
// The number of parts that fill all slots of the device `rounds` times.
uint32_t most_parts(const Product& p, const ProductTile& tile, const Model& model, double rounds) {
  const double longest = double(std::max<int64_t>(1, p.k / kShortest));
  return uint32_t(std::clamp(std::ceil(rounds * model.slots(tile) / tiles_of(p, tile)), 1.0, longest));
}

// The plan with the shortest expected time.
TiledPlan model_plan(const Product& p, const Model& model) {
  constexpr double kShareOfBytes = 0.75;  // share of the device's rate that the sum of the parts reaches
  const double bytes_per_ns = kShareOfBytes * model.rates.bytes;
  const double best_rate = p.on_units() ? model.rates.matrix_units : model.rates.f32;
  const double elements = double(p.m) * double(p.n) * double(numel(p.batch));
  TiledPlan best{};
  double shortest = std::numeric_limits<double>::infinity();  // ns
  for (const ProductTile* const tile : tiles_for(p, model.physical)) {
    if (tile->share == 0) continue;
    const double count = tiles_of(p, *tile), slots = model.slots(*tile);
    // Rate of one workgroup, while all slots are busy.
    const double rate = tile->share * best_rate * model.rates.processors / slots;
    for (uint32_t parts = 1, most = most_parts(p, *tile, model, 2); parts <= most; ++parts) {
      const double length = std::ceil(double(p.k) / parts / tile->bk) * tile->bk;
      double time = std::ceil(count * parts / slots) * tile->bm * tile->bn * length / rate;
      if (parts > 1) time += model.rates.launch + elements * 4 * (2 * parts + 1) / bytes_per_ns;
      if (time < shortest) {
        shortest = time;
        best = {tile, parts};
      }
    }
  }
  return best;
}

Shape batch_of(const Tensor& x) {
  Shape batch;
  for (int d = 0; d < x.ndim() - 2; ++d) batch.push_back(x.shape()[d]);
  return batch;
}
Strides batch_steps(const Tensor& x, const Shape& batch) {
  Strides steps(batch.size(), 0);
  const int own = std::max(0, x.ndim() - 2), shift = batch.size() - own;
  for (int d = 0; d < own; ++d) steps[d + shift] = x.shape()[d] == 1 ? 0 : x.strides()[d];
  return steps;
}

// A batch of matrices times one matrix is a single product if the batch is contiguous along m.
void merge_batch(Product& p) {
  for (const int64_t step : p.b_batch)
    if (step != 0) return;
  int64_t below = p.a_row * p.m;
  for (int d = p.batch.size() - 1; d >= 0; --d) {
    if (p.batch[d] != 1 && p.a_batch[d] != below) return;
    below *= p.batch[d];
  }
  p.m *= numel(p.batch);
  p.batch = p.a_batch = p.b_batch = {};
}

}  // namespace

DType unit_type_of(const Product& p, const PhysicalDevice& physical) {
  // Fewer multiplications do not repay the passes that convert f32; a scaled operand takes two passes.
  constexpr int64_t kSmall = int64_t(1) << 21, kSmallScaled = int64_t(1) << 27;
  const MatrixUnits& units = physical.matrix_units;
  if (p.k == 0) return DType::f32;
  if (std::none_of(std::begin(kUnitTiles), std::end(kUnitTiles),
                   [&](const ProductTile& tile) { return tile.share > 0 && fits(tile, true, physical); }))
    return DType::f32;
  if (p.type == DType::f16) return units.float16 ? DType::f16 : DType::f32;
  if (p.type == DType::bf16) return units.bfloat16 ? DType::bf16 : DType::f32;
  const MatmulPrecision precision = context().matmul_precision;
  const double batch = double(numel(p.batch)),
               multiplications = batch * double(p.m) * double(p.n) * double(p.k);
  const double largest = batch * double(p.k) * double(std::max(p.m, p.n));  // elements of the larger operand
  if (precision == MatmulPrecision::high && units.float16 && multiplications >= kSmallScaled &&
      largest < 0x1p31)
    return DType::f16;
  if (precision == MatmulPrecision::medium && units.bfloat16 && multiplications >= kSmall) return DType::bf16;
  return DType::f32;
}

// The last two dims are the matrix. A vector is a row on the left side and a column on the right side. With
// `transposed` the right side is B^T.
Product product_of(const Tensor& a, const Tensor& b, bool transposed, const PhysicalDevice& physical) {
  Product p;
  const int n = a.ndim(), o = b.ndim();
  if (n > 1) {
    p.m = a.size(n - 2);
    p.a_row = a.strides()[n - 2];
  }
  p.k = a.size(n - 1);
  p.a_column = a.strides()[n - 1];
  p.b_row = b.strides()[transposed ? o - 1 : std::max(0, o - 2)];
  if (o > 1) {
    p.n = b.size(transposed ? o - 2 : o - 1);
    p.b_column = b.strides()[transposed ? o - 2 : o - 1];
  }
  p.batch = broadcast_shapes("matmul", batch_of(a), batch_of(b));
  p.a_batch = batch_steps(a, p.batch);
  p.b_batch = batch_steps(b, p.batch);
  merge_batch(p);
  p.type = a.dtype();
  p.unit_type = unit_type_of(p, physical);
  return p;
}

ProductSide left_side(const Product& p) {
  const bool rows = p.a_row == 1 && p.a_column != 1;
  if (rows) return {false, p.m, p.k, p.a_row, p.a_column, p.a_batch};
  return {true, p.k, p.m, p.a_column, p.a_row, p.a_batch};
}
ProductSide right_side(const Product& p) {
  if (p.b_column == 1) return {false, p.n, p.k, p.b_column, p.b_row, p.b_batch};
  return {true, p.k, p.n, p.b_row, p.b_column, p.b_batch};
}

ProductKey key_of(const Product& p) {
  return {p.m, p.n, p.k, numel(p.batch), p.type, p.on_units(), !left_side(p).along_k, !right_side(p).along_k};
}

TiledPlan plan_of(const Product& p, const PhysicalDevice& physical, const DeviceRates& rates,
                  const ProductTable& table) {
  if (table.size() > 0)
    if (const ProductPlan* plan = table.find(key_of(p)))
      for (const ProductTile* const tile : tiles_for(p, physical))
        if (tile->bm == plan->rows && tile->bn == plan->columns) return {tile, plan->parts};
  return model_plan(p, {physical, rates});
}

std::vector<ProductPlan> possible_plans(const Product& p, const PhysicalDevice& physical,
                                        const DeviceRates& rates) {
  const Model model{physical, rates};
  const auto plan = [](const ProductTile& tile, uint32_t parts) {
    return ProductPlan{tile.bm, tile.bn, parts};
  };
  const TiledPlan own = model_plan(p, model);
  std::vector<ProductPlan> plans{plan(*own.tile, own.parts)};
  const auto mostly_empty = [](int64_t size, uint32_t side) { return side > 32 && size <= side / 2; };
  for (const ProductTile* const tile : tiles_for(p, physical)) {
    if (mostly_empty(p.m, tile->bm) || mostly_empty(p.n, tile->bn)) continue;
    const uint32_t full = most_parts(p, *tile, model, 1), two = p.k >= 2 * kShortest ? 2 : 1,
                   most = std::max(most_parts(p, *tile, model, 2), two);
    for (uint32_t parts = 1; parts <= most; parts *= 2) plans.push_back(plan(*tile, parts));
    plans.push_back(plan(*tile, full));
  }
  std::vector<ProductPlan> distinct;
  for (const ProductPlan& each : plans)
    if (std::find(distinct.begin(), distinct.end(), each) == distinct.end()) distinct.push_back(each);
  return distinct;
}

}  // namespace lunagrad::gpu
