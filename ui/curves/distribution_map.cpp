#include "ui/curves/distribution_map.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/figures.h"

namespace lunagrad {
namespace {

ImU32 mix(ImU32 a, ImU32 b, float share) {
  const ImVec4 from = ImGui::ColorConvertU32ToFloat4(a), to = ImGui::ColorConvertU32ToFloat4(b);
  return ImGui::ColorConvertFloat4ToU32({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share,
                                         from.z + (to.z - from.z) * share, from.w + (to.w - from.w) * share});
}

}  // namespace

void draw_distributions(const char* id, size_t count, const std::function<Distribution(size_t)>& at,
                        ImVec2 size, const DistributionColors& colors) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  size = {std::max(size.x, 8.0f), std::max(size.y, 8.0f)};
  ImGui::InvisibleButton(id, size);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, {from.x + size.x, from.y + size.y}, colors.background, 3);
  const float line = ImGui::GetTextLineHeight(), left = from.x + 4.2f * line,
              right = from.x + size.x - 0.4f * line;
  const float upper = from.y + 0.5f * line, lower = from.y + size.y - 1.5f * line;
  if (count == 0 || right - left < line || lower - upper < line) return;

  const size_t columns = std::min(count, size_t((right - left) / 3));
  const auto source = [&](size_t column) {
    return columns < 2 ? count - 1 : column * (count - 1) / (columns - 1);
  };
  // Rows are the bins of all columns: their edges are powers of 2 and quarters between them, so that large
  // values take no more space than small ones.
  std::vector<double> edges;
  for (size_t c = 0; c < columns; ++c) {
    const Distribution d = at(source(c));
    edges.insert(edges.end(), d.edges->begin(), d.edges->end());
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (edges.size() < 2) return;
  const auto row_of = [&](double edge) {
    return float(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin());
  };
  const float height = (lower - upper) / float(edges.size() - 1), width = (right - left) / float(columns);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  char tip[160] = "";
  for (size_t c = 0; c < columns; ++c) {
    const Distribution d = at(source(c));
    const int64_t most = d.counts->empty() ? 0 : *std::max_element(d.counts->begin(), d.counts->end());
    const float x = left + width * float(c);
    for (size_t i = 0; i < d.counts->size(); ++i) {
      const int64_t n = (*d.counts)[i];
      if (n == 0) continue;
      const float y0 = lower - height * row_of((*d.edges)[i + 1]),
                  y1 = lower - height * row_of((*d.edges)[i]);
      list->AddRectFilled({x, y0}, {x + width, std::max(y1, y0 + 1)},
                          mix(colors.low, colors.high, std::sqrt(float(n) / float(most))));
      if (mouse.x >= x && mouse.x < x + width && mouse.y >= y0 && mouse.y < y1)
        std::snprintf(tip, sizeof tip, "step %lld: %lld values from %.3g to %.3g",
                      static_cast<long long>(d.step), static_cast<long long>(n), (*d.edges)[i],
                      (*d.edges)[i + 1]);
    }
  }
  const auto label = [&](float y, const char* text) {
    list->AddText({left - ImGui::CalcTextSize(text).x - 0.3f * line, y - line / 2}, colors.muted, text);
  };
  // 0 is in the middle of its bin; the other labels keep a distance from it.
  const size_t above = size_t(std::upper_bound(edges.begin(), edges.end(), 0.0) - edges.begin());
  const bool has_zero = above > 0 && above < edges.size();
  const float zero = lower - height * (float(above) - 0.5f);
  if (has_zero) label(zero, "0");
  const size_t labels = std::max<size_t>(2, size_t((lower - upper) / (2 * line)));
  for (size_t i = 0; i < labels; ++i) {
    const size_t row = i * (edges.size() - 1) / (labels - 1);
    const float y = lower - height * float(row);
    if (has_zero && std::abs(y - zero) < 1.2f * line) continue;
    label(y, number_figure(edges[row], 1).c_str());
  }
  char text[40];
  std::snprintf(text, sizeof text, "step %lld", static_cast<long long>(at(0).step));
  list->AddText({left, lower + 0.3f * line}, colors.muted, text);
  if (count > 1) {
    std::snprintf(text, sizeof text, "step %lld", static_cast<long long>(at(count - 1).step));
    const float text_width = ImGui::CalcTextSize(text).x;
    if (right - left > 2.3f * text_width)
      list->AddText({right - text_width, lower + 0.3f * line}, colors.muted, text);
    const char* const legend = "stronger: more of the values";
    if (const float wide = ImGui::CalcTextSize(legend).x; right - left > wide + 2.6f * text_width)
      list->AddText({(left + right - wide) / 2, lower + 0.3f * line}, colors.muted, legend);
  }
  if (ImGui::IsItemHovered() && *tip) ImGui::SetTooltip("%s", tip);
}

}  // namespace lunagrad
