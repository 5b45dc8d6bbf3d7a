#pragma once
// Whether the CPU's bf16 kernels compute a call of a family, whose operands are bf16. The shapes need not
// fit: the op checks them later. Pure, any thread.
#include "runtime/core/op.h"

namespace lunagrad {

bool is_bf16_product(const Call&);      // matmul.cpp
bool is_bf16_convolution(const Call&);  // conv.cpp

}  // namespace lunagrad
