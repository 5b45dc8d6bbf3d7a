#pragma once
// What the window's rank tells the other ranks to run: its script as it is there, and its options. As bytes,
// which travel between processes of one version. Pure functions.
#include <string>

#include "script/run/run.h"

namespace lunagrad {

std::string order_text(const Script&);
// Error when they are none. The other ranks write no folder.
Script script_of_order(const std::string& bytes);

}  // namespace lunagrad
