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

Legend draw_family_legend(const CanvasGraph& graph, float most_width, const LegendPlace& place) {
  struct Entry {
    std::string name;
    ImU32 color;
    bool pile = false;
    ImVec2 at{};  // from the corner
  };
  std::vector<Entry> entries;
  for (size_t f = 0; f < theme().family.size(); ++f)
    if (graph.colors_used >> f & 1) entries.push_back({op_family_name(OpFamily(f)), theme().family[f]});
  if (graph.piles) entries.push_back({"closed modules", theme().family[size_t(OpFamily::other)], true});
  const float pad = em(0.5f), swatch = em(0.8f);
  ImVec2 at{pad, pad / 2}, size{0, 0};
  for (Entry& entry : entries) {
    const float width = swatch + pad + ImGui::CalcTextSize(entry.name.c_str()).x;
    if (at.x > pad && (!graph.layout.sideways || at.x + width + pad > most_width))
      at = {pad, at.y + line_height()};
    entry.at = at;
    size = {std::max(size.x, at.x + width + pad), at.y + line_height() + pad / 2};
    at.x += width + 2 * pad;
  }
  Legend legend = begin(place, size);
  ImDrawList* list = ImGui::GetWindowDrawList();
  for (const auto& [name, color, pile, from] : entries) {
    const ImVec2 low{legend.min.x + from.x, legend.min.y + from.y + em(0.2f)};
    const float behind = em(0.15f);
    if (pile)
      list->AddRect({low.x + behind, low.y + behind}, {low.x + swatch + behind, low.y + swatch + behind},
                    color, 2);
    list->AddRectFilled(low, {low.x + swatch, low.y + swatch}, color, 2);
    list->AddText({low.x + swatch + pad, legend.min.y + from.y}, theme().muted, name.c_str());
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
