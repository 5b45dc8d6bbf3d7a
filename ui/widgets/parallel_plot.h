#pragma once
// Draws parallel coordinates. A line under the pointer stands out. Drawing thread only.
#include <imgui.h>

#include <optional>
#include <set>

#include "ui/base/description.h"
#include "ui/base/parallel.h"

namespace lunagrad {

// Sources of lines.
struct ParallelPick {
  std::optional<size_t> under, clicked;  // the pointer is over it, and pressed it
};
// `chosen` are sources of lines, too; `name` is that of the items in the description, NAME.axis and
// NAME.line.
ParallelPick draw_parallel_plot(const char* name, const ParallelPlot&, const std::set<size_t>& chosen,
                                ImVec2 size, Description&);

}  // namespace lunagrad
