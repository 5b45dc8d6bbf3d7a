#pragma once
// The limits of a run in a sandbox, from its options. Called before its session starts.
#include <string>

#include "script/guard/guard.h"
#include "script/view/run.h"

namespace lunagrad {

// Of Lua's heap and the tensors, and of the files: bytes, 0 = no limit.
size_t memory_of(const RunOptions&);
size_t disk_of(const RunOptions&);

// Adds what the run reads and writes. Makes its folder, whose name `options` then have: the kernel limits
// folders that exist. `many`: further runs follow in the same process, each in a folder beside the others.
void add_run_limits(GuardLimits&, const std::string& script, RunOptions& options, bool many);

// What to tell the user about GuardReport::missing; "" when nothing is missing.
std::string unguarded_sentence(const std::vector<std::string>& missing);

}  // namespace lunagrad
