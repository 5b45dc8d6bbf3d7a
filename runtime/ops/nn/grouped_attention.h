#pragma once
// The record of attention whose queries have more heads than keys and values. Any thread.
#include "runtime/core/op.h"

namespace lunagrad {

const Op& grouped_attention_op();

}  // namespace lunagrad
