#pragma once
// Reductions over dims (gpu/ops/reductions/reduce.glsl), for the reduction ops and for other kernels.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// A reduction and where its results go. A state is a partial result; the shader defines it.
struct DimReduction {
  const ShaderCode& code;
  shaders::Reduce form;  // work, map and end; reduce_dims() sets the rest
  uint32_t state;        // bytes of a state
  uint32_t vector_size;  // elements of the vectors that the shader can load from x; 0: none
  const Tensor& x;       // fewer than 2^31 results, with fewer than 2^31 elements each
  uint32_t mask;         // bit d: dim d of x is reduced
  const Tensor& out;     // contiguous, like `second`
  float factor = 1, exponent = 0;
  const Tensor* other = nullptr;   // the second operand, with the shape of x; one of the two may be expanded
  const Tensor* second = nullptr;  // the second result
  float shift = 0;                 // is added to differences of x and other
  bool fetches = false;  // the states hold positions, and the results are elements at these positions
};
void reduce_dims(const DimReduction&, Recorder&);

// The reduction of f32, f16 or bf16 by `reduce_f32`: a sum unless `form` sets another one.
DimReduction float_reduction(const shaders::Reduce& form, const Tensor& x, uint32_t mask, const Tensor& out);
// (sum |x|^p)^(1/p) for finite p other than 0, or the same of x - other + shift.
DimReduction norm_reduction(double p, const Tensor& x, uint32_t mask, const Tensor& out);
// How many floats the shaders load at a time.
inline constexpr uint32_t kReducedFloats = 4;

// row_threads(): how many invocations of a workgroup reduce a row of adjacent floats. divides_rows(): whether
// several workgroups share a row. `fours`: rows are loaded in vectors. `busy`: workgroups that keep the
// device busy.
uint32_t row_threads(uint64_t rows, uint64_t columns, bool fours);
bool divides_rows(uint64_t rows, uint64_t columns, bool fours, uint64_t busy);
uint64_t busy_with_reductions(const Recorder&);

// The largest finite magnitude in x, f32 []. 0 if there is none.
Tensor largest_magnitude(const Tensor& x, Recorder&);

// out = the sum over dim 0 of parts [n, elements of out], added in order. Both are contiguous. The parts are
// f32; out is f32 or a 16-bit float, to which the sum is rounded once.
void add_parts(const Tensor& out, const Tensor& parts, Recorder&);

}  // namespace lunagrad::gpu
