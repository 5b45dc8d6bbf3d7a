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
                                      {32, 128, 64, 32, 32, 4, 0.42},
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

// The expected time of the plans with a tile, in ns.
class TileTimes {
 public:
  TileTimes(const Product& p, const ProductTile& tile, const Model& model)
      : product_(p), tile_(tile), model_(model), tiles_(tiles_of(p, tile)), slots_(model.slots(tile)) {
    // Rate of one workgroup, while all slots are busy.
    const double best = p.on_units() ? model.rates.matrix_units : model.rates.f32;
    rate_ = tile.share * best * model.rates.processors / slots_;
  }

  // All tiles in so many parts of k.
  double of_parts(uint32_t parts) const {
    const double results = double(product_.m) * double(product_.n) * double(numel(product_.batch));
    return rounds(tiles_ * parts) * of_round(parts) + of_sums(parts, results);
  }
  double of_tail(ProductTail tail) const {
    const double rest = tiles_ - tail.whole_tiles;
    return rounds(tail.whole_tiles) * of_round(1) + rounds(rest * tail.parts) * of_round(tail.parts) +
           of_sums(tail.parts, rest * tile_.bm * tile_.bn);
  }
  // The best division of the last round.
  ProductTail tail() const {
    ProductTail best{uint32_t(tiles_), 1};
    // A processor that starts two whole tiles beside each other takes twice as long as one that starts a
    // whole tile and a part. So the whole tiles fill both places of all processors.
    constexpr double kPlaces = 2;
    const double places = slots_ * kPlaces, whole = std::floor(tiles_ / places) * places;
    // Matrix units have no kernel for a tail.
    if (product_.on_units() || whole == 0 || whole == tiles_) return best;
    double shortest = of_parts(1);
    const uint32_t most = uint32_t(std::clamp<int64_t>(product_.k / kShortest, 1, int64_t(slots_)));
    for (uint32_t parts = 2; parts <= most; ++parts)
      if (const ProductTail tail{uint32_t(whole), parts}; of_tail(tail) < shortest)
        shortest = of_tail(tail), best = tail;
    return best;
  }

 private:
  double rounds(double workgroups) const { return std::ceil(workgroups / slots_); }
  double of_round(uint32_t parts) const {
    const double length = std::ceil(double(product_.k) / parts / tile_.bk) * tile_.bk;
    return tile_.bm * tile_.bn * length / rate_;
  }
  // Writing the parts of results, and adding them up.
  double of_sums(uint32_t parts, double results) const {
    constexpr double kShareOfBytes = 0.75;  // share of the device's rate that the sum of the parts reaches
    if (parts == 1) return 0;
    return model_.rates.launch + results * 4 * (2 * parts + 1) / (kShareOfBytes * model_.rates.bytes);
  }

  const Product& product_;
  const ProductTile& tile_;
  const Model& model_;
  double tiles_, slots_, rate_;
};

// The plan with the shortest expected time.
TiledPlan model_plan(const Product& p, const Model& model) {
  constexpr int64_t kFine =
      12;  // with so many parts, little more than a round of tiles takes little more time
  TiledPlan best{};
  double shortest = std::numeric_limits<double>::infinity();
  for (const ProductTile* const tile : tiles_for(p, model.physical)) {
    if (tile->share == 0) continue;
    const TileTimes times(p, *tile, model);
    const int64_t fine = p.on_units() ? 1 : std::min<int64_t>(kFine, p.k / kShortest);
    const uint32_t most = std::max(most_parts(p, *tile, model, 2), uint32_t(fine));
    for (uint32_t parts = 1; parts <= most; ++parts) {
      const ProductTail tail = parts == 1 ? times.tail() : ProductTail{0, 1};
      const double time = tail.parts > 1 ? times.of_tail(tail) : times.of_parts(parts);
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

bool lies_in_runs(int64_t count, const ProductSide& side, uint64_t address, size_t item) {
  const auto aligned = [&](int64_t step) { return step * int64_t(item) % 16 == 0; };
  return address % 16 == 0 && side.close_step == 1 && side.close % count == 0 && aligned(side.far_step) &&
         std::all_of(side.batch.begin(), side.batch.end(), aligned);
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

ProductTail tail_of(const Product& p, const ProductTile& tile, const PhysicalDevice& physical,
                    const DeviceRates& rates) {
  return TileTimes(p, tile, {physical, rates}).tail();
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
