#include "ui/curves/dashes.h"

#include <cmath>

namespace lunagrad {

const float* dash_pattern(int dash) {
  static constexpr float patterns[][4] = {{8, 5, 8, 5}, {2, 4, 2, 4}, {11, 4, 3, 4}};
  return dash <= 0 ? nullptr : patterns[(dash - 1) % 3];
}

void draw_dashed(ImDrawList* list, const std::vector<ImVec2>& points, ImU32 color, float width, int dash) {
  if (points.size() < 2) return;
  const float* pattern = dash_pattern(dash);
  if (!pattern) {
    list->AddPolyline(points.data(), int(points.size()), color, 0, width);
    return;
  }
  // A line that oscillates within each pixel column is dashed along x: if dashed along its length, its gaps
  // would be at arbitrary places.
  const bool dense = float(points.size()) > 1.2f * std::abs(points.back().x - points.front().x) + 2;
  static std::vector<ImVec2> run;  // the points of the current dash
  run.assign(1, points[0]);
  int part = 0;
  float left = pattern[0];
  for (size_t i = 1; i < points.size(); ++i) {
    ImVec2 a = points[i - 1];
    const ImVec2 b = points[i];
    float length = dense ? std::abs(b.x - a.x) : std::hypot(b.x - a.x, b.y - a.y);
    while (length > left) {
      a = {a.x + (b.x - a.x) * left / length, a.y + (b.y - a.y) * left / length};
      length -= left;
      if (part % 2 == 0) {
        run.push_back(a);
        list->AddPolyline(run.data(), int(run.size()), color, 0, width);
      }
      run.assign(1, a);
      part = (part + 1) % 4;
      left = pattern[part];
    }
    left -= length;
    if (part % 2 == 0) run.push_back(b);
  }
  if (part % 2 == 0 && run.size() > 1) list->AddPolyline(run.data(), int(run.size()), color, 0, width);
}

}  // namespace lunagrad
