#pragma once
// Operands of products on matrix units. Runs under the device's lock.
#include "gpu/ops/products/product.h"
#include "gpu/ops/unit_operands.h"

namespace lunagrad::gpu {

// The tensor itself, or a copy in the type that the units multiply: of f32, and of 16-bit elements that
// cannot be loaded in runs of eight. Changes `side` to the copy's layout.
UnitOperand unit_operand(const Tensor&, ProductSide& side, const Product&, Recorder&);

}  // namespace lunagrad::gpu
