#pragma once
// The largest difference between two correct computations of one tensor. For element i, with the results r
// and o:
//
//   |r_i - o_i|  <=  (c u + sqrt(k) v) T_i + t        T_i = max(|r_i|, S_i, rms S)
//
// - u: half a unit in the last place of the coarser of the two types.
// - v: the same for the type in which sums are accumulated (f32 for f16 and bf16).
// - c: 16 for f32 and f64, whose functions err by a few units; 4 for 16-bit types.
// - k: the number of terms of a sum, from the FLOPs of the op. Their rounding errors add up as a random walk.
// - S: by how much an element changes per relative change of the operands, found in f64. It is the magnitude
//   of the added terms, such as |A| |B| for a product. A sum whose terms cancel is small, but its rounding
//   error is not.
// - t: the smallest normal number, below which devices may flush to 0.
//
// S takes several evaluations, so it is only computed where T_i = |r_i| does not suffice. For the session's
// thread.
#include <functional>
#include <vector>

#include "script/inspect/kept_pass.h"
#include "script/view/step_comparison.h"

namespace lunagrad {

struct Rounding {
  double relative = 0;  // c u + sqrt(k) v, times the user's factor
  double smallest = 0;  // t, times the user's factor
  double largest = 0;   // the largest number of the narrower type; a larger result may be infinite
};
// `terms`: k.
Rounding rounding_of(DType reference, DType other, double terms, double factor);

// k of a result of the call, or of a gradient computed by the call.
double terms_of(const KeptNode&, const TensorList& inputs, const TensorList& outputs, const Tensor& result);

// S of each result of `f` at `operands`, in the layout of numbers_of(). `f` computes in f64 and must not
// change its operands.
using Evaluation = std::function<TensorList(const TensorList& operands)>;
std::vector<std::vector<double>> sensitivities(const Evaluation& f, const TensorList& operands);

// The element that exceeds the allowed rounding error the most, or comes nearest to it. `sensitivity`: S, or
// empty. Shapes must be equal.
TensorError compare_tensors(const Tensor& reference, const Tensor& other, const Rounding&,
                            const std::vector<double>& sensitivity);
// The largest difference, relative to the largest magnitude of the reference.
double relative_error(const Tensor& reference, const Tensor& other, const Rounding&);

}  // namespace lunagrad
