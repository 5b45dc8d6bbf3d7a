#pragma once
// Convolutions on matrix units (shaders/conv_cooperative.comp): of 16-bit types, and of f32 below the
// "highest" precision. Operands are brought into a layout with the channels last.
#include "gpu/kernels.h"
#include "runtime/ops/conv_geometry.h"

namespace lunagrad::gpu {

// The type of the elements that matrix units multiply; f32: there are none, or they would be mostly idle.
DType conv_unit_type(DType, ConvPart, const ConvGeometry&, const PhysicalDevice&);
// Computes the call, whose operands and result have one type.
void convolve_on_units(const Call&, ConvPart, const ConvGeometry&, DType unit_type, Recorder&);

}  // namespace lunagrad::gpu
