#include "ui/widgets/icon.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace lunagrad {

void draw_icon(ImDrawList* list, Icon icon, ImVec2 a, float s, ImU32 color) {
  switch (icon) {
    case Icon::play:
      list->AddTriangleFilled({a.x + s * 0.12f, a.y}, {a.x + s * 0.12f, a.y + s}, {a.x + s, a.y + s / 2},
                              color);
      break;
    case Icon::pause:
      list->AddRectFilled({a.x + s * 0.1f, a.y}, {a.x + s * 0.38f, a.y + s}, color);
      list->AddRectFilled({a.x + s * 0.62f, a.y}, {a.x + s * 0.9f, a.y + s}, color);
      break;
    case Icon::step:
      list->AddTriangleFilled({a.x, a.y}, {a.x, a.y + s}, {a.x + s * 0.68f, a.y + s / 2}, color);
      list->AddRectFilled({a.x + s * 0.74f, a.y}, {a.x + s * 0.98f, a.y + s}, color);
      break;
    case Icon::step_op:
      list->AddTriangleFilled({a.x, a.y + s * 0.15f}, {a.x, a.y + s * 0.85f}, {a.x + s * 0.5f, a.y + s / 2},
                              color);
      list->AddCircleFilled({a.x + s * 0.8f, a.y + s / 2}, s * 0.18f, color);
      break;
    case Icon::stop:
      list->AddRectFilled({a.x + s * 0.08f, a.y + s * 0.08f}, {a.x + s * 0.92f, a.y + s * 0.92f}, color);
      break;
    case Icon::restart: {
      const ImVec2 c{a.x + s / 2, a.y + s / 2};
      const float r = s * 0.42f, end = 5.3f;
      list->PathArcTo(c, r, 0.3f, end, 24);
      list->PathStroke(color, 0, std::max(1.5f, s * 0.14f));
      const ImVec2 tip{c.x + r * std::cos(end), c.y + r * std::sin(end)};
      list->AddTriangleFilled({tip.x - s * 0.3f, tip.y + s * 0.02f}, {tip.x + s * 0.22f, tip.y - s * 0.3f},
                              {tip.x + s * 0.24f, tip.y + s * 0.26f}, color);
      break;
    }
    case Icon::menu:
      for (const float y : {0.12f, 0.44f, 0.76f})
        list->AddRectFilled({a.x, a.y + s * y}, {a.x + s, a.y + s * (y + 0.12f)}, color);
      break;
  }
}

void draw_star(ImDrawList* list, ImVec2 middle, float radius, bool filled, ImU32 color) {
  std::array<ImVec2, 10> points;
  for (size_t i = 0; i < points.size(); ++i) {
    const float angle = float(i) * 0.6283185f - 1.5707963f, r = i % 2 ? radius * 0.45f : radius;
    points[i] = {middle.x + r * std::cos(angle), middle.y + r * std::sin(angle)};
  }
  if (filled)
    for (size_t i = 0; i < points.size(); ++i)
      list->AddTriangleFilled(middle, points[i], points[(i + 1) % 10], color);
  else
    list->AddPolyline(points.data(), 10, color, ImDrawFlags_Closed, 1);
}

}  // namespace lunagrad
