#pragma once
// Sums over the differences of pairs of rows, which distances and their derivatives of every order consist
// of. No tensor of the differences is made. x1 is [..., m, k], x2 is [..., n, k]; their batches and the
// batches of all other operands broadcast. For the tensors' thread.
#include "runtime/ops/families.h"
#include "runtime/ops/linalg/cpu/pair_function.h"

namespace lunagrad {

// The operands beside x1 and x2. The argument of f is the difference / scale; terms with the scale 0 count as
// 0. Undefined tensors count as 1.
struct PairOperands {
  Tensor weights;
  Tensor scale;    // [..., m, n]
  Tensor factors;  // [..., n, k]
};

// [..., m, n]: the sum over c of weights[i, c] factors[j, c] f((x1[i, c] - x2[j, c]) / scale[i, j]). The
// weights are [..., m, k] and may not be undefined.
Tensor pair_column_sums(const Tensor& x1, const Tensor& x2, const PairOperands&, const PairFunction&);
// [..., m, k]: the sum over j of weights[i, j] factors[j, c] f((x1[i, c] - x2[j, c]) / scale[i, j]). The
// weights are [..., m, n] and may not be undefined. `condensed`: x1 and x2 have the same rows, and weights
// and scale contain only the pairs i < j, in the order of pdist, for both orders of a pair; then the call is
// not differentiable.
Tensor pair_row_sums(const Tensor& x1, const Tensor& x2, const PairOperands&, const PairFunction&,
                     bool condensed = false);

// Both gradients of 2-norms y = cdist(x1, x2) from the gradient of y, with the batch of both operands. Not
// differentiable.
Operands cdist_gradients(const Tensor& g, const Tensor& x1, const Tensor& x2, const Tensor& y);

std::span<const Op* const> pair_ops();  // the records, for the list of cdist.cpp

// Op::composed of these records and of distances: their compositions make the differences, so a device
// without the kernel leaves the call to the CPU.
bool never_composed(const Call&);

// The symmetric matrix [n, n] of the values of pairs, with 0 on the diagonal.
Tensor square_of_pairs(const Tensor& pairs, int64_t n);

}  // namespace lunagrad
