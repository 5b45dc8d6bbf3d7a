#pragma once
// Matrix products for other kernels.
#include "gpu/ops/kernels.h"
#include "runtime/ops/elementwise/activation.h"

namespace lunagrad::gpu {

// The epilogue of a product.
struct Ending {
  Tensor bias;  // one element for each column, or undefined
  Activation activation = Activation::none;
};

// Whether a product's kernel computes the activation itself; `elements`: per invocation. With the formula of
// tanh or sigmoid for many elements, drivers spill the sums to memory, which takes up to 14 times as long:
// activate_in_place() follows instead.
inline bool ends_within(Activation activation, uint32_t elements) {
  return elements <= 16 || activation == Activation::none || activation == Activation::relu;
}
void activate_in_place(const Tensor&, Activation, Recorder&);

// C = epilogue(A B), or epilogue(A B^T) if `transposed`, for batches of matrices that broadcast. c is
// contiguous and has the operands' type or f32.
void multiply(const Tensor& a, const Tensor& b, bool transposed, const Ending&, const Tensor& c, Recorder&);

// The same product as f32 parts [parts, m, n], whose sum is A B or A B^T: for kernels that add the parts
// while they read them.
Tensor multiply_in_parts(const Tensor& a, const Tensor& b, bool transposed, Recorder&);

}  // namespace lunagrad::gpu
