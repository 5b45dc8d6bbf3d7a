#pragma once
// In-place forms of ops that have no in-place kernel: x:cumsum_(1), x:squeeze_(). Elementwise rows and their
// long forms use apply_in_place() and run_form_in_place() instead. For the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

// Whether run_in_place() runs this op, that is, whether PyTorch has a method `name_`.
bool has_composed_in_place_form(const Op&);

// Writes the op's first result into in[0], which keeps its dtype and must have the result's shape. Where the
// result is a view of in[0] (squeeze, t), in[0] becomes that view instead. Returns in[0].
Tensor run_in_place(const Op&, Operands in, Values params);

}  // namespace lunagrad
