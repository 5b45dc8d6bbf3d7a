#pragma once
// What the window's rank tells the other ranks to run: its script as it is there, and its options. As text,
// which travels between processes of one version. Pure functions.
#include <string>

#include "script/run/run.h"

namespace lunagrad {

std::string order_text(const Script&);
// Error when the text is none. The other ranks write no folder.
Script script_of_order(const std::string& text);

}  // namespace lunagrad
