#pragma once
// What the numbers that a script writes mean for a tensor: values that its type can hold, and indices that
// count from its end. For the thread that owns the tensors.
#include "runtime/op.h"

namespace lunagrad {

// Error unless the number can be written into a tensor of the type: an integer type must hold it, once the
// fraction of a real number is cut. As in PyTorch a negative integer above -256 wraps around in u8. Other
// types take every number.
void check_converts(const char* op, DType, const Value&);
// The number that an operand of a call holds.
Value value_of(const Tensor& number);

// The indices with negative ones, which count from the end of `size` elements, replaced. What is out of range
// stays as it is, for the message of the op that reads the indices (ops/scatter.cpp).
Tensor indices_from_front(const Tensor& indices, int64_t size);

}  // namespace lunagrad
