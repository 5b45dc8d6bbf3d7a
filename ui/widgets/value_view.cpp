#include "ui/widgets/value_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {
namespace {

constexpr ImU32 rgb(uint32_t hex) { return IM_COL32(hex >> 16 & 255, hex >> 8 & 255, hex & 255, 255); }

template <size_t N>
ImU32 between(const std::array<ImU32, N>& stops, double t) {
  const double at = std::clamp(t, 0.0, 1.0) * double(N - 1);
  const size_t i = std::min(size_t(at), N - 2);
  return blend(stops[i], stops[i + 1], float(at - double(i)));
}

// Maps a magnitude from 0 to `reach`: linear near 0, then logarithmic.
double compressed(double magnitude, double reach, double linear_below) {
  return std::log1p(magnitude / linear_below) / std::log1p(reach / linear_below);
}

}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
  if (shape.empty()) return "scalar";
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string position_text(std::span<const int64_t> at) {
  std::string text = "[";
  for (size_t i = 0; i < at.size(); ++i) text += (i ? ", " : "") + std::to_string(at[i] + 1);
  return text + "]";
}

double quantile(const Statistics& s, double part) {
  if (s.finite() == 0) return 0;
  const double wanted = part * double(s.finite());
  double below = 0;
  for (size_t i = 0; i < s.counts.size(); ++i) {
    const double count = double(s.counts[i]);
    if (below + count >= wanted && count > 0)
      return std::clamp(s.edges[i] + (wanted - below) / count * (s.edges[i + 1] - s.edges[i]), s.min, s.max);
    below += count;
  }
  return s.max;
}

ColorRange color_range(const ColorScale& scale, const Statistics& s) {
  ColorRange range;
  if (scale.automatic) {
    range.low = scale.clip > 0 ? quantile(s, scale.clip / 100) : s.min;
    range.high = scale.clip > 0 ? quantile(s, 1 - scale.clip / 100) : s.max;
  } else {
    range.low = std::min(scale.low, scale.high);
    range.high = std::max(scale.low, scale.high);
  }
  range.diverging = scale.map == ColorScale::Map::diverging ||
                    (scale.map == ColorScale::Map::automatic && range.low < 0 && range.high > 0);
  const double reach = std::max(std::abs(range.low), std::abs(range.high));
  if (range.diverging) {
    range.low = -reach;
    range.high = reach;
  }
  range.zeros = !range.diverging && s.zeros > 0;
  if (scale.logarithmic && reach > 0) range.linear_below = reach * 1e-4;
  return range;
}

double color_position(double value, const ColorRange& range) {
  if (!(range.high > range.low)) return 0.5;
  const double clamped = std::clamp(value, range.low, range.high);
  if (range.linear_below == 0) return (clamped - range.low) / (range.high - range.low);
  const double reach = std::max(std::abs(range.low), std::abs(range.high));
  const auto bent = [&](double x) {
    return std::copysign(compressed(std::abs(x), reach, range.linear_below), x);
  };
  return (bent(clamped) - bent(range.low)) / (bent(range.high) - bent(range.low));
}

ImU32 zero_color(bool dark) { return dark ? rgb(0x5a6069) : rgb(0xd9dde2); }

ImU32 map_color(double position, bool diverging, bool dark) {
  // Viridis (van der Walt and Smith 2015, CC0) at nine positions.
  static constexpr std::array<ImU32, 9> sequential = {rgb(0x440154), rgb(0x472d7b), rgb(0x3b528b),
                                                      rgb(0x2c728e), rgb(0x21918c), rgb(0x28ae80),
                                                      rgb(0x5ec962), rgb(0xaddc30), rgb(0xfde725)};
  static constexpr std::array<ImU32, 7> on_light = {rgb(0x0b4a8f), rgb(0x3d85c6), rgb(0xa9cfea),
                                                    rgb(0xf4f4f2), rgb(0xf5c08a), rgb(0xdb7b2b),
                                                    rgb(0x943f00)};
  static constexpr std::array<ImU32, 7> on_dark = {rgb(0xa8dcff), rgb(0x4fa3e3), rgb(0x23557f), rgb(0x1d2026),
                                                   rgb(0x7a4414), rgb(0xe08a33), rgb(0xffd9a0)};
  if (diverging) return between(dark ? on_dark : on_light, position);
  return between(sequential, position);
}

void draw_color_legend(const ColorRange& range, float width, const ValueColors& colors) {
  constexpr int kSteps = 48;
  const std::string low = number_figure(range.low), high = number_figure(range.high);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight(), gap = em(0.4f), height = em(0.55f);
  const float low_width = ImGui::CalcTextSize(low.c_str()).x,
              high_width = ImGui::CalcTextSize(high.c_str()).x;
  const ImVec2 bar{at.x + low_width + gap, std::round(at.y + (line - height) / 2)};
  const float zero_width = range.zeros ? 2.5f * gap + height + ImGui::CalcTextSize("0").x : 0;
  const float bar_width = std::clamp(width - low_width - high_width - zero_width - 2 * gap, 1.0f, em(8));
  list->AddText(at, colors.muted, low.c_str());
  for (int s = 0; s < kSteps; ++s) {
    const double value = range.low + (range.high - range.low) * (s + 0.5) / kSteps;
    const float x0 = bar.x + bar_width * float(s) / kSteps, x1 = bar.x + bar_width * float(s + 1) / kSteps;
    list->AddRectFilled({x0, bar.y}, {x1, bar.y + height},
                        map_color(color_position(value, range), range.diverging, colors.dark));
  }
  list->AddRect(bar, {bar.x + bar_width, bar.y + height}, colors.border);
  list->AddText({bar.x + bar_width + gap, at.y}, colors.muted, high.c_str());
  float end = bar.x + bar_width + gap + high_width;
  if (range.zeros) {
    const ImVec2 swatch{end + 2 * gap, bar.y};
    list->AddRectFilled(swatch, {swatch.x + height, swatch.y + height}, zero_color(colors.dark));
    list->AddRect(swatch, {swatch.x + height, swatch.y + height}, colors.border);
    list->AddText({swatch.x + height + gap / 2, at.y}, colors.muted, "0");
    end = swatch.x + height + gap / 2 + ImGui::CalcTextSize("0").x;
  }
  ImGui::Dummy({end - at.x, line});
}

void draw_histogram(const char* id, const Statistics& s, ImVec2 size, const ValueColors& colors) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  size = {std::max(size.x, 8.0f), std::max(size.y, 8.0f)};
  ImGui::InvisibleButton(id, size);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(at, {at.x + size.x, at.y + size.y}, colors.background);
  const float line = ImGui::GetTextLineHeight(), bottom = at.y + size.y - line;
  if (s.counts.empty()) {
    list->AddText({at.x + em(0.4f), at.y + em(0.2f)}, colors.muted, "no finite values");
    return;
  }
  const int64_t most = *std::max_element(s.counts.begin(), s.counts.end());
  const float bar = size.x / float(s.counts.size());
  for (size_t i = 0; i < s.counts.size(); ++i) {
    // Square root of the count, so that rare values are visible next to frequent ones.
    const float height = float(std::sqrt(double(s.counts[i]) / double(most))) * (bottom - at.y - 2);
    const float x = at.x + bar * float(i);
    list->AddRectFilled({x, bottom - height}, {x + std::max(bar - 1, 1.0f), bottom}, colors.accent);
  }
  list->AddLine({at.x, bottom}, {at.x + size.x, bottom}, colors.border);
  const std::string low = number_figure(s.min), high = number_figure(s.max);
  list->AddText({at.x, bottom}, colors.muted, low.c_str());
  list->AddText({at.x + size.x - ImGui::CalcTextSize(high.c_str()).x, bottom}, colors.muted, high.c_str());
  for (size_t i = 0; i + 1 < s.edges.size(); ++i) {
    if (s.edges[i] >= 0 || s.edges[i + 1] <= 0) continue;  // finds the bin around 0
    const float x = at.x + bar * (float(i) + 0.5f) - ImGui::CalcTextSize("0").x / 2;
    const float first = at.x + ImGui::CalcTextSize(low.c_str()).x + em(0.3f);
    const float last = at.x + size.x - ImGui::CalcTextSize(high.c_str()).x - em(0.8f);
    if (x > first && x < last) list->AddText({x, bottom}, colors.muted, "0");
  }
  if (!ImGui::IsItemHovered()) return;
  const auto place = int64_t((ImGui::GetIO().MousePos.x - at.x) / bar);
  const size_t i = size_t(std::clamp<int64_t>(place, 0, int64_t(s.counts.size()) - 1));
  char text[128];
  std::snprintf(text, sizeof text, "%.4g to %.4g: %lld of %lld values, %.2g %%", s.edges[i], s.edges[i + 1],
                static_cast<long long>(s.counts[i]), static_cast<long long>(s.finite()),
                100 * double(s.counts[i]) / double(s.finite()));
  const ImVec2 end{at.x + size.x, at.y + size.y};
  const float left = at.x + bar * float(i);
  show_tip(text,
           {.area = {{left, at.y}, {left + bar, end.y}}, .aside = true, .picture = ScreenArea{at, end}});
}

void draw_not_finite(ImDrawList* list, double value, ImVec2 min, ImVec2 max, const ValueColors& colors) {
  list->AddRectFilled(min, max, std::isnan(value) ? colors.nan : colors.infinite);
  if (max.x - min.x < 4 || max.y - min.y < 4) return;
  const float width = std::max(1.0f, (max.x - min.x) / 10);
  const bool down = std::isnan(value) || value < 0, up = std::isnan(value) || value > 0;
  if (down) list->AddLine(min, {max.x - 1, max.y - 1}, colors.background, width);
  if (up) list->AddLine({min.x, max.y - 1}, {max.x - 1, min.y}, colors.background, width);
}

}  // namespace lunagrad
