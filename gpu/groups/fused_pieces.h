#pragma once
// Parts that the shaders of all groups share: arguments, the functions of the members, and names. Pure; any
// thread.
#include <functional>
#include <string>

#include "gpu/groups/fused_shape.h"

namespace lunagrad::gpu {

// The text before main().
std::string fused_beginning(const FusedShape&);
// The first lines of main(): the addresses a0, a1 ... and the numbers n0, n1 ... as variables.
std::string fused_variables(const FusedShape&);

// Returns for example "6u".
std::string type_number(DType);
// A result as the next member reads it from memory: rounded to its type. The compiler does not contract it
// with operations of another member.
std::string opaque(const std::string& value, DType);
// The result of an elementwise member. `operand` returns the text of an operand.
std::string member_value(const FusedMember&, size_t i, const std::function<std::string(size_t k)>& operand);

}  // namespace lunagrad::gpu
