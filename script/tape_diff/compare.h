#pragma once
// Compares two tapes that are named as a user names them. Errors are of kind file. No Lua; any thread.
#include <functional>
#include <string>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// Gives the tape of a step that a run's folder does not keep, by repeating it: a line as of tape.jsonl.
using RepeatTape = std::function<std::string(const std::string& folder, int64_t step)>;

// `a` and `b`: a file with the JSON of a tape, a run, or RUN:STEP. A run is its folder, or the beginning or
// end of its name in the folder `runs`. Of two runs without steps the first kept step that differs is
// compared; a run beside a step has the same step, and beside a file its latest. A step that is not kept is
// repeated.
TapeDiff compare_tapes(const std::string& a, const std::string& b, const std::string& runs,
                       const TapeDiffOptions&, const RepeatTape&);

}  // namespace lunagrad
