#pragma once
// What the kernels of pairs of rows (runtime/ops/linalg/pairs.h) share: the arguments of their shaders, and
// the forms that are matrix products.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

inline constexpr int kMostPairBatchDims = 6;

struct PairMatrices {
  uint64_t memory;
  int64_t row, column;
  int64_t batch[kMostPairBatchDims];
};
struct PairArguments {
  PairMatrices x1, x2, weights, scale, factors;
  uint64_t result;
  uint64_t held;                       // f32 numbers that become the result
  uint64_t row_totals, column_totals;  // parts of the sums of weights
  uint32_t m, n, k;
  uint32_t row_tiles, column_tiles;
  uint32_t batches;
  uint32_t parts, part;
  float exponent;
  uint32_t batch_dims;
  uint32_t batch_size[kMostPairBatchDims];
};
static_assert(offsetof(PairArguments, batch_size) == 5 * sizeof(PairMatrices) + 72);

// Operands and parameters of runtime/ops/linalg/pairs.cpp.
inline constexpr int kPairWeightsAt = 2, kPairScaleAt = 3, kPairFactorsAt = 4;
inline constexpr int kPairPowerAt = 0, kPairOddAt = 1, kPairCondensedAt = 2;

// Arguments of a call whose result is a batch of matrices; the operands' addresses are set by read_pairs().
PairArguments pair_arguments(const Call&, const Shape& batch);
PairMatrices read_pairs(Launch&, const Tensor&, const Shape& batch);

// The elements of temporary f32 tensors that a call may have, so that they take half as much memory as its
// operands and results, less `others`.
int64_t room_beside(const Call&, int64_t others);

// Whether so many pairs of rows of k columns repay the passes beside a product.
inline bool is_worth_products(int64_t pairs, int64_t k) {
  constexpr int64_t kShortestRow = 32;
  constexpr double kLeastWork = 0x1p24;
  return k >= kShortestRow && double(pairs) * double(k) >= kLeastWork;
}
// c = a b, or a b^T, in f32 arithmetic at every matmul_precision.
void multiply_in_f32(const Tensor& a, const Tensor& b, bool transposed, const Tensor& c, Recorder&);

// The gradient of the 2-norm: the sum over j of w (x1 - x2), as a product of w and x2.
bool can_sum_by_products(const Call&);
void sum_by_products(const Call&, Recorder&);
// Both gradients of the 2-norm: w is computed once, and has two products.
void run_cdist_grad(const Call&, Recorder&);

}  // namespace lunagrad::gpu
