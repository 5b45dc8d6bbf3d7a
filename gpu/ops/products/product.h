#pragma once
// A matrix product as its kernels (gpu/ops/products/matmul.cpp) see it, and the plan that divides it among
// workgroups. The plan comes from a cost model, or from the table of measured plans. Pure.
#include <span>

#include "gpu/ops/kernels.h"
#include "gpu/rates/product_table.h"

namespace lunagrad::gpu {

// A product of two batches of matrices, [m, k] by [k, n]. `unit_type` is the type that matrix units multiply;
// f32: f32 arithmetic, after a conversion to f32 if `converted()`. f32 elements that become f16 are
// `scaled()`, since f16 has fewer exponent bits.
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0;
  Shape batch;
  Strides a_batch, b_batch;
  DType type = DType::f32;
  DType unit_type = DType::f32;

  bool on_units() const { return unit_type != DType::f32; }
  bool scaled() const { return type == DType::f32 && unit_type == DType::f16; }
  bool converted() const { return !on_units() && type != DType::f32; }
};
Product product_of(const Tensor& a, const Tensor& b, bool transposed, const PhysicalDevice&);
// The type that matrix units should multiply. f32: use f32 arithmetic, since there are no matrix units for
// the type, the precision forbids them, the product is small, or k is 0.
DType unit_type_of(const Product&, const PhysicalDevice&);

// One operand as lines of adjacent elements. `close`: the elements of a line; `far`: the number of lines.
struct ProductSide {
  bool along_k;  // lines run along k
  int64_t close, far, close_step, far_step;
  Strides batch;
};
ProductSide left_side(const Product&);
ProductSide right_side(const Product&);
// Whether each line can be read in runs of `count` elements that begin at multiples of 16 bytes.
bool lies_in_runs(int64_t count, const ProductSide&, uint64_t address, size_t item);

// A tile bm x bn of C, computed in steps of bk along k.
struct ProductTile {
  uint32_t bm, bn, bk;
  uint32_t own_m, own_n;  // the part of the tile that an invocation computes; with matrix units, a subgroup
  uint32_t resident;      // workgroups that a GPU processor runs at a time
  // The rate of a processor with these workgroups, as a share of its best rate (DeviceRates::f32,
  // matrix_units). 0: unknown; the model skips the tile and only measured plans use it.
  double share;
};

// A tile and the number of parts of k that are summed separately (split-K), so that a small C with a long k
// keeps the device busy.
struct TiledPlan {
  const ProductTile* tile;
  uint32_t parts;
};
TiledPlan plan_of(const Product&, const PhysicalDevice&, const DeviceRates&, const ProductTable&);

// The workgroups of a plan without parts run in rounds, and the last round may keep few processors busy. Its
// tiles, the tail, are computed in parts of k then. parts is 1, and the tail empty, if that is not faster.
struct ProductTail {
  uint32_t whole_tiles;  // tiles before the tail
  uint32_t parts;
};
ProductTail tail_of(const Product&, const ProductTile&, const PhysicalDevice&, const DeviceRates&);

ProductKey key_of(const Product&);
// Plans worth measuring. The model's choice comes first.
std::vector<ProductPlan> possible_plans(const Product&, const PhysicalDevice&, const DeviceRates&);

}  // namespace lunagrad::gpu
