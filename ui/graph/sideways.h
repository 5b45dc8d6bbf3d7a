#pragma once
// The layout of a graph from left to right: layers are columns, and the sources of a box that nothing else
// reads stand above and below it instead of in a column of their own. Pure; any thread.
#include "ui/graph/layout.h"

namespace lunagrad {

// Empty when stopped.
GraphLayout layout_sideways(const Graph&, std::stop_token = {});

}  // namespace lunagrad
