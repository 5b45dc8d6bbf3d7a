#pragma once
// Compares two tapes, given by the names that users write. Errors are of kind file. No Lua; any thread.
#include <functional>
#include <string>

#include "script/tape_diff/difference.h"

namespace lunagrad {

// Returns the tape of a step that a run's folder does not keep, as a line of tape.jsonl, by replaying the
// step.
using RepeatTape = std::function<std::string(const std::string& folder, int64_t step)>;

// `a` and `b`: a file with the JSON of a tape, a run, or RUN:STEP. A run is given by its folder, or by the
// beginning or end of its name in the folder `runs`. For two runs without steps, the first kept step that
// differs is compared. A run compared with a step uses the same step; a run compared with a file uses its
// latest step. A step that is not kept is replayed.
TapeDiff compare_tapes(const std::string& a, const std::string& b, const std::string& runs,
                       const TapeDiffOptions&, const RepeatTape&);

}  // namespace lunagrad
