#pragma once
// The families in which ops are coloured, and what their records say of them. Pure; any thread.
#include <string_view>

namespace lunagrad {

// The numbers index Theme::family.
enum class OpFamily { view, linear_algebra, elementwise, reduction, normalization, leaf, loss, other };

OpFamily op_family(std::string_view op);
const char* op_family_name(OpFamily);
const char* op_doc(std::string_view op);  // one sentence; "" for what is no op, as a leaf

}  // namespace lunagrad
