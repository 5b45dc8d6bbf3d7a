#pragma once
// What the colours of a tape mean, drawn over the sheet's lower left corner. Drawing thread only.
#include <imgui.h>

#include <string>

#include "ui/tape_metric.h"
#include "ui/widgets/graph_canvas.h"

namespace lunagrad {

struct Legend {
  std::string text;
  ImVec2 min, max;
};
// `corner` is the legend's lower left one. The families of ops that the picture has:
Legend draw_family_legend(const CanvasGraph&, ImVec2 corner);
Legend draw_heat_legend(const TapeMetric&, const HeatScale&, ImVec2 corner);

}  // namespace lunagrad
