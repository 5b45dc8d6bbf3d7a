#include "ui/widgets/value_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "ui/theme.h"

namespace lunagrad {
namespace {

constexpr ImU32 rgb(uint32_t hex) { return IM_COL32(hex >> 16 & 255, hex >> 8 & 255, hex & 255, 255); }

template <size_t N>
ImU32 between(const std::array<ImU32, N>& stops, double t) {
  const double at = std::clamp(t, 0.0, 1.0) * double(N - 1);
  const size_t i = std::min(size_t(at), N - 2);
  return blend(stops[i], stops[i + 1], float(at - double(i)));
}

struct Slice {
  int64_t rows = 1, columns = 1, offset = 0;
};

// Of a block of cells, the value farthest from zero; what is not finite wins, so that no outlier hides.
float strongest(const CellGrid& grid, const Slice& slice, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  float found = 0;
  bool any = false;
  for (int64_t r = r0; r < r1; ++r)
    for (int64_t c = c0; c < c1; ++c) {
      const int64_t i = slice.offset + r * slice.columns + c;
      if (i >= int64_t(grid.values.size())) break;
      const float value = grid.values[size_t(i)];
      if (!std::isfinite(value)) return value;
      if (!any || std::abs(value) > std::abs(found)) found = value;
      any = true;
    }
  return any ? found : INFINITY;
}

// One row: least value, colour bar, greatest value, and how much of the tensor is there.
void draw_legend(ImDrawList* list, const CellGrid& grid, float width, const HeatmapColors& colors) {
  constexpr int kSteps = 48;
  const std::string low = short_number(grid.min), high = short_number(grid.max);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float line = ImGui::GetTextLineHeight(), gap = em(0.4f), height = em(0.55f);
  const float low_width = ImGui::CalcTextSize(low.c_str()).x,
              high_width = ImGui::CalcTextSize(high.c_str()).x;
  const ImVec2 bar{at.x + low_width + gap, std::round(at.y + (line - height) / 2)};
  const float bar_width = std::clamp(width - low_width - high_width - 2 * gap, 1.0f, em(8));
  list->AddText(at, colors.muted, low.c_str());
  for (int s = 0; s < kSteps; ++s) {
    const double value = grid.min + (grid.max - grid.min) * (s + 0.5) / kSteps;
    const float x0 = bar.x + bar_width * float(s) / kSteps, x1 = bar.x + bar_width * float(s + 1) / kSteps;
    list->AddRectFilled({x0, bar.y}, {x1, bar.y + height},
                        heat_color(value, grid.min, grid.max, colors.dark));
  }
  list->AddRect(bar, {bar.x + bar_width, bar.y + height}, colors.border);
  float x = bar.x + bar_width + gap;
  list->AddText({x, at.y}, colors.muted, high.c_str());
  x += high_width + em(1);
  if (int64_t(grid.values.size()) < grid.count) {
    const std::string part =
        "first " + std::to_string(grid.values.size()) + " of " + std::to_string(grid.count);
    list->AddText({x, at.y}, colors.muted, part.c_str());
  }
  ImGui::Dummy({width, line});
}

}  // namespace

ImU32 heat_color(double value, double min, double max, bool dark) {
  // Viridis (van der Walt and Smith 2015, CC0) at nine places.
  static constexpr std::array<ImU32, 9> sequential = {rgb(0x440154), rgb(0x472d7b), rgb(0x3b528b),
                                                      rgb(0x2c728e), rgb(0x21918c), rgb(0x28ae80),
                                                      rgb(0x5ec962), rgb(0xaddc30), rgb(0xfde725)};
  static constexpr std::array<ImU32, 7> on_light = {rgb(0x0b4a8f), rgb(0x3d85c6), rgb(0xa9cfea),
                                                    rgb(0xf4f4f2), rgb(0xf5c08a), rgb(0xdb7b2b),
                                                    rgb(0x943f00)};
  static constexpr std::array<ImU32, 7> on_dark = {rgb(0xa8dcff), rgb(0x4fa3e3), rgb(0x23557f), rgb(0x1d2026),
                                                   rgb(0x7a4414), rgb(0xe08a33), rgb(0xffd9a0)};
  if (min < 0 && max > 0) {
    const double reach = std::max(-min, max);
    return between(dark ? on_dark : on_light, 0.5 + 0.5 * value / reach);
  }
  return between(sequential, max > min ? (value - min) / (max - min) : 0.5);
}

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

void Heatmap::draw(const char* id, const CellGrid& grid, float width, float height,
                   const HeatmapColors& colors) {
  if (grid.count == 0) {
    text_in(colors.muted, "no elements");
    return;
  }
  if (grid.count == 1 && !grid.values.empty()) {
    ImGui::PushFont(fonts().bold);
    text_in(std::isfinite(grid.values[0]) ? colors.text : colors.bad, "%.9g", double(grid.values[0]));
    ImGui::PopFont();
    return;
  }
  ImGui::PushID(id);
  const size_t dims = grid.shape.size(), outer = dims > 2 ? dims - 2 : 0;
  Slice slice;
  slice.columns = dims > 0 ? grid.shape[dims - 1] : 1;
  slice.rows = dims > 1 ? grid.shape[dims - 2] : 1;
  chosen_.resize(outer, 1);
  for (size_t d = 0; d < outer; ++d) {
    chosen_[d] = std::clamp(chosen_[d], 1, int(grid.shape[d]));
    ImGui::PushID(int(d));
    if (d > 0) ImGui::SameLine();
    ImGui::SetNextItemWidth(em(6));
    char format[64];
    std::snprintf(format, sizeof format, "dim %zu: %%d of %lld", d + 1,
                  static_cast<long long>(grid.shape[d]));
    if (grid.shape[d] > 1) ImGui::SliderInt("##dim", &chosen_[d], 1, int(grid.shape[d]), format);
    ImGui::PopID();
    slice.offset = slice.offset * grid.shape[d] + chosen_[d] - 1;
  }
  slice.offset *= slice.rows * slice.columns;
  // A vector is folded into rows that fill the width.
  int64_t shown_rows = slice.rows, shown_columns = slice.columns;
  if (slice.rows == 1 && slice.columns > 64) {
    shown_columns = std::max<int64_t>(32, int64_t(std::sqrt(double(slice.columns) * 4)));
    shown_rows = (slice.columns + shown_columns - 1) / shown_columns;
  }
  Slice drawn{shown_rows, shown_columns, slice.offset};

  const float legend = ImGui::GetTextLineHeightWithSpacing() + ImGui::GetStyle().ItemSpacing.y;
  const float room =
      std::max(height - legend - (outer ? ImGui::GetFrameHeightWithSpacing() : 0.0f), em(1.2f));
  float cell_x = width / float(shown_columns), cell_y = room / float(shown_rows);
  cell_x = std::min(cell_x, em(1.6f));
  cell_y = std::min(cell_y, em(1.6f));
  // Square cells while that leaves them visible; stretched otherwise.
  if (std::min(cell_x, cell_y) >= 3) cell_x = cell_y = std::floor(std::min(cell_x, cell_y));
  const ImVec2 size{std::min(width, std::max(1.0f, cell_x * float(shown_columns))),
                    std::min(room, std::max(1.0f, cell_y * float(shown_rows)))};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("cells", size);
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int64_t across = std::min<int64_t>(shown_columns, std::max<int64_t>(1, int64_t(size.x / 2)));
  const int64_t down = std::min<int64_t>(shown_rows, std::max<int64_t>(1, int64_t(size.y / 2)));
  const int64_t cells =
      std::min<int64_t>(slice.rows * slice.columns, int64_t(grid.values.size()) - slice.offset);
  const auto edge = [](int64_t i, int64_t parts, int64_t whole) { return i * whole / parts; };
  for (int64_t r = 0; r < down; ++r) {
    const int64_t r0 = edge(r, down, shown_rows), r1 = std::max(r0 + 1, edge(r + 1, down, shown_rows));
    const float y0 = at.y + size.y * float(r) / float(down), y1 = at.y + size.y * float(r + 1) / float(down);
    for (int64_t c = 0; c < across; ++c) {
      const int64_t c0 = edge(c, across, shown_columns),
                    c1 = std::max(c0 + 1, edge(c + 1, across, shown_columns));
      if (r0 * shown_columns + c0 >= cells) break;
      const float value = strongest(grid, drawn, r0, r1, c0, c1);
      const ImU32 color =
          std::isfinite(value) ? heat_color(double(value), grid.min, grid.max, colors.dark) : colors.bad;
      list->AddRectFilled({at.x + size.x * float(c) / float(across), y0},
                          {at.x + size.x * float(c + 1) / float(across), y1}, color);
    }
  }
  list->AddRect({at.x - 1, at.y - 1}, {at.x + size.x + 1, at.y + size.y + 1}, colors.border);
  if (hovered) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const int64_t c =
        std::clamp<int64_t>(int64_t((mouse.x - at.x) / size.x * float(shown_columns)), 0, shown_columns - 1);
    const int64_t r =
        std::clamp<int64_t>(int64_t((mouse.y - at.y) / size.y * float(shown_rows)), 0, shown_rows - 1);
    const int64_t within = r * shown_columns + c;
    if (within < cells) {
      const float w = size.x / float(shown_columns), h = size.y / float(shown_rows);
      const ImVec2 low{at.x + float(c) * w, at.y + float(r) * h};
      list->AddRect({low.x - 1, low.y - 1}, {low.x + w + 1, low.y + h + 1}, colors.text);
      std::string index = "[";
      for (int position : chosen_) index += std::to_string(position) + ", ";
      if (dims > 1) index += std::to_string(within / slice.columns + 1) + ", ";
      index += std::to_string(within % slice.columns + 1) + "]";
      ImGui::SetTooltip("%s  =  %.9g", index.c_str(), double(grid.values[size_t(slice.offset + within)]));
    }
  }
  draw_legend(list, grid, width, colors);
  ImGui::PopID();
}

}  // namespace lunagrad
