#include "ui/curves/distribution_map.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "runtime/core/figures.h"
#include "ui/base/counted.h"
#include "ui/window/tooltip.h"

namespace lunagrad {
namespace {

ImU32 mix(ImU32 a, ImU32 b, float share) {
  const ImVec4 from = ImGui::ColorConvertU32ToFloat4(a), to = ImGui::ColorConvertU32ToFloat4(b);
  return ImGui::ColorConvertFloat4ToU32({from.x + (to.x - from.x) * share, from.y + (to.y - from.y) * share,
                                         from.z + (to.z - from.z) * share, from.w + (to.w - from.w) * share});
}

}  // namespace

std::optional<float> draw_distributions(const char* id, size_t count,
                                        const std::function<Distribution(size_t)>& at, ImVec2 size,
                                        const DistributionColors& colors,
                                        const std::optional<ChartCursor>& cursor) {
  const ImVec2 from = ImGui::GetCursorScreenPos();
  size = {std::max(size.x, 8.0f), std::max(size.y, 8.0f)};
  ImGui::InvisibleButton(id, size);
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled(from, {from.x + size.x, from.y + size.y}, colors.background, 3);
  const float line = ImGui::GetTextLineHeight(), left = from.x + 4.2f * line,
              right = from.x + size.x - 0.4f * line;
  const float upper = from.y + 0.5f * line, lower = from.y + size.y - 1.5f * line;
  if (count == 0 || right - left < line || lower - upper < line) return std::nullopt;

  // A column reaches from its step to the next one; where columns would be too close, the later ones are left
  // out.
  struct Column {
    size_t source;
    float low, high;
  };
  constexpr float kNarrowest = 2;
  const double first_step = double(at(0).step);
  const double span = double(at(count - 1).step) - first_step;
  // The last column has the average width of the others.
  const double per_step = double(right - left) / (span + (count > 1 ? span / double(count - 1) : 1));
  std::vector<Column> columns;
  for (size_t i = 0; i < count; ++i) {
    const float x = left + float((double(at(i).step) - first_step) * per_step);
    if (!columns.empty() && x - columns.back().low < kNarrowest) continue;
    if (!columns.empty()) columns.back().high = x;
    columns.push_back({i, x, right});
  }
  // Rows are the bins of all columns: their edges are powers of 2 and quarters between them, so that large
  // values take no more space than small ones. Exact zeros have their own row, above the edges below 0.
  std::vector<double> edges;
  bool zero_row = false;
  for (const Column& column : columns) {
    const Distribution d = at(column.source);
    edges.insert(edges.end(), d.edges->begin(), d.edges->end());
    zero_row = zero_row || d.zeros > 0;
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  if (edges.size() < 2) return std::nullopt;
  const size_t above = size_t(std::upper_bound(edges.begin(), edges.end(), 0.0) - edges.begin());
  const auto row_of = [&](double edge) {
    return float(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin()) +
           (zero_row && edge > 0 ? 1.0f : 0.0f);
  };
  const float height = (lower - upper) / (float(edges.size() - 1) + (zero_row ? 1.0f : 0.0f));
  const float zero_low = lower - height * float(above), zero_high = zero_low - height;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  char tip[160] = "";
  ScreenArea tipped{};
  for (const Column& column : columns) {
    const Distribution d = at(column.source);
    const int64_t most = d.counts->empty() ? 0 : *std::max_element(d.counts->begin(), d.counts->end());
    const auto cell = [&](float y0, float y1, int64_t n) {
      if (n > 0)
        list->AddRectFilled({column.low, y0}, {column.high, std::max(y1, y0 + 1)},
                            mix(colors.low, colors.high, std::sqrt(float(n) / float(most))));
      const ScreenArea area{{column.low, y0}, {column.high, y1}};
      const bool under = n > 0 && area.contains(mouse);
      if (under) tipped = area;
      return under;
    };
    const auto step = static_cast<long long>(d.step);
    for (size_t i = 0; i < d.counts->size(); ++i) {
      const double low = (*d.edges)[i], high = (*d.edges)[i + 1];
      const bool around_zero = low <= 0 && high > 0;
      const int64_t n = (*d.counts)[i] - (around_zero ? std::min(d.zeros, (*d.counts)[i]) : 0);
      const char* const format = around_zero ? "step %lld: %s from %.3g to %.3g, excluding zeros"
                                             : "step %lld: %s from %.3g to %.3g";
      if (cell(lower - height * row_of(high), lower - height * row_of(low), n))
        std::snprintf(tip, sizeof tip, format, step, counted(n, "value").c_str(), low, high);
    }
    if (!zero_row) continue;
    list->AddRectFilled({column.low, zero_high}, {column.high, zero_low}, colors.background);
    if (cell(zero_high, zero_low, d.zeros))
      std::snprintf(tip, sizeof tip, "step %lld: %s of 0", step, counted(d.zeros, "value").c_str());
  }
  const auto label = [&](float y, const char* text) {
    list->AddText({left - ImGui::CalcTextSize(text).x - 0.3f * line, y - line / 2}, colors.muted, text);
  };
  // The other labels keep a distance from the label of 0, and differ from each other.
  const bool has_zero = zero_row || (above > 0 && above < edges.size());
  const float zero = zero_row ? (zero_low + zero_high) / 2 : lower - height * (float(above) - 0.5f);
  if (has_zero) label(zero, "0");
  const size_t labels = std::max<size_t>(2, size_t((lower - upper) / (2 * line)));
  std::string last;
  for (size_t i = 0; i < labels; ++i) {
    const double edge = edges[i * (edges.size() - 1) / (labels - 1)];
    const float y = lower - height * row_of(edge);
    const std::string number = number_figure(edge, 2);
    if ((has_zero && std::abs(y - zero) < 1.2f * line) || number == last) continue;
    label(y, number.c_str());
    last = number;
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
  std::optional<float> cursor_at;
  if (cursor) {
    const float x = left + float((cursor->x - first_step) * per_step);
    if (x >= left - 1 && x <= right + 1) {
      cursor_at = std::clamp(std::round(x), left + 1, right - 1);
      list->AddLine({*cursor_at, upper}, {*cursor_at, lower}, cursor->color, 2);
    }
  }
  if (ImGui::IsItemHovered() && *tip) show_tip(tip, {.area = tipped, .aside = true});
  return cursor_at;
}

}  // namespace lunagrad
