#pragma once
// A matrix product as its kernels (kernels/matmul.cpp) see it, and how its work is shared among work groups:
// a plan from a model of the time, or from the table of those that were measured. Pure, but for the table.
#include <span>

#include "gpu/kernels.h"
#include "gpu/product_table.h"

namespace lunagrad::gpu {

// One product of two batches of matrices. Matrix units multiply its elements as `planes` numbers of 16 bits
// each; 0: f32 arithmetic does, on elements of any type as f32.
struct Product {
  int64_t m = 1, n = 1, k = 1;
  int64_t a_row = 0, a_column = 0, b_row = 0, b_column = 0;
  Shape batch;
  Strides a_batch, b_batch;
  DType type = DType::f32;
  uint32_t planes = 0;

  bool converted() const { return planes == 0 && type != DType::f32; }
};
Product product_of(const Tensor& a, const Tensor& b, bool transposed, const PhysicalDevice&);

// One operand as lines of elements that lie close, whichever dim they run along.
struct ProductSide {
  bool along_k;
  int64_t close, far, close_step, far_step;
  Strides batch;
};
ProductSide left_side(const Product&);
ProductSide right_side(const Product&);

// A tile of C, how much of k is kept at a time, and what a thread owns of it (a subgroup, where matrix units
// multiply). How many of its work groups a processor of the device holds at a time, and what they reach there
// together, in multiply-adds per ns: of an H200, on whose proportions the model's choice is made for all.
// Without a rate the tile was not measured, and only the table takes it.
struct ProductTile {
  uint32_t bm, bn, bk, own_m, own_n;
  uint32_t resident;
  double rate;
};

// A tile and the number of parts of k that are summed apart, so that a small C of a long k occupies the
// device.
struct TiledPlan {
  const ProductTile* tile;
  uint32_t parts;
};
TiledPlan plan_of(const Product&, const ProductTable&);

ProductKey key_of(const Product&);
std::vector<ProductPlan> possible_plans(const Product&);  // the model's first

}  // namespace lunagrad::gpu
