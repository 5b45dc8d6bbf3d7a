#include "ui/tape/legend.h"

#include <algorithm>
#include <vector>

#include "ui/tape/op_family.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

float line_height() { return em(1.25f); }

// Draws the background of a legend of that size.
Legend begin(const LegendPlace& place, ImVec2 size) {
  const ImVec2 corner = place(size);
  Legend legend{"", corner, {corner.x + size.x, corner.y + size.y}};
  ImGui::GetWindowDrawList()->AddRectFilled(legend.min, legend.max, with_alpha(theme().panel, 0.9f),
                                            em(0.3f));
  return legend;
}

}  // namespace

Legend draw_family_legend(const CanvasGraph& graph, const LegendPlace& place) {
  struct Row {
    std::string name;
    ImU32 color;
    bool pile;
  };
  std::vector<Row> rows;
  for (size_t f = 0; f < theme().family.size(); ++f)
    if (graph.colors_used >> f & 1) rows.push_back({op_family_name(OpFamily(f)), theme().family[f], false});
  if (graph.piles) rows.push_back({"closed modules", theme().family[size_t(OpFamily::other)], true});
  float width = 0;
  for (const Row& row : rows) width = std::max(width, ImGui::CalcTextSize(row.name.c_str()).x);
  const float pad = em(0.5f), swatch = em(0.8f);
  Legend legend = begin(place, {width + swatch + 3 * pad, line_height() * float(rows.size()) + pad});
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImVec2 at{legend.min.x + pad, legend.min.y + pad / 2};
  for (const auto& [name, color, pile] : rows) {
    const float behind = em(0.15f);
    if (pile)
      list->AddRect({at.x + behind, at.y + em(0.2f) + behind},
                    {at.x + swatch + behind, at.y + em(0.2f) + swatch + behind}, color, 2);
    list->AddRectFilled({at.x, at.y + em(0.2f)}, {at.x + swatch, at.y + em(0.2f) + swatch}, color, 2);
    list->AddText({at.x + swatch + pad, at.y}, theme().muted, name.c_str());
    at.y += line_height();
    legend.text += legend.text.empty() ? name : ", " + name;
  }
  return legend;
}

Legend draw_heat_legend(const TapeMetric& metric, const HeatScale& scale, const LegendPlace& place) {
  const std::string head = std::string(metric.name) + ", logarithmic";
  const std::string least = metric.text(scale.least), most = metric.text(scale.most);
  const float pad = em(0.5f), width = em(12), line = line_height();
  Legend legend = begin(place, {width + 2 * pad, 3 * line + pad});
  legend.text = head + ", " + least + " to " + most;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImVec2 at{legend.min.x + pad, legend.min.y + pad / 2};
  list->AddText(at, theme().text, head.c_str());
  const ImU32 low = GraphCanvas::heat_color(theme().panel, theme().warning, 0);
  const ImU32 high = GraphCanvas::heat_color(theme().panel, theme().warning, 1);
  list->AddRectFilledMultiColor({at.x, at.y + line + em(0.1f)}, {at.x + width, at.y + 2 * line - em(0.1f)},
                                low, high, high, low);
  list->AddText({at.x, at.y + 2 * line}, theme().muted, least.c_str());
  list->AddText({at.x + width - ImGui::CalcTextSize(most.c_str()).x, at.y + 2 * line}, theme().muted,
                most.c_str());
  return legend;
}

}  // namespace lunagrad
