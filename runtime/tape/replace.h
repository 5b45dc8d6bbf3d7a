#pragma once
// Gives a tensor other memory while it stays the same tensor, with its handles, leaf node, hooks and name. A
// module that moves to another device or changes its type replaces the data of its parameters, so that an
// optimizer, a script's variable and the module still refer to the same parameter. For the thread of the
// tensors.
#include "runtime/core/tensor.h"

namespace lunagrad {

// x gets the storage, layout and type of `value`, and shares memory with it; its gradient is converted to the
// same device and type. Views that were taken of x keep the old memory and no longer follow writes to x. A
// graph that was recorded before keeps the values that it saved; if it still sends a gradient to x, that is
// an Error. Error when x is the result of an op, the shapes differ, or x requires grad and the type of
// `value` cannot.
void replace_data(const Tensor& x, const Tensor& value);

}  // namespace lunagrad
