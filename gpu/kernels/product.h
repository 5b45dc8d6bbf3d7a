#pragma once
// A matrix product as its kernels (kernels/matmul.cpp) see it, and the plan by which work groups share it:
// from a model of the time, or from the table of measured plans. Pure.
#include <span>

#include "gpu/kernels.h"
#include "gpu/product_table.h"

namespace lunagrad::gpu {

// A product of two batches of matrices, [m, k] by [k, n]. `unit_type` is the type of the elements that matrix
// units multiply; f32: f32 arithmetic, after a conversion to f32 if `converted()`. As f16, elements of f32
// are `scaled()`: their exponents have more bits.
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
// The type of the elements that matrix units should multiply. f32: in f32 arithmetic, since there are no
// matrix units for the type, the precision forbids them, the product is small, or k is 0.
DType unit_type_of(const Product&, const PhysicalDevice&);

// One operand as lines of adjacent elements. `close` counts elements of a line, `far` the lines.
struct ProductSide {
  bool along_k;  // the direction of the lines
  int64_t close, far, close_step, far_step;
  Strides batch;
};
ProductSide left_side(const Product&);
ProductSide right_side(const Product&);

// A tile bm x bn of C, computed in steps of bk along k.
struct ProductTile {
  uint32_t bm, bn, bk;
  uint32_t own_m, own_n;  // the part of the tile that a thread computes, or a subgroup with matrix units
  uint32_t resident;      // work groups that a processor of a GPU runs at a time
  // The rate of a processor with these work groups, as a share of its best (DeviceRates::f32, matrix_units).
  // 0: not known; the model skips the tile and only measured plans use it.
  double share;
};

// A tile and the number of parts of k that are summed separately (split-K), so that a small C with a long k
// occupies the device.
struct TiledPlan {
  const ProductTile* tile;
  uint32_t parts;
};
TiledPlan plan_of(const Product&, const PhysicalDevice&, const DeviceRates&, const ProductTable&);

ProductKey key_of(const Product&);
// Plans worth measuring. The model's choice is the first.
std::vector<ProductPlan> possible_plans(const Product&, const PhysicalDevice&, const DeviceRates&);

}  // namespace lunagrad::gpu
