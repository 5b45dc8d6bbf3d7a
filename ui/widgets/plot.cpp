#include "ui/widgets/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "ui/theme.h"

namespace lunagrad {
namespace {

// Where the data is on the screen.
struct Frame {
  ImVec2 min, max;
  double x0, x1, y0, y1;
  bool log_y;

  float px(double x) const { return min.x + float((x - x0) / (x1 - x0)) * (max.x - min.x); }
  float py(double y) const {
    const double t = log_y ? std::log(y / y0) / std::log(y1 / y0) : (y - y0) / (y1 - y0);
    return max.y - float(std::clamp(t, -2.0, 3.0)) * (max.y - min.y);
  }
  double x_at(float px) const { return x0 + (x1 - x0) * double(px - min.x) / double(max.x - min.x); }
  bool shows(double y) const { return std::isfinite(y) && (!log_y || y > 0); }
};

// Cuts a polyline into dashes by its length on the screen.
void draw_dashed(ImDrawList* list, const std::vector<ImVec2>& points, ImU32 color, float width, int dash) {
  if (points.size() < 2) return;
  if (dash == 0) {
    list->AddPolyline(points.data(), int(points.size()), color, 0, width);
    return;
  }
  static constexpr float patterns[][4] = {{8, 5, 8, 5}, {2, 4, 2, 4}, {11, 4, 3, 4}};
  const float* pattern = patterns[(dash - 1) % 3];
  int part = 0;
  float left = pattern[0];
  for (size_t i = 1; i < points.size(); ++i) {
    ImVec2 a = points[i - 1];
    const ImVec2 b = points[i];
    float length = std::hypot(b.x - a.x, b.y - a.y);
    while (length > 0) {
      const float take = std::min(left, length);
      const ImVec2 c{a.x + (b.x - a.x) * take / length, a.y + (b.y - a.y) * take / length};
      if (part % 2 == 0) list->AddLine(a, c, color, width);
      a = c;
      length -= take;
      left -= take;
      if (left <= 0) {
        part = (part + 1) % 4;
        left = pattern[part];
      }
    }
  }
}

// The visible stretch as a polyline, with the extremes of each pixel column where points are denser than
// pixels. What cannot be shown (NaN, infinity, not positive on a logarithmic axis) breaks the line.
void draw_curve(ImDrawList* list, const Curve& curve, const Frame& frame, ImU32 color, float width,
                int dash) {
  size_t begin = curve.lower_bound(frame.x0), end = curve.lower_bound(frame.x1);
  begin -= begin > 0;
  end = std::min(end + 1, curve.size());
  std::vector<ImVec2> points;
  const auto flush = [&] {
    if (points.size() == 1) list->AddCircleFilled(points[0], width + 1, color, 8);
    draw_dashed(list, points, color, width, dash);
    points.clear();
  };
  if (end - begin <= size_t(4 * (frame.max.x - frame.min.x))) {
    for (size_t i = begin; i < end; ++i) {
      if (frame.shows(curve.y(i)))
        points.push_back({frame.px(curve.x(i)), frame.py(curve.y(i))});
      else
        flush();
    }
  } else {
    for (float px = frame.min.x; px < frame.max.x; px += 1) {
      const size_t next = std::min(curve.lower_bound(frame.x_at(px + 1)), end);
      if (next > begin) {
        const CurveRange range = curve.range(begin, next);
        const double low = frame.log_y ? range.least_positive : range.min;
        if (!range.empty() && frame.shows(low) && frame.shows(range.max)) {
          const float top = frame.py(range.max), bottom = frame.py(low);
          const bool rising = points.empty() || points.back().y > (top + bottom) / 2;
          points.push_back({px, rising ? bottom : top});
          if (bottom - top > 0.5f) points.push_back({px, rising ? top : bottom});
        } else {
          flush();
        }
        begin = next;
      }
    }
  }
  flush();
}

// NaN and +infinity as marks at the upper edge, -infinity at the lower; at most one a pixel column.
void draw_marks(ImDrawList* list, const Curve& curve, const Frame& frame, ImU32 color) {
  const float s = em(0.27f);
  float last = -INFINITY;
  const auto& marks = curve.not_finite();
  for (auto i = std::lower_bound(marks.begin(), marks.end(), curve.lower_bound(frame.x0)); i != marks.end();
       ++i) {
    if (curve.x(*i) > frame.x1) break;
    const float x = frame.px(curve.x(*i));
    if (x - last < 2) continue;
    last = x;
    const double y = curve.y(*i);
    const float at = y < 0 ? frame.max.y - 2 * s : frame.min.y + 2 * s;
    if (std::isnan(y)) {
      list->AddLine({x - s, at - s}, {x + s, at + s}, color, 2);
      list->AddLine({x - s, at + s}, {x + s, at - s}, color, 2);
    } else {
      const float tip = y < 0 ? s : -s;
      list->AddTriangleFilled({x, at + tip}, {x - s, at - tip}, {x + s, at - tip}, color);
    }
  }
}

// The y range of what is visible, a little wider.
void fit_y(const std::vector<PlotLine>& lines, Frame& frame) {
  CurveRange range;
  for (const PlotLine& line : lines) {
    const size_t begin = line.raw->lower_bound(frame.x0), end = line.raw->lower_bound(frame.x1);
    range.add(line.raw->range(begin, std::min(end + 1, line.raw->size())));
  }
  frame.y0 = frame.log_y ? range.least_positive : range.min;
  frame.y1 = range.max;
  if (!(frame.y1 >= frame.y0) || !std::isfinite(frame.y0)) {
    frame.y0 = frame.log_y ? 0.1 : 0;
    frame.y1 = 1;
  }
  if (frame.log_y) {
    const double margin = std::pow(frame.y1 / frame.y0, 0.06);
    frame.y0 /= std::max(margin, 1.02);
    frame.y1 *= std::max(margin, 1.02);
  } else {
    double margin = (frame.y1 - frame.y0) * 0.06;
    if (margin <= 0) margin = frame.y0 == 0 ? 0.5 : std::abs(frame.y0) * 0.05;
    frame.y0 -= margin;
    frame.y1 += margin;
  }
}

void navigate(Frame& frame, PlotAxis& axis, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const double span = axis.high - axis.low;
  if (hovered && io.MouseWheel != 0) {
    const double at = frame.x_at(io.MousePos.x), factor = std::pow(0.85, double(io.MouseWheel));
    if (axis.mode == PlotAxis::Mode::follow) {
      axis.window = std::max(axis.window * factor, 4.0);
    } else if (span * factor > 1e-3) {
      axis.mode = PlotAxis::Mode::fixed;
      axis.low = at - (at - axis.low) * factor;
      axis.high = at + (axis.high - at) * factor;
    }
  }
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    axis.mode = PlotAxis::Mode::fixed;
    const double shift = span * double(io.MouseDelta.x) / double(frame.max.x - frame.min.x);
    axis.low -= shift;
    axis.high -= shift;
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) axis.mode = PlotAxis::Mode::fit;
}

void draw_values(ImDrawList* list, const std::vector<PlotLine>& lines, const Frame& frame, double at,
                 bool under_mouse, const PlotColors& colors) {
  list->AddLine({frame.px(at), frame.min.y}, {frame.px(at), frame.max.y}, colors.crosshair, 1);
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    const Curve& curve = line.smooth ? *line.smooth : *line.raw;
    const size_t i = curve.nearest(at);
    if (frame.shows(curve.y(i)) && curve.x(i) >= frame.x0 && curve.x(i) <= frame.x1)
      list->AddCircleFilled({frame.px(curve.x(i)), frame.py(curve.y(i))}, em(0.22f), line.color, 12);
  }
  if (!under_mouse) return;
  ImGui::BeginTooltip();
  double step = NAN;
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    const size_t i = line.raw->nearest(at);
    const double x = line.raw->x(i);
    if (x != step) text_in(colors.muted, "step %s", exact_number(x).c_str());
    step = x;
    text_in(line.color, "%s", line.name.c_str());
    ImGui::SameLine(0, em(0.8f));
    ImGui::TextUnformatted(exact_number(line.raw->y(i)).c_str());
    if (line.smooth) {
      ImGui::SameLine(0, em(0.8f));
      text_in(colors.muted, "smoothed %s", exact_number(line.smooth->y(i)).c_str());
    }
  }
  ImGui::EndTooltip();
}

// Name and last value of each line, from the right; what does not fit is left out.
void draw_legend(ImDrawList* list, const std::vector<PlotLine>& lines, float left, float right, float y,
                 const PlotColors& colors) {
  for (size_t k = lines.size(); k-- > 0;) {
    const PlotLine& line = lines[k];
    if (line.raw->size() == 0) continue;
    char value[32];
    std::snprintf(value, sizeof value, "%.4g", line.raw->y(line.raw->size() - 1));
    std::string alarm;
    if (line.raw->nan_count()) alarm += "  " + std::to_string(line.raw->nan_count()) + " NaN";
    if (line.raw->inf_count()) alarm += "  " + std::to_string(line.raw->inf_count()) + " Inf";
    const float name_width = ImGui::CalcTextSize(line.name.c_str()).x, value_width = em(3.6f);
    const float alarm_width = ImGui::CalcTextSize(alarm.c_str()).x;
    const float swatch = em(1.3f), gap = em(0.4f);
    const float width = swatch + gap + name_width + gap + value_width + alarm_width + em(0.6f);
    if (right - width < left) break;
    right -= width;
    float x = right;
    const float middle = y + ImGui::GetTextLineHeight() / 2;
    draw_dashed(list, {{x, middle}, {x + swatch, middle}}, line.color, em(0.14f), line.dash);
    x += swatch + gap;
    list->AddText({x, y}, colors.muted, line.name.c_str());
    x += name_width + gap;
    list->AddText({x, y}, colors.text, value);
    x += value_width;
    list->AddText({x, y}, colors.alarm, alarm.c_str());
  }
}

}  // namespace

void PlotAxis::update(double first, double last) {
  if (mode == Mode::fit) {
    low = first;
    high = last;
  } else if (mode == Mode::follow) {
    low = last - window;
    high = last;
  }
  if (high - low < 1e-9) high = low + 1;
  hovering = false;
}

std::string axis_number(double value, double step) {
  char text[32];
  const double size = std::abs(value);
  if (size < step * 1e-6) return "0";
  if (size >= 1e6 || (size < 1e-3 && step < 1e-3)) {
    std::snprintf(text, sizeof text, "%.3g", value);
  } else {
    const int digits = step > 0 ? std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 6) : 3;
    std::snprintf(text, sizeof text, "%.*f", digits, value);
  }
  return text;
}

std::string exact_number(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

void draw_plot(const char* id, const char* title, const std::vector<PlotLine>& lines, const char* x_label,
               ImVec2 size, PlotAxis& axis, PlotState& state, const PlotColors& colors) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  const float text_height = ImGui::GetTextLineHeight(), small = std::round(text_height * 0.85f);
  const bool labelled = x_label && *x_label;
  const float head = text_height + em(0.35f), foot = labelled ? small + em(0.45f) : em(0.2f);
  Frame frame{{corner.x + em(3.4f), corner.y + head},
              {corner.x + size.x - em(0.3f), corner.y + size.y - foot},
              axis.low,
              axis.high,
              0,
              1,
              state.log_y};
  if (frame.max.x - frame.min.x < 20 || frame.max.y - frame.min.y < 20) {
    ImGui::Dummy(size);
    return;
  }
  ImGui::PushID(id);
  ImGui::SetCursorScreenPos(frame.min);
  ImGui::InvisibleButton("area", {frame.max.x - frame.min.x, frame.max.y - frame.min.y});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  ImGui::PopID();
  navigate(frame, axis, hovered, active);
  fit_y(lines, frame);
  if (hovered) {
    axis.hovering = true;
    axis.hover = frame.x_at(ImGui::GetIO().MousePos.x);
  }

  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = ImGui::GetFont();
  list->AddRectFilled(frame.min, frame.max, colors.background, em(0.2f));
  const int rows = std::max(2, int((frame.max.y - frame.min.y) / em(2.2f)));
  const auto y_ticks =
      state.log_y ? log_axis_ticks(frame.y0, frame.y1, rows) : axis_ticks(frame.y0, frame.y1, rows);
  for (size_t i = 0; i < y_ticks.size(); ++i) {
    const float y = std::round(frame.py(y_ticks[i]));
    const double step = state.log_y ? y_ticks[i] : y_ticks.size() > 1 ? y_ticks[1] - y_ticks[0] : 1;
    const std::string text = axis_number(y_ticks[i], step);
    list->AddLine({frame.min.x, y}, {frame.max.x, y}, colors.grid, 1);
    const float width = font->CalcTextSizeA(small, FLT_MAX, 0, text.c_str()).x;
    list->AddText(font, small, {std::round(frame.min.x - em(0.4f) - width), std::round(y - small / 2)},
                  colors.muted, text.c_str());
  }
  const int columns = std::max(2, int((frame.max.x - frame.min.x) / em(5)));
  const auto x_ticks = axis_ticks(frame.x0, frame.x1, columns);
  const float label_width = labelled ? font->CalcTextSizeA(small, FLT_MAX, 0, x_label).x + em(0.6f) : 0;
  for (double tick : x_ticks) {
    const float x = std::round(frame.px(tick));
    list->AddLine({x, frame.min.y}, {x, frame.max.y}, colors.grid, 1);
    if (!labelled) continue;
    const std::string text = axis_number(tick, x_ticks.size() > 1 ? x_ticks[1] - x_ticks[0] : 1);
    const float width = font->CalcTextSizeA(small, FLT_MAX, 0, text.c_str()).x;
    const float left = std::clamp(x - width / 2, frame.min.x - em(1), frame.max.x - width);
    if (left + width > frame.max.x - label_width) continue;
    list->AddText(font, small, {std::round(left), frame.max.y + em(0.25f)}, colors.muted, text.c_str());
  }
  if (labelled)
    list->AddText(font, small, {frame.max.x - label_width + em(0.6f), frame.max.y + em(0.25f)}, colors.muted,
                  x_label);

  list->PushClipRect(frame.min, frame.max, true);
  for (const PlotLine& line : lines)
    draw_curve(list, *line.raw, frame, line.smooth ? with_alpha(line.color, 0.33f) : line.color, em(0.09f),
               line.smooth ? 0 : line.dash);
  for (const PlotLine& line : lines)
    if (line.smooth) draw_curve(list, *line.smooth, frame, line.color, em(0.13f), line.dash);
  for (const PlotLine& line : lines) draw_marks(list, *line.raw, frame, colors.alarm);
  if (axis.hovering && axis.hover >= frame.x0 && axis.hover <= frame.x1)
    draw_values(list, lines, frame, axis.hover, hovered && !active, colors);
  list->PopClipRect();

  list->AddText(fonts().bold, text_height, {corner.x, corner.y}, colors.text, title);
  const float title_width = fonts().bold->CalcTextSizeA(text_height, FLT_MAX, 0, title).x;
  draw_legend(list, lines, corner.x + title_width + em(0.8f), frame.max.x, corner.y, colors);
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
}

}  // namespace lunagrad
