#pragma once
// The order that the window's rank sends to the other ranks: the text of its script and its options, as bytes
// for processes of the same version. Pure functions.
#include <string>

#include "script/run/run.h"

namespace lunagrad {

std::string order_text(const Script&);
// Error when the bytes are not an order. The returned script writes no run folder.
Script script_of_order(const std::string& bytes);

}  // namespace lunagrad
