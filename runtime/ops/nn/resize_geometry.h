#pragma once
// The geometry of calls of interpolate, im2col and their gradients, for the kernels of each device. Pure; any
// thread.
#include "runtime/core/op.h"
#include "runtime/ops/nn/cpu/resize.h"

namespace lunagrad {

ResizeGeometry resize_geometry(const Call&);  // interpolate and _interpolate_grad
ConvGeometry window_geometry(const Call&);    // im2col and col2im

}  // namespace lunagrad
