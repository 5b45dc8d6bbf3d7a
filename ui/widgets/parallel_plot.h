#pragma once
// Draws parallel coordinates. A line under the pointer stands out. Dragging along an axis brushes it: selects
// a part of it; a click on a brushed axis clears it. The caller keeps the brushes. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <set>

#include "ui/base/description.h"
#include "ui/base/parallel.h"

namespace lunagrad {

// Sources of the picked lines.
struct ParallelPick {
  std::optional<size_t> under, clicked;  // the line under the mouse, the clicked line
  // A part of an axis, from one place to another, while it is brushed; `done` when the button is released.
  struct Brush {
    size_t axis = 0;
    double low = 0, high = 1;
    bool done = false;
  };
  std::optional<Brush> brush;
  std::optional<size_t> cleared;  // the axis whose brush was clicked away
};
// `chosen` contains sources of lines, too. In the description the items are called NAME.line, NAME.axis (the
// title of an axis), NAME.track (its length) and NAME.brush, where NAME is `name`.
ParallelPick draw_parallel_plot(const char* name, const ParallelPlot&, const std::set<size_t>& chosen,
                                ImVec2 size, Description&);

}  // namespace lunagrad
