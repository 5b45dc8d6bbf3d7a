#pragma once
// The output of `run --leaks` at the end of a run. For the main thread.
#include <string>

#include "script/view/leaks.h"

namespace lunagrad {

// A line for each owner with what it holds, then advice for each on what to write instead. Null: no step
// ended.
std::string leak_table(const LeakReport*);
// The same as lines of JSON: one for each leak, and one with their number.
std::string leak_lines(const LeakReport*);

}  // namespace lunagrad
