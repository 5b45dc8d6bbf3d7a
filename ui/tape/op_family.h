#pragma once
// The families that colour the ops, and one-line descriptions from the op records. Pure; any thread.
#include <string_view>

#include "runtime/core/op.h"

namespace lunagrad {

OpFamily op_family(std::string_view op);  // OpFamily::other for custom ops of a script
const char* op_family_name(OpFamily);
const char* op_doc(std::string_view op);  // one sentence; "" for leaf nodes and custom ops

}  // namespace lunagrad
