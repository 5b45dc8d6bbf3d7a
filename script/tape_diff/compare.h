#pragma once
// Compares two tapes that are named as a user names them. Errors are of kind file. No Lua; any thread.
#include <string>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// `a` and `b`: a file with the JSON of a tape, a run, or RUN:STEP. A run is its folder, or the beginning or
// end of its name in the folder `runs`. Of two runs without steps the first kept step that differs is
// compared; a run beside a step has the same step, and beside a file its latest.
TapeDiff compare_tapes(const std::string& a, const std::string& b, const std::string& runs,
                       const TapeDiffOptions&);

}  // namespace lunagrad
