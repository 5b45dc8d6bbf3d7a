#pragma once
// The activation that an op applies where it stores its result, which saves a pass over memory. Only
// activations whose gradient follows from their value are offered, so that the op saves only its result for
// them. The activation is the last parameter of the op. Its value and gradient come from the row of
// elementwise.def with its name. Pure functions, any thread.
#include "runtime/core/op.h"
#include "runtime/ops.h"
#include "runtime/ops/elementwise/cpu/elementwise_kernels.h"

namespace lunagrad {

ParamSpec activation_param();  // "none" by default
Activation activation_of(const Values& params);

// Used as Op::reads_outputs and Op::composed. With complex operands, and on the CPU with 16-bit ones, the
// activation runs as an op of its own: that op knows which activations are defined for complex numbers, and
// it gets the rounded 16-bit result.
bool has_activation(const Call&);
bool activates_apart(const Call&);

Tensor activate(const Tensor&, Activation);
// For a vjp whose node saved output 0: the gradient of the activation's operand.
Tensor gradient_before_activation(const Backward&);
// The kernel for ranges of f32 or f64; null for no activation.
StretchKernel activation_kernel(Activation, DType);

}  // namespace lunagrad
