#pragma once
// A vjp may add its gradient to what other uses of the same operand have already given, instead of making a
// tensor that the tape then adds: the weights of a recurrent network get one product per step. For the
// duration of one backward pass, on its thread.
#include "runtime/tape/tape.h"

namespace lunagrad {

// What has arrived so far for that input of the node whose vjp runs, where it may be written to: contiguous,
// of the input's shape and type, seen by nobody else, and without a graph being recorded. Otherwise
// undefined.
Tensor running_sum(const Backward&, int input);

}  // namespace lunagrad
