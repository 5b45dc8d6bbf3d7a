#pragma once
// The nodes of a tape that an error is about. Pure; any thread.
#include <string>
#include <vector>

#include "script/view/tape.h"

namespace lunagrad {

// The nodes that an error message refers to: the nodes of its line, or of the lines that it names. If some of
// them have the op that the message names, only these.
std::vector<int> failing_nodes(const TapeSnapshot&, const std::string& message, const SourcePlace&);

}  // namespace lunagrad
