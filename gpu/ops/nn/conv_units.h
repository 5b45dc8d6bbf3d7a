#pragma once
// Convolutions on matrix units (gpu/ops/nn/conv_cooperative.comp), for 16-bit floats, and for f32 below the
// "highest" precision. Operands are copied to a layout with the channels last.
#include "gpu/ops/kernels.h"
#include "runtime/ops/nn/conv_geometry.h"

namespace lunagrad::gpu {

// The type that matrix units should multiply. f32: there are no units for it, or they would be mostly idle.
DType conv_unit_type(DType, ConvPart, const ConvGeometry&, const PhysicalDevice&);
// Computes the call. Its operands and result have one type.
void convolve_on_units(const Call&, ConvPart, const ConvGeometry&, DType unit_type, Recorder&);

}  // namespace lunagrad::gpu
