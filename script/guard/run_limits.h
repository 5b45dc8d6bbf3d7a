#pragma once
// The limits of a sandboxed run, from its options. Called before its session starts.
#include <string>
#include <vector>

#include "script/guard/guard_limits.h"
#include "script/view/run.h"

namespace lunagrad {

// Limits for Lua's heap and the tensors, and for files: bytes, 0 = no limit.
size_t memory_of(const RunOptions&);
size_t disk_of(const RunOptions&);

// Adds the places that the run reads and writes. Makes the run folder and sets its name in `options`, since
// the kernel limits only folders that exist. `many`: more runs follow in the same process, each in a sibling
// folder.
void add_run_limits(GuardLimits&, const std::string& script, RunOptions& options, bool many);

// The message to the user about GuardReport::missing; "" when nothing is missing.
std::string unguarded_sentence(const std::vector<std::string>& missing);

}  // namespace lunagrad
