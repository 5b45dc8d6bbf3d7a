#pragma once
// The legend of a tape's colours, drawn over the sheet. Drawing thread only.
#include <imgui.h>

#include <functional>
#include <string>

#include "ui/graph/canvas.h"
#include "ui/tape/metric.h"

namespace lunagrad {

struct Legend {
  std::string text;
  ImVec2 min, max;
};
// The upper left corner for a legend of that size.
using LegendPlace = std::function<ImVec2(ImVec2 size)>;

// The op families in the picture: one below the other, or beside each other up to that width where the
// picture lies on its side.
Legend draw_family_legend(const CanvasGraph&, float width, const LegendPlace&);
Legend draw_heat_legend(const TapeMetric&, const HeatScale&, const LegendPlace&);

}  // namespace lunagrad
