#pragma once
// The layout of a graph from left to right: layers are columns. A source that only one box reads is placed
// above or below that box, not in a column of its own. Pure; any thread.
#include "ui/graph/layout.h"

namespace lunagrad {

// Returns an empty layout when stopped.
GraphLayout layout_sideways(const Graph&, std::stop_token = {});

}  // namespace lunagrad
