#pragma once
// Convolutions on matrix units (shaders/conv_cooperative.comp): of 16-bit types, and of f32 below the
// "highest" precision. Operands are brought into a layout with the channels last.
#include "gpu/kernels.h"
#include "runtime/ops/conv_geometry.h"

namespace lunagrad::gpu {

// The number of 16-bit values for each element; 0: matrix units are not available or would be mostly idle.
uint32_t conv_unit_planes(DType, ConvPart, const ConvGeometry&, const PhysicalDevice&);
// Computes the call, whose operands and result have one type, with so many planes.
void convolve_on_units(const Call&, ConvPart, const ConvGeometry&, uint32_t planes, Recorder&);

}  // namespace lunagrad::gpu
