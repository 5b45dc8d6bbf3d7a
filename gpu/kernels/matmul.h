#pragma once
// Matrix products for other kernels.
#include "gpu/kernels.h"
#include "runtime/ops/activation.h"

namespace lunagrad::gpu {

// The epilogue of a product.
struct Ending {
  Tensor bias;  // one element for each column, or undefined
  Activation activation = Activation::none;
};

// Whether the kernel of a tile computes the activation, of as many elements for each thread. With the formula
// of tanh or sigmoid for many, drivers keep the sums in memory, which takes up to 14 times as long: then
// activate_in_place() follows.
inline bool ends_within(Activation activation, uint32_t elements) {
  return elements <= 16 || activation == Activation::none || activation == Activation::relu;
}
void activate_in_place(const Tensor&, Activation, Recorder&);

// C = epilogue(A B), or epilogue(A B^T) if `transposed`, for batches of matrices that broadcast. c is
// contiguous and has the type of the operands, or f32.
void multiply(const Tensor& a, const Tensor& b, bool transposed, const Ending&, const Tensor& c, Recorder&);

// The same as f32 parts [parts, m, n], whose sum is A B or A B^T: for kernels that add them as they read.
Tensor multiply_in_parts(const Tensor& a, const Tensor& b, bool transposed, Recorder&);

}  // namespace lunagrad::gpu
