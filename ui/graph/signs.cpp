// Draws the signs at the corners of a box, where they do not cover its name.
#include <algorithm>
#include <cmath>

#include "ui/graph/canvas.h"
#include "ui/graph/measures.h"
#include "ui/window/theme.h"

namespace lunagrad {

void GraphCanvas::draw_signs(const View& view, const Mark& mark, ImVec2 min, ImVec2 max) const {
  const float arm = std::max(3.0f, 4 * zoom_), radius = 2 * arm;
  if (mark.failed) {
    const float line = std::max(1.5f, 2 * zoom_);
    const ImVec2 at{max.x, min.y};
    view.list->AddCircleFilled(at, radius, view.colors.bad);
    view.list->AddLine({at.x - arm, at.y - arm}, {at.x + arm, at.y + arm}, view.colors.box, line);
    view.list->AddLine({at.x - arm, at.y + arm}, {at.x + arm, at.y - arm}, view.colors.box, line);
  }
  if (!mark.sign) return;
  const Fonts::Label label = fonts().label(true, 1.7f * radius, mark.sign);
  const float disc = std::max(radius, 0.62f * label.size);
  const ImVec2 at{min.x, min.y};
  view.list->AddCircleFilled(at, disc, mark.color);
  view.list->AddText(label.font, label.size,
                     {std::round(at.x - label.width(mark.sign) / 2), std::round(at.y - label.size / 2)},
                     view.colors.box, mark.sign);
}

}  // namespace lunagrad
