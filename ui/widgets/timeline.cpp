#include "ui/widgets/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/base/axis_scale.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr double kShortest = 10;  // smallest visible range, in ns

struct Unit {
  double ns;
  const char* name;
};

Unit unit_for(double ns) {
  const double size = std::abs(ns);
  return size < 1e3   ? Unit{1, "ns"}
         : size < 1e6 ? Unit{1e3, "µs"}
         : size < 1e9 ? Unit{1e6, "ms"}
                      : Unit{1e9, "s"};
}

float axis_height() { return ImGui::GetTextLineHeight() * 1.2f; }

void draw_axis(ImDrawList* list, ImVec2 min, ImVec2 max, const TimeAxis& axis, const TimelineColors& colors) {
  const int count = std::max(2, int((max.x - min.x) / (ImGui::GetTextLineHeight() * 6)));
  const std::vector<double> ticks = axis_ticks(axis.low, axis.high, count);
  const double step = ticks.size() > 1 ? ticks[1] - ticks[0] : axis.high - axis.low;
  for (const double tick : ticks) {
    const double at = tick + 0.0;  // turns -0 into 0
    const float x = std::round(axis.x_of(at, min.x, max.x));
    list->AddLine({x, min.y}, {x, max.y - axis_height()}, colors.grid);
    const std::string text = time_axis_text(at, step);
    const float width = ImGui::CalcTextSize(text.c_str()).x;
    const float left = std::clamp(x - width / 2, min.x, std::max(min.x, max.x - width));
    list->AddText({left, max.y - axis_height() + 1}, colors.muted, text.c_str());
  }
}

// The place of a drawing: labels at the left, from `at`, and the plot with its time axis in min to max.
struct Sheet {
  ImVec2 at, min, max;
  ImDrawList* list;
};
// Reserves the place, moves the axis as the mouse says, and draws background and axis. The caller pops the
// clip rectangle.
Sheet begin_sheet(const char* id, ImVec2 size, float& label_width, TimeAxis& axis,
                  const TimelineColors& colors) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, size);
  label_width = std::min(label_width, size.x * 0.4f);
  const Sheet sheet{
      at, {at.x + label_width, at.y}, {at.x + size.x, at.y + size.y}, ImGui::GetWindowDrawList()};
  axis.navigate(sheet.min.x, sheet.max.x);
  sheet.list->PushClipRect(at, sheet.max, true);
  sheet.list->AddRectFilled(sheet.min, sheet.max, colors.background);
  draw_axis(sheet.list, sheet.min, sheet.max, axis, colors);
  return sheet;
}

// The part of a text that fits, with an ellipsis; "" when almost nothing fits.
std::string fitted(const std::string& text, float width) {
  if (width < 3 * ImGui::CalcTextSize("…").x) return {};
  return fitting_text(text, {ImGui::GetFont(), ImGui::GetFontSize()}, width);
}

// Black or white, the one with more contrast.
ImU32 text_on(ImU32 color) {
  const auto part = [&](int shift) { return float(color >> shift & 255); };
  const float light =
      0.299f * part(IM_COL32_R_SHIFT) + 0.587f * part(IM_COL32_G_SHIFT) + 0.114f * part(IM_COL32_B_SHIFT);
  return light > 130 ? IM_COL32(16, 18, 22, 255) : IM_COL32(250, 250, 252, 255);
}

}  // namespace

std::string time_axis_text(double ns, double step) {
  const Unit unit = unit_for(std::max(std::abs(ns), step));
  const int digits = std::clamp(int(std::ceil(-std::log10(step / unit.ns) - 1e-9)), 0, 9);
  char text[48];
  std::snprintf(text, sizeof text, "%.*f %s", digits, ns / unit.ns, unit.name);
  return text;
}

void TimeAxis::update(double whole) {
  length = std::max(whole, kShortest);
  if (fits) {
    low = 0;
    high = length;
  }
}

void TimeAxis::navigate(float left, float right) {
  const ImGuiIO& io = ImGui::GetIO();
  const double width = std::max(double(right - left), 1.0);
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) {
    const double at = low + (high - low) * std::clamp(double(io.MousePos.x - left) / width, 0.0, 1.0);
    const double factor = std::pow(1.25, -double(io.MouseWheel));
    const double span = std::clamp((high - low) * factor, kShortest, length);
    const double share = (at - low) / (high - low);
    low = at - share * span;
    high = low + span;
    fits = span >= length;
  }
  if (ImGui::IsItemActive() && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3) && io.MouseDelta.x != 0) {
    const double by = -double(io.MouseDelta.x) / width * (high - low);
    low += by;
    high += by;
  }
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) fits = true;
  const double span = high - low;
  low = std::clamp(low, 0.0, std::max(0.0, length - span));
  high = low + span;
}

size_t first_block_behind(const std::vector<TimeBlock>& blocks, double at) {
  const auto found = std::partition_point(
      blocks.begin(), blocks.end(), [&](const TimeBlock& block) { return block.start + block.length <= at; });
  return size_t(found - blocks.begin());
}

float timeline_row_height() { return std::round(ImGui::GetTextLineHeight() * 1.25f); }
float timeline_height(size_t rows) { return float(rows) * timeline_row_height() + axis_height() + 2; }

TimelineHit draw_timeline(const char* id, std::span<const TimeRow> rows, ImVec2 size, float label_width,
                          TimeAxis& axis, const TimelineColors& colors,
                          const std::function<std::string(int)>& label) {
  TimelineHit hit;
  if (size.x < 8 || size.y < 8) return hit;
  const Sheet sheet = begin_sheet(id, size, label_width, axis, colors);
  const ImVec2 at = sheet.at, min = sheet.min, max = sheet.max;
  ImDrawList* const list = sheet.list;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered = ImGui::IsItemHovered() && mouse.x >= min.x;
  const float height = timeline_row_height(), pad = std::round(height * 0.08f);
  for (size_t r = 0; r < rows.size(); ++r) {
    const float top = at.y + float(r) * height, bottom = top + height - pad;
    if (top > max.y - axis_height()) break;
    if (!rows[r].name.empty())
      list->AddText({at.x, top + (height - ImGui::GetTextLineHeight()) / 2}, colors.muted,
                    fitted(rows[r].name, label_width - 4).c_str());
    list->PushClipRect({min.x, top}, {max.x, max.y - axis_height()}, true);
    const auto& blocks = rows[r].blocks;
    float drawn_to = min.x - 1;
    for (size_t i = first_block_behind(blocks, axis.low); i < blocks.size() && blocks[i].start < axis.high;
         ++i) {
      const TimeBlock& block = blocks[i];
      float left = axis.x_of(block.start, min.x, max.x);
      float right = axis.x_of(block.start + block.length, min.x, max.x);
      if (right <= drawn_to) continue;  // narrower than a pixel that is already painted
      right = std::max(right, std::floor(left) + 1);
      const bool under = hovered && mouse.x >= left && mouse.x < right && mouse.y >= top && mouse.y < bottom;
      left = std::max(left, min.x - 2);
      const float end = std::min(right, max.x + 2);
      const float gap = right - left > 4 ? 0.5f : 0;
      list->AddRectFilled({left + gap, top}, {end - gap, bottom}, block.color);
      if (block.marked) list->AddRectFilled({left + gap, top}, {end - gap, top + 3}, colors.mark);
      if (under) list->AddRect({left, top}, {end, bottom}, colors.outline);
      if (end - std::max(left, min.x) > 24) {
        const float begin = std::max(left, min.x) + 4;
        if (const std::string text = fitted(label(block.id), end - begin - 3); !text.empty())
          list->AddText({begin, top + (height - pad - ImGui::GetTextLineHeight()) / 2}, text_on(block.color),
                        text.c_str());
      }
      drawn_to = std::floor(right);
      if (under) {
        hit = {
            true,
            ImGui::IsMouseReleased(ImGuiMouseButton_Left) && ImGui::GetIO().MouseDragMaxDistanceSqr[0] < 16,
            block.id, ScreenArea{{left, top}, {end, bottom}}.within({min, max})};
      }
    }
    list->PopClipRect();
  }
  list->PopClipRect();
  return hit;
}

StackHit draw_stack(const char* id, size_t count, const std::function<StackSample(size_t)>& sample,
                    size_t peak, std::span<const ImU32> parts, ImVec2 size, float label_width, TimeAxis& axis,
                    const TimelineColors& colors, const std::function<std::string(double)>& number) {
  StackHit hit;
  if (size.x < 8 || size.y < 8 || count == 0) return hit;
  const Sheet sheet = begin_sheet(id, size, label_width, axis, colors);
  const ImVec2 at = sheet.at, min = sheet.min, max = sheet.max;
  ImDrawList* const list = sheet.list;
  const auto sum = [&](size_t i) {
    double all = 0;
    for (const double part : sample(i).parts) all += part;
    return all;
  };
  const float floor = max.y - axis_height(), line = ImGui::GetTextLineHeight();
  const double top = std::max(sum(peak), 1.0) * 1.05;
  const auto y_of = [&](double value) { return floor - float(value / top) * std::max(floor - at.y, 1.0f); };
  double unit = 1;  // power of 1024, so that bytes have round numbers
  while (top / unit >= 1024) unit *= 1024;
  for (const double tick : axis_ticks(0, top / unit, std::max(2, int((floor - at.y) / (line * 2.5f))))) {
    const double value = tick * unit + 0.0;
    const float y = y_of(value);
    list->AddLine({min.x, y}, {max.x, y}, colors.grid);
    if (y - line / 2 < at.y) continue;
    list->AddText({at.x, std::min(y - line / 2, floor - line)}, colors.muted,
                  fitted(number(value), label_width - 4).c_str());
  }
  // Draws in each pixel column the sample with the largest sum, so that no peak is lost.
  list->PushClipRect({min.x, at.y}, {max.x, floor}, true);
  const auto time = [&](float x) {
    return axis.low + (axis.high - axis.low) * double(x - min.x) / double(max.x - min.x);
  };
  const auto behind = [&](double when) {
    size_t low = 0, high = count;
    while (low < high) {
      const size_t middle = (low + high) / 2;
      if (sample(middle).at <= when)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  size_t next = behind(axis.low);
  for (float x = min.x; x < max.x; x += 1) {
    size_t shown = next > 0 ? next - 1 : 0;
    for (; next < count && sample(next).at < time(x + 1); ++next)
      if (next == 0 || sum(next) > sum(shown)) shown = next;
    double low = 0;
    const StackSample now = sample(shown);
    for (size_t p = 0; p < now.parts.size(); ++p) {
      if (now.parts[p] > 0) list->AddRectFilled({x, y_of(low + now.parts[p])}, {x + 1, y_of(low)}, parts[p]);
      low += now.parts[p];
    }
  }
  const float peak_x = axis.x_of(sample(peak).at, min.x, max.x), peak_y = y_of(sum(peak));
  list->AddLine({min.x, peak_y}, {max.x, peak_y}, colors.mark);
  list->AddTriangleFilled({peak_x - line * 0.35f, peak_y - line * 0.5f},
                          {peak_x + line * 0.35f, peak_y - line * 0.5f}, {peak_x, peak_y}, colors.mark);
  list->PopClipRect();
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemHovered() && mouse.x >= min.x) {
    hit.hovered = true;
    const size_t after = behind(time(mouse.x));
    hit.sample = after > 0 ? after - 1 : 0;
    hit.area = {{mouse.x - 1, at.y}, {mouse.x + 1, floor}};
    list->AddLine({mouse.x, at.y}, {mouse.x, floor}, colors.outline);
  }
  list->PopClipRect();
  return hit;
}

}  // namespace lunagrad
