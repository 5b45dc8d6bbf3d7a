#pragma once
// Whether the CPU's kernels compute a call with 16-bit operands of one type: of bf16 products, of any type
// for pairs of rows. The shapes need not fit: the op checks them later. Pure, any thread.
#include "runtime/core/op.h"

namespace lunagrad {

bool is_bf16_product(const Call&);      // matmul.cpp
bool is_bf16_convolution(const Call&);  // conv.cpp
bool is_pairs_of_rows(const Call&);     // linalg/cdist.cpp: cdist, pdist and their gradients

}  // namespace lunagrad
