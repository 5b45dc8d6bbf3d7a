#pragma once
// The family of an op by its name, which decides the op's colour, and the sentence of its record. Pure; any
// thread.
#include <string_view>

#include "runtime/op.h"

namespace lunagrad {

OpFamily op_family(std::string_view op);  // of an op of a script: other
const char* op_family_name(OpFamily);
const char* op_doc(std::string_view op);  // "" for leaf nodes and ops of a script

}  // namespace lunagrad
