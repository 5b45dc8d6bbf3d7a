#pragma once
// The families that colour the ops, and one-line descriptions from the op records. Pure; any thread.
#include <string_view>

namespace lunagrad {

// The numbers are indices into Theme::family.
enum class OpFamily { view, linear_algebra, elementwise, reduction, normalization, leaf, loss, other };

OpFamily op_family(std::string_view op);
const char* op_family_name(OpFamily);
const char* op_doc(std::string_view op);  // one sentence; "" if it is not an op, for example a leaf

}  // namespace lunagrad
