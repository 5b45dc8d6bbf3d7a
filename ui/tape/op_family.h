#pragma once
// The families that colour the ops, and one-line descriptions from the op records. Pure; any thread.
#include <string>
#include <string_view>

#include "runtime/core/op.h"
#include "script/view/tape.h"

namespace lunagrad {

OpFamily op_family(std::string_view op);  // OpFamily::other for custom ops of a script
const char* op_family_name(OpFamily);
// Explains a node without a gradient (NodeInfo::no_gradient).
constexpr const char* kNoGradient =
    "No gradient goes through it: its parameters are frozen, or the call was made with gradients switched "
    "off.";
// "gradient of relu at " for a call that computes a gradient, in front of its line, which is the line of the
// op that it differentiates; "" for any other node.
std::string differentiates(const NodeInfo&);
const char* op_doc(std::string_view op);  // one sentence; "" for leaf nodes and custom ops

}  // namespace lunagrad
