#pragma once
// The activation within an op: applied where the op stores its result, which saves a pass over memory.
// Offered are those whose gradient follows from their value, so that the op saves its result and nothing else
// for it. It is the op's last parameter; value and gradient are those of the row of elementwise.def with its
// name. Pure functions, any thread.
#include "runtime/cpu/elementwise_kernels.h"
#include "runtime/op.h"
#include "runtime/ops.h"

namespace lunagrad {

ParamSpec activation_param();  // "none" by default
Activation activation_of(const Values& params);

// For Op::reads_outputs and Op::composed. Complex numbers and, on the CPU, those of 16 bits are left
// to the activation's own op: the one knows which activations have a meaning, the other rounds what it is
// given.
bool has_activation(const Call&);
bool activates_apart(const Call&);

Tensor activate(const Tensor&, Activation);
// In a vjp, whose node saved output 0: the gradient of what the activation was applied to.
Tensor gradient_before_activation(const Backward&);
// For stretches of f32 or f64; null for none.
StretchKernel activation_kernel(Activation, DType);

}  // namespace lunagrad
