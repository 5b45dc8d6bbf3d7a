#pragma once
// Draws parallel coordinates. A line under the pointer stands out. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <set>

#include "ui/base/description.h"
#include "ui/base/parallel.h"

namespace lunagrad {

// Sources of the picked lines.
struct ParallelPick {
  std::optional<size_t> under, clicked;  // the line under the mouse, the clicked line
};
// `chosen` contains sources of lines, too. In the description the items are called NAME.axis and NAME.line,
// where NAME is `name`.
ParallelPick draw_parallel_plot(const char* name, const ParallelPlot&, const std::set<size_t>& chosen,
                                ImVec2 size, Description&);

}  // namespace lunagrad
