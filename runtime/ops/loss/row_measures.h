#pragma once
// Distances and cosines of corresponding rows of two tensors, without a tensor of their differences or
// products. The operands have one floating type, and their shapes broadcast. For the tensors' thread.
#include <span>

#include "runtime/ops.h"

namespace lunagrad {

// (sum |x1 - x2 + eps|^p)^(1/p) along dim, of size 1 there; for p >= 0, which may be inf. Of 16-bit rows it
// is f32, or `rounded` to their type.
Tensor row_distance(const Tensor& x1, const Tensor& x2, double p, double eps, int dim, bool rounded = false);
// x1 x2 / (|x1| |x2|) along dim, of size 1 there, each norm at least eps; `added`: with sqrt(|x|^2 + eps)
// instead of each norm.
Tensor row_cosine(const Tensor& x1, const Tensor& x2, int dim, double eps, bool added = false);

std::span<const Op* const> row_measure_ops();  // for the list of margin_loss.cpp

}  // namespace lunagrad
