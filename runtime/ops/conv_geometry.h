#pragma once
// What the records of the convolutions say of their work, for the kernels of each device. Pure; any thread.
#include "runtime/cpu/conv.h"
#include "runtime/op.h"

namespace lunagrad {

// Which of the four kinds of record a call is of.
enum class ConvPart { result, input_gradient, weight_gradient, transposed };

// The convolution, with everything filled in, of a call whose outputs have their shapes.
ConvGeometry conv_geometry(const Call&, ConvPart, int spatial_dims);

}  // namespace lunagrad
