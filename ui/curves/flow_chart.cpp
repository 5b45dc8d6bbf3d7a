#include "ui/curves/flow_chart.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/window/tooltip.h"

namespace lunagrad {

int draw_flow_chart(const char* id, const std::vector<FlowStage>& stages, int selected, ImVec2 size,
                    const FlowColors& colors) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  size = {std::max(size.x, 8.0f), std::max(size.y, 8.0f)};
  const bool pressed = ImGui::InvisibleButton(id, size);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, colors.background, 3);
  double low = INFINITY, high = 0;
  for (const FlowStage& stage : stages) {
    if (stage.mean > 0 && std::isfinite(stage.mean)) low = std::min(low, stage.mean);
    if (std::isfinite(stage.max)) high = std::max(high, stage.max);
  }
  if (stages.empty() || !(high > 0)) return -1;
  low = std::max(std::min(low, high), high * 1e-12);
  const double bottom = std::floor(std::log10(low)), top = std::max(std::ceil(std::log10(high)), bottom + 1);
  const float line = ImGui::GetTextLineHeight(), left = at.x + 3.6f * line,
              right = at.x + size.x - 0.4f * line;
  const float upper = at.y + 0.5f * line, lower = at.y + size.y - 1.5f * line;
  if (right - left < line || lower - upper < line) return -1;
  const auto y_of = [&](double value) {
    const double share = value > 0 ? (std::log10(value) - bottom) / (top - bottom) : 0;
    return lower - float(std::clamp(share, 0.0, 1.0)) * (lower - upper);
  };
  const int most = std::max(1, int((lower - upper) / (1.4f * line)));
  const int each = std::max(1, int(std::ceil((top - bottom) / most)));
  for (int power = int(bottom); power <= int(top); power += each) {
    const float y = y_of(std::pow(10.0, power));
    char label[16];
    std::snprintf(label, sizeof label, "1e%d", power);
    list->AddLine({left, y}, {right, y}, colors.grid);
    list->AddText({left - ImGui::CalcTextSize(label).x - 0.3f * line, y - line / 2}, colors.muted, label);
  }
  list->AddText({left, lower + 0.3f * line}, colors.muted, "input");
  const float end = ImGui::CalcTextSize("loss").x;
  list->AddText({right - end, lower + 0.3f * line}, colors.muted, "loss");
  const char* const legend = "bar: mean to largest |gradient| of each op";
  if (const float width = ImGui::CalcTextSize(legend).x; width < right - left - 8 * line)
    list->AddText({(left + right - width) / 2, lower + 0.3f * line}, colors.muted, legend);

  const float step = (right - left) / float(stages.size());
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsItemHovered();
  int under = -1;
  if (hovered && mouse.x >= left && mouse.x < right)
    under = std::min(int((mouse.x - left) / step), int(stages.size()) - 1);
  const float gap = step > 4 ? step * 0.15f : 0;
  for (size_t i = 0; i < stages.size(); ++i) {
    const FlowStage& stage = stages[i];
    const float x0 = left + step * float(i) + gap, x1 = std::max(left + step * float(i + 1) - gap, x0 + 1);
    if (int(i) == selected || int(i) == under)
      list->AddRectFilled({x0 - gap, upper}, {x1 + gap, lower},
                          int(i) == selected ? colors.selected : colors.grid);
    if (stage.alarm) {
      // Hatched, so that colour is not the only sign.
      list->AddRect({x0, upper}, {x1, lower}, colors.alarm);
      for (float y = upper; y < lower; y += line / 2)
        list->AddLine({x0, y + (x1 - x0)}, {x1, y}, colors.alarm);
    } else if (stage.max > 0) {
      list->AddRectFilled({x0, y_of(stage.max)}, {x1, std::max(y_of(stage.mean), y_of(stage.max) + 1)},
                          colors.max);
      list->AddRectFilled({x0, y_of(stage.mean) - 1}, {x1, y_of(stage.mean) + 1}, colors.mean);
    } else {
      list->AddText({(x0 + x1) / 2 - 0.25f * line, lower - line}, colors.alarm, "0");
    }
  }
  if (under >= 0) {
    const FlowStage& stage = stages[size_t(under)];
    char figures[80];
    std::snprintf(figures, sizeof figures, "\nmean |gradient| %.3g, largest %.3g", stage.mean, stage.max);
    const float x = left + step * float(under);
    show_tip(stage.name + figures + (stage.alarm ? "\nholds NaN or Inf" : ""),
             {.area = {{x, upper}, {x + step, lower}}, .aside = true});
  }
  return pressed ? under : -1;
}

}  // namespace lunagrad
