#pragma once
// A long layout from left to right in several rows, one below the other, each from left to right. A line that
// goes on in the next row leaves its row on the right, runs between the rows, and enters on the left. Pure;
// any thread; deterministic.
#include <cstdint>

#include "ui/graph/layout.h"

namespace lunagrad {

// Rows of a layout of layout_sideways() with boxes of these sizes, each at most `widest` long if possible;
// the number of rows is the least, and the rows are about equally long. A row ends only where few tensors go
// on, so that branches stay together. The layout itself if it is short, has no such place, or one column is
// most of it.
GraphLayout wrap_rows(const Graph&, const GraphLayout& sideways, float widest);

// The picture mirrored at the diagonal: from left to right becomes from top to bottom, and vice versa.
Graph turned(Graph);
GraphLayout turned(GraphLayout);

}  // namespace lunagrad
