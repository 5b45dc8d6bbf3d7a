#pragma once
// Folds over dims (shaders/reduce.glsl), for the reductions and for other kernels.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// What is folded and where the results go. The shader that folds says what its states are.
struct Fold {
  const ShaderCode& code;
  shaders::Reduce form;  // fold, map and end; fold_dims() sets the rest
  uint32_t state;        // bytes of a state
  uint32_t wide;         // elements of a vector that it can load from this operand; 0: none
  const Tensor& x;       // fewer than 2^31 elements
  uint32_t mask;         // bit d: dim d of x is folded
  const Tensor& out;     // contiguous, as `second`
  float factor = 1, exponent = 0;
  const Tensor* other = nullptr;   // the second operand, of the shape of x; one may be expanded
  const Tensor* second = nullptr;  // the second result
  bool fetches = false;            // results are made of elements that are found by the states
};
void fold_dims(const Fold&, Recorder&);

// The fold of f32, f16 or bf16 by `reduce_f32`, a sum if `form` says nothing else.
Fold fold_of_floats(const shaders::Reduce& form, const Tensor& x, uint32_t mask, const Tensor& out);
// How many floats the shaders load at a time.
inline constexpr uint32_t kFoldedFloats = 4;

// How many threads of a work group fold a row of adjacent floats, and whether the row is divided among work
// groups. `fours`: it is loaded in vectors. `busy`: work groups that keep the device busy.
uint32_t row_threads(uint64_t rows, uint64_t columns, bool fours);
bool divides_rows(uint64_t rows, uint64_t columns, bool fours, uint64_t busy);
uint64_t busy_with_folds(const Recorder&);

// The largest finite magnitude of the elements of x: f32 []. 0 if there is none.
Tensor largest_magnitude(const Tensor& x, Recorder&);

// out = the sum over dim 0 of parts [n, elements of out], added in order. Both are contiguous; parts are f32,
// and out is f32 or of 16 bits, to which the sum is rounded once.
void add_parts(const Tensor& out, const Tensor& parts, Recorder&);

}  // namespace lunagrad::gpu
