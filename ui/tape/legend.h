#pragma once
// The legend of a tape's colours, below the sheet. Drawing thread only.
#include <imgui.h>

#include <string>

#include "ui/graph/canvas.h"
#include "ui/tape/metric.h"
#include "ui/tape/node_marks.h"

namespace lunagrad {

// At most two rows, and the same number for each tape: the sheet keeps its size when a module is opened.
float legend_height(float width);

// Draws the kinds of `alarms` that some node has, the op families in the picture, and the mark of groups if
// the picture shows some. Entries that do not fit are replaced by "...". `alarms` may be null. Returns the
// names.
std::string draw_family_legend(const CanvasGraph&, const NodeMarks* alarms, bool groups, ImVec2 corner,
                               float width);
// Draws the kinds of marks with their signs, in decreasing order of weight.
std::string draw_marks_legend(const NodeMarks&, ImVec2 corner, float width);
// Draws the quantity, and the colours from its least to its greatest value.
std::string draw_heat_legend(const TapeMetric&, const HeatScale&, ImVec2 corner, float width);

}  // namespace lunagrad
