#pragma once
// The geometry of calls of the convolution records, for the kernels of each device. Pure; any thread.
#include "runtime/core/op.h"
#include "runtime/ops/nn/cpu/conv.h"

namespace lunagrad {

// The kind of record that a call runs.
enum class ConvPart { result, input_gradient, weight_gradient, transposed };

// The complete geometry of a call whose outputs have their shapes.
ConvGeometry conv_geometry(const Call&, ConvPart, int spatial_dims);

}  // namespace lunagrad
