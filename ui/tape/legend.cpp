#include "ui/tape/legend.h"

#include <algorithm>
#include <vector>

#include "ui/tape/op_family.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

struct Entry {
  std::string name;
  ImU32 color;
  bool pile = false, band = false;
  const char* sign = nullptr;
};

float pad() { return em(0.5f); }
float swatch() { return em(0.8f); }
float line_height() { return em(1.25f); }
float text_width(const std::string& text) { return ImGui::CalcTextSize(text.c_str()).x; }
float entry_width(const Entry& entry) { return swatch() + text_width(entry.name) + 3 * pad(); }

// Families are bits of `shown`.
std::vector<Entry> entries(uint32_t shown, bool piles, bool groups) {
  std::vector<Entry> found;
  for (size_t f = 0; f < theme().family.size(); ++f)
    if (shown >> f & 1) found.push_back({op_family_name(OpFamily(f)), theme().family[f]});
  if (groups) found.push_back({"computed together", theme().accent, false, true});
  if (piles) found.push_back({"closed modules", theme().family[size_t(OpFamily::other)], true});
  return found;
}

int rows(float width) {
  float all = pad() + text_width("...");  // computed as draw_family_legend does
  for (const Entry& entry : entries(~0u, true, true)) all += entry_width(entry);
  return all < width ? 1 : 2;
}

std::string draw_entries(const std::vector<Entry>& entries, ImVec2 corner, float width) {
  const float behind = em(0.15f), left = corner.x + pad(), right = corner.x + width;
  const int last = rows(width) - 1;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImVec2 at{left, corner.y + em(0.2f)};
  int row = 0;
  std::string text;
  for (const Entry& entry : entries) {
    text += text.empty() ? entry.name : ", " + entry.name;
    if (row > last) continue;
    const float reserved = row == last ? text_width("...") : 0;
    if (at.x + entry_width(entry) + reserved > right) {
      if (++row > last) {
        list->AddText(at, theme().muted, "...");
        continue;
      }
      at = {left, at.y + line_height()};
    }
    const ImVec2 low{at.x, at.y + em(0.2f)}, high{low.x + swatch(), low.y + swatch()};
    if (entry.pile)
      list->AddRect({low.x + behind, low.y + behind}, {high.x + behind, high.y + behind}, entry.color, 2);
    list->AddRectFilled(low, high, entry.band ? blend(theme().canvas, entry.color, 0.18f) : entry.color, 2);
    if (entry.band) list->AddRect(low, high, blend(theme().canvas, entry.color, 0.55f), 2);
    if (entry.sign)
      list->AddText(
          fonts().bold, swatch(),
          {low.x + (swatch() - fonts().bold->CalcTextSizeA(swatch(), FLT_MAX, 0, entry.sign).x) / 2, low.y},
          theme().canvas, entry.sign);
    list->AddText({high.x + pad(), at.y}, theme().muted, entry.name.c_str());
    at.x += entry_width(entry);
  }
  return text;
}

}  // namespace

float legend_height(float width) { return float(rows(width)) * line_height() + em(0.25f); }

std::string draw_family_legend(const CanvasGraph& graph, const NodeMarks* alarms, bool groups, ImVec2 corner,
                               float width) {
  std::vector<Entry> all;
  for (size_t k = alarms ? alarms->kinds.size() : 0; k-- > 0;)
    if (std::find(alarms->of.begin(), alarms->of.end(), int(k)) != alarms->of.end())
      all.push_back(
          {.name = alarms->kinds[k].name, .color = alarms->kinds[k].color(), .sign = alarms->kinds[k].sign});
  const std::vector<Entry> families = entries(graph.colors_used, graph.piles, groups);
  all.insert(all.end(), families.begin(), families.end());
  return draw_entries(all, corner, width);
}

std::string draw_marks_legend(const NodeMarks& marks, ImVec2 corner, float width) {
  std::vector<Entry> kinds;
  for (auto kind = marks.kinds.rbegin(); kind != marks.kinds.rend(); ++kind)
    kinds.push_back({.name = kind->name, .color = kind->color(), .sign = kind->sign});
  return draw_entries(kinds, corner, width);
}

std::string draw_heat_legend(const TapeMetric& metric, const HeatScale& scale, ImVec2 corner, float width) {
  const std::string head = std::string(metric.name) + ", logarithmic";
  const std::string least = metric.text(scale.least), most = metric.text(scale.most);
  const float words = text_width(head) + text_width(least) + text_width(most) + 5 * pad();
  const float bar = std::clamp(width - words, em(1), em(8)), top = corner.y + em(0.2f);
  ImDrawList* list = ImGui::GetWindowDrawList();
  float x = corner.x + pad();
  const auto add = [&](const std::string& text, ImU32 color) {
    list->AddText({x, top}, color, text.c_str());
    x += text_width(text) + pad();
  };
  add(head, theme().text);
  add(least, theme().muted);
  const ImU32 low = GraphCanvas::heat_color(theme().panel, theme().warning, 0);
  const ImU32 high = GraphCanvas::heat_color(theme().panel, theme().warning, 1);
  list->AddRectFilledMultiColor({x, top + em(0.15f)}, {x + bar, top + em(0.95f)}, low, high, high, low);
  x += bar + pad();
  add(most, theme().muted);
  return head + ", " + least + " to " + most;
}

}  // namespace lunagrad
