#pragma once
// What the shaders of groups have in common: their arguments, the functions of their members, and names.
// Pure; any thread.
#include <functional>
#include <string>

#include "gpu/fused_text.h"

namespace lunagrad::gpu {

// All that stands before main().
std::string fused_beginning(const FusedShape&);
// The first lines of main(): the addresses a0, a1 ... and the numbers n0, n1 ... as variables.
std::string fused_variables(const FusedShape&);

// "6u"
std::string type_number(DType);
// A result as the next member reads it from memory: rounded to its type. No compiler joins it with operations
// of another member.
std::string sealed(const std::string& value, DType);
// The result of an elementwise member. `operand` gives the texts of its operands.
std::string member_value(const FusedMember&, size_t i, const std::function<std::string(size_t k)>& operand);

}  // namespace lunagrad::gpu
