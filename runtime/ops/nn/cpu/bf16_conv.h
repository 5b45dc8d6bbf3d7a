#pragma once
// Convolutions of bf16 images and both gradients with the kernels of bf16_kernels.h; sums are f32 and rounded
// once. The windows are packed into tiles straight from the unfolded input (conv_tile.h): neighbouring
// outputs are neighbouring columns of a product, and the gaps between their rows are computed and dropped.
// The thread pool shares the work; results do not depend on the number of threads. Tensors are contiguous.
#include "runtime/core/dtype.h"
#include "runtime/ops/nn/cpu/conv_sizes.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"

namespace lunagrad {

// The same functions as in conv.h.
void conv_forward(const ConvGeometry&, const Bf16Kernel&, const BFloat16* x, const BFloat16* weight,
                  const BFloat16* bias, BFloat16* y);
void conv_grad_input(const ConvGeometry&, const Bf16Kernel&, const BFloat16* g, const BFloat16* weight,
                     const BFloat16* bias, BFloat16* dx);
void conv_grad_weight(const ConvGeometry&, const Bf16Kernel&, const BFloat16* x, const BFloat16* g,
                      BFloat16* dweight);

// Whether `channels` results of a group, each a sum of `terms`, fill the tiles well enough to be faster than
// in f32.
inline bool fills_tiles(int64_t channels, int64_t terms) {
  return channels >= kKernelSide && terms >= kTileTerms;
}

}  // namespace lunagrad
