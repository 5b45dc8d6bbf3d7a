#pragma once
// What the numbers that a script writes mean for a tensor: values that its dtype can hold, and indices that
// count from its end. For the tensors' thread.
#include "runtime/core/op.h"

namespace lunagrad {

// Error unless the number can be written into a tensor of the dtype. An integer dtype must hold it after the
// fraction of a real number is cut. As in PyTorch a negative integer above -256 wraps around in u8. Other
// dtypes take every number.
void check_converts(const char* op, DType, const Value&);
// The value of a call's operand that holds a number.
Value value_of(const Tensor& number);

// Replaces negative indices, which count from the end of `size` elements. An index out of range stays, so
// that the op that reads the indices reports it (ops/index/scatter.cpp).
Tensor indices_from_front(const Tensor& indices, int64_t size);

}  // namespace lunagrad
