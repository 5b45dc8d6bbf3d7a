#pragma once
// Writes the difference of two tapes as one HTML text that any browser shows without a server or network.
// Pure; any thread.
#include <string>

#include "script/tape_diff/difference.h"

namespace lunagrad {

std::string tape_diff_page(const TapeDiff&);

}  // namespace lunagrad
