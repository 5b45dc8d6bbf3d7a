#include "ui/curves/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "runtime/core/figures.h"
#include "ui/base/redraw.h"
#include "ui/curves/dashes.h"
#include "ui/curves/plot_frame.h"
#include "ui/curves/plot_legend.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {
namespace {

void draw_curve(ImDrawList* list, const Curve& curve, const PlotFrame& frame, ImU32 color, float width,
                int dash, double most_apart) {
  static std::vector<ImVec2> drawn;  // of the present stretch
  const float r = width + 0.5f;
  // Samples have dots, which tell where something was measured, as long as the dots do not touch.
  const size_t samples = most_apart > 0 ? curve.lower_bound(frame.x1) - curve.lower_bound(frame.x0) + 1 : 0;
  const float dot = samples > 0 ? dot_radius(samples, frame.width(), em(0.2f)) : 0;
  trace(
      curve, frame,
      [&](const std::vector<ImVec2>& points) {
        if (dot > 0)
          for (const ImVec2& point : points) list->AddCircleFilled(point, dot, color, 12);
        // A curve with gaps may have a point alone in every other column: squares have the fewest corners.
        if (points.size() == 1 && most_apart > 0 && dot == 0)
          list->AddRectFilled({points[0].x - r, points[0].y - r}, {points[0].x + r, points[0].y + r}, color);
        else if (points.size() == 1 && dot == 0)
          list->AddCircleFilled(points[0], width + 1, color, 8);
        flatten_tips(points, drawn);
        draw_dashed(list, drawn, color, width, dash);
      },
      most_apart);
}

void draw_band(ImDrawList* list, const PlotLine& line, const PlotFrame& frame) {
  const std::vector<BandColumn> columns = trace_band(*line.band_low, *line.band_high, frame);
  const ImU32 color = with_alpha(line.color, 0.2f);
  const ImDrawListFlags flags = list->Flags;
  list->Flags &= ~ImDrawListFlags_AntiAliasedFill;  // antialiased seams between neighbours would be visible
  for (size_t i = 1; i < columns.size(); ++i) {
    const BandColumn &a = columns[i - 1], &b = columns[i];
    list->AddQuadFilled({a.x, a.top}, {b.x, b.top}, {b.x, b.bottom}, {a.x, a.bottom}, color);
  }
  list->Flags = flags;
}

// NaN and +infinity as marks at the upper edge, -infinity at the lower edge; at most one per pixel column.
void draw_not_finite(ImDrawList* list, const Curve& curve, const PlotFrame& frame, ImU32 color) {
  const float s = em(0.27f);
  float last = -INFINITY;
  const auto& marks = curve.not_finite();
  for (auto i = std::lower_bound(marks.begin(), marks.end(), curve.lower_bound(frame.x0)); i != marks.end();
       ++i) {
    if (curve.x(*i) > frame.x1) break;
    if (!frame.x.shows(curve.x(*i))) continue;
    const float x = frame.px(curve.x(*i));
    if (x - last < 2) continue;
    last = x;
    const double y = curve.odd(*i);
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

void zoom(double& low, double& high, const AxisScale& scale, double at, double factor) {
  const double place = scale.forward(at);
  const double new_low = scale.inverse(place - (place - scale.forward(low)) * factor);
  const double new_high = scale.inverse(place + (scale.forward(high) - place) * factor);
  const double span = new_high - new_low;
  // Refuses a range so small that neighbouring numbers are equal, or so large that it overflows.
  if (!(span > 1e-9 * std::max({std::abs(new_low), std::abs(new_high), 1e-100})) || !(span < 1e100)) return;
  low = new_low;
  high = new_high;
}

void shift(double& low, double& high, const AxisScale& scale, double share) {
  const double bottom = scale.forward(low), top = scale.forward(high), by = (top - bottom) * share;
  low = scale.inverse(bottom + by);
  high = scale.inverse(top + by);
}

// Handles wheel, drag, box and double click. Changes what the next frame shows.
void navigate(const PlotFrame& frame, PlotAxis& axis, PlotState& state, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const auto fix_y = [&] {
    if (!state.y_fixed) state.y_low = frame.y0, state.y_high = frame.y1;
    state.y_fixed = true;
  };
  if (hovered && io.MouseWheel != 0) {
    const double factor = std::pow(0.85, double(io.MouseWheel));
    if (io.KeyCtrl) {
      fix_y();
      zoom(state.y_low, state.y_high, frame.y, frame.y_at(io.MousePos.y), factor);
    } else if (axis.mode == PlotAxis::Mode::follow) {
      axis.window = std::max(axis.window * factor, 1e-3);
    } else {
      axis.mode = PlotAxis::Mode::fixed;
      zoom(axis.low, axis.high, axis.scale, frame.x_at(io.MousePos.x), factor);
    }
  }
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    axis.mode = PlotAxis::Mode::fit;
    state.y_fixed = false;
  }
  if (active && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    state.boxing = axis.box || io.KeyShift;
    state.box_from = io.MousePos;
  }
  if (active && !state.boxing && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    if (io.MouseDelta.x != 0) {
      axis.mode = PlotAxis::Mode::fixed;
      shift(axis.low, axis.high, axis.scale, -double(io.MouseDelta.x) / double(frame.width()));
    }
    if (state.y_fixed)
      shift(state.y_low, state.y_high, frame.y, double(io.MouseDelta.y) / double(frame.height()));
  }
  if (state.boxing && !active) {
    state.boxing = false;
    const ImVec2 to{std::clamp(io.MousePos.x, frame.min.x, frame.max.x),
                    std::clamp(io.MousePos.y, frame.min.y, frame.max.y)};
    const ImVec2 from = state.box_from;
    if (std::abs(to.x - from.x) < 4 || std::abs(to.y - from.y) < 4) return;
    axis.mode = PlotAxis::Mode::fixed;
    axis.low = frame.x_at(std::min(from.x, to.x));
    axis.high = frame.x_at(std::max(from.x, to.x));
    state.y_fixed = true;
    state.y_low = frame.y_at(std::max(from.y, to.y));
    state.y_high = frame.y_at(std::min(from.y, to.y));
  }
}

// The point of a raw curve under the mouse: it finds the peak of a step that is only a pixel wide.
struct PointUnderMouse {
  double x;
  ImVec2 at;
  ImU32 color;
};
std::optional<PointUnderMouse> point_under_mouse(const std::vector<PlotLine>& lines, const PlotFrame& frame) {
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const float radius = em(0.9f);
  const double from = frame.x_at(mouse.x - radius), to = frame.x_at(mouse.x + radius);
  std::optional<PointUnderMouse> nearest;
  float least = radius;
  for (const PlotLine& line : lines) {
    const Curve& curve = *line.raw;
    // Skips merged entries: such an entry stands for many steps, and the mouse's x is closer to the step that
    // the user means.
    for (size_t i = std::max(curve.lower_bound(from), curve.merged()); i < curve.size() && curve.x(i) <= to;
         ++i) {
      if (!frame.shows(curve.x(i), curve.y(i))) continue;
      const ImVec2 at{frame.px(curve.x(i)), frame.py(curve.y(i))};
      const float distance = std::hypot(at.x - mouse.x, at.y - mouse.y);
      if (distance >= least) continue;
      least = distance;
      nearest = PointUnderMouse{curve.x(i), at, line.color};
    }
  }
  return nearest;
}

// A click at `x` that neither drags nor opens a box. It is returned only when it has not become a double
// click, which shows everything.
std::optional<double> click(double x, PlotState& state, bool released) {
  const ImGuiIO& io = ImGui::GetIO();
  const float moved = io.MouseDragMaxDistanceSqr[ImGuiMouseButton_Left];
  if (io.MouseClickedLastCount[ImGuiMouseButton_Left] > 1) {
    state.clicked.reset();
  } else if (released && moved < 16 && !io.KeyShift) {
    state.clicked = x;
    state.clicked_at = ImGui::GetTime();
  }
  if (!state.clicked) return std::nullopt;
  const double wait = state.clicked_at + double(io.MouseDoubleClickTime) - ImGui::GetTime();
  if (wait <= 0) return std::exchange(state.clicked, std::nullopt);
  draw_again_in(wait);
  return std::nullopt;
}

void draw_crosshair(ImDrawList* list, const std::vector<PlotLine>& lines, const PlotFrame& frame, double at,
                    const PlotColors& colors) {
  list->AddLine({frame.px(at), frame.min.y}, {frame.px(at), frame.max.y}, colors.crosshair, 1);
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    const Curve& curve = *line.raw;  // a smoothed curve has other values, and its peaks come later
    const size_t i = curve.nearest(at);
    if (frame.shows(curve.x(i), curve.y(i)) && curve.x(i) >= frame.x0 && curve.x(i) <= frame.x1)
      list->AddCircleFilled({frame.px(curve.x(i)), frame.py(curve.y(i))}, em(0.22f), line.color, 12);
  }
}

// The value at an entry; for merged points their mean, range and counts of NaN and Inf.
std::string values_of(const Curve& curve, size_t i) {
  if (i >= curve.merged()) return number_figure(curve.y(i), 9);
  const CurveBucket& bucket = curve.bucket(i);
  std::string text = "mean of " + std::to_string(bucket.points) + " points " + number_figure(bucket.mean, 9);
  if (!bucket.range.empty())
    text += ", from " + number_figure(bucket.range.min, 9) + " to " + number_figure(bucket.range.max, 9);
  if (bucket.nans) text += ", " + std::to_string(bucket.nans) + " NaN";
  if (bucket.infs) text += ", " + std::to_string(bucket.infs) + " Inf";
  return text;
}

void show_values(const std::vector<PlotLine>& lines, const PlotAxis& axis, const PlotFrame& frame, double at,
                 const PlotColors& colors) {
  constexpr size_t kMost = 16;
  // The column of the crosshair, with the rings of its points.
  const float x = std::clamp(frame.px(at), frame.min.x, frame.max.x), reach = em(0.5f);
  begin_tip({.area = {{x - reach, frame.min.y}, {x + reach, frame.max.y}}, .aside = true});
  double x_before = NAN;
  size_t shown = 0, more = 0;
  for (const PlotLine& line : lines) {
    if (line.raw->size() == 0) continue;
    if (shown++ >= kMost) {
      ++more;
      continue;
    }
    const size_t i = line.raw->nearest(at);
    const double x = line.raw->x(i);
    const bool merged = i < line.raw->merged();
    if (x != x_before) {
      const std::string from = merged ? number_figure(line.raw->first_x(i), 9) + " to " : "";
      text_in(colors.muted, "%s %s%s", axis.label.c_str(), from.c_str(), number_figure(x, 9).c_str());
    }
    x_before = x;
    text_in(line.color, "%s", line.name.c_str());
    ImGui::SameLine(0, em(0.8f));
    ImGui::TextUnformatted(values_of(*line.raw, i).c_str());
    if (line.smooth) {
      ImGui::SameLine(0, em(0.8f));
      text_in(colors.muted, "smoothed %s", number_figure(line.smooth->y(i), 9).c_str());
    }
    if (line.band_low) {
      ImGui::SameLine(0, em(0.8f));
      text_in(colors.muted, "%s to %s", number_figure(line.band_low->y(i), 9).c_str(),
              number_figure(line.band_high->y(i), 9).c_str());
    }
  }
  if (more) text_in(colors.muted, "and %zu more, see the legend", more);
  end_tip();
}

float sign_height() { return em(0.95f); }

// Vertical lines with a label below, as long as there is space up to the next mark. Marks that would overlap
// share one label.
void draw_marks(ImDrawList* list, const std::vector<PlotMark>& marks, const PlotFrame& frame,
                const PlotColors& colors, PlotShown& shown) {
  const float side = sign_height();
  std::vector<const PlotMark*> visible;
  for (const PlotMark& mark : marks)
    if (frame.x.shows(mark.x) && mark.x >= frame.x0 && mark.x <= frame.x1) visible.push_back(&mark);
  std::stable_sort(visible.begin(), visible.end(),
                   [](const PlotMark* a, const PlotMark* b) { return a->x < b->x; });
  const auto width_of = [&](const std::string& text) {
    return std::max(side,
                    ImGui::GetFont()->CalcTextSizeA(side * 0.85f, FLT_MAX, 0, text.c_str()).x + em(0.4f));
  };
  float taken = frame.min.x;  // right end of the labels drawn so far
  for (size_t i = 0; i < visible.size();) {
    size_t end = i + 1;
    const float x = std::round(frame.px(visible[i]->x));
    while (end < visible.size() && frame.px(visible[end]->x) - x < 1.5f * side) ++end;
    const PlotMark& mark = *visible[i];
    const std::vector<std::string> labels = mark_labels(std::span(visible).subspan(i, end - i));
    // The label starts to the left of the line and ends before the next one; at the right edge it moves
    // further left.
    const float limit = end < visible.size() ? frame.px(visible[end]->x) - 0.6f * side : frame.max.x;
    const auto fits = std::find_if(labels.begin(), labels.end(), [&](const std::string& label) {
      return width_of(label) <= limit - taken;
    });
    const std::string& text = fits == labels.end() ? labels.back() : *fits;
    const float width = width_of(text);
    const ImVec2 corner{std::max(std::min(x - side / 2, limit - width), taken), frame.max.y};
    const ImVec2 far{corner.x + width, frame.max.y + side};
    taken = far.x + em(0.15f);
    draw_dashed(list, {{x, frame.min.y}, {x, corner.y}}, with_alpha(mark.color, 0.7f), 1, 2);
    list->AddRectFilled(corner, far, colors.popup, em(0.15f));
    list->AddRect(corner, far, mark.color, em(0.15f));
    list->AddText(ImGui::GetFont(), side * 0.85f, {corner.x + em(0.2f), corner.y}, mark.color, text.c_str());
    std::string all;
    for (size_t k = i; k < end; ++k) all += (k > i ? "; " : "") + visible[k]->text;
    shown.marks.push_back({text + ": " + all, corner, far});
    if (ImGui::IsMouseHoveringRect(corner, far) &&
        ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) {
      begin_tip({.area = {corner, far}, .key = i + 1}, shown.marks.back().text);
      ImGui::PushTextWrapPos(em(30));
      for (size_t k = i; k < std::min(end, i + 12); ++k) ImGui::TextUnformatted(visible[k]->text.c_str());
      if (end - i > 12) text_in(colors.muted, "and %zu more; zoom in to tell them apart", end - i - 12);
      ImGui::PopTextWrapPos();
      end_tip();
    }
    i = end;
  }
}

void draw_axes(ImDrawList* list, const PlotFrame& frame, const PlotAxis& axis, bool labelled, float signs,
               const PlotColors& colors) {
  ImFont* font = ImGui::GetFont();
  const float small = std::round(ImGui::GetTextLineHeight() * 0.85f);
  const auto width_of = [&](const std::string& text) {
    return font->CalcTextSizeA(small, FLT_MAX, 0, text.c_str()).x;
  };
  const auto y_ticks = axis_ticks(frame.y, frame.y0, frame.y1, std::max(3, int(frame.height() / em(2.2f))));
  float below = INFINITY;
  for (size_t i = 0; i < y_ticks.size(); ++i) {
    const float y = std::round(frame.py(y_ticks[i]));
    list->AddLine({frame.min.x, y}, {frame.max.x, y}, colors.grid, 1);
    if (below - y < small) continue;  // too close to the label below, near 0 of a symlog axis
    below = y;
    const std::string text = axis_number(y_ticks[i], tick_distance(frame.y, y_ticks, i));
    list->AddText(font, small,
                  {std::round(frame.min.x - em(0.4f) - width_of(text)), std::round(y - small / 2)},
                  colors.muted, text.c_str());
  }
  const auto x_ticks = axis.ticks(std::max(3, int(frame.width() / em(5))));
  const float label_width = labelled ? width_of(axis.label) + em(0.6f) : 0;
  float behind = -INFINITY;
  for (size_t i = 0; i < x_ticks.size(); ++i) {
    const float x = std::round(frame.px(x_ticks[i]));
    list->AddLine({x, frame.min.y}, {x, frame.max.y}, colors.grid, 1);
    if (!labelled) continue;
    const std::string text = axis_number(x_ticks[i], tick_distance(frame.x, x_ticks, i));
    const float width = width_of(text);
    const float left =
        std::clamp(x - width / 2, frame.min.x - em(1), std::max(frame.max.x - width, frame.min.x - em(1)));
    if (left + width > frame.max.x - label_width || left < behind + em(0.4f)) continue;
    behind = left + width;
    list->AddText(font, small, {std::round(left), frame.max.y + signs + em(0.25f)}, colors.muted,
                  text.c_str());
  }
  if (labelled)
    list->AddText(font, small, {frame.max.x - label_width + em(0.6f), frame.max.y + signs + em(0.25f)},
                  colors.muted, axis.label.c_str());
}

}  // namespace

void PlotAxis::update(double first, double last, double least_positive) {
  const bool log = scale.kind == AxisScale::Kind::log;
  scale.threshold = scale.kind == AxisScale::Kind::symlog && last < 10 ? symlog_threshold(last) : 1;
  if (log) first = least_positive;
  if (mode == Mode::fit) {
    low = first;
    high = last;
    if (!log && first == last) {  // the only point is in the middle
      low -= 1;
      high += 1;
    }
  } else if (mode == Mode::follow) {
    low = last - window;
    high = last;
  }
  if (log && !(low > 0)) low = std::isfinite(least_positive) ? least_positive : 1;
  if (!(high - low > 1e-9 * std::max(std::abs(low), 1e-3))) high = low + std::max(1.0, std::abs(low) * 1e-6);
  hovering = std::exchange(hovering_next, false);
}

std::vector<double> PlotAxis::ticks(int count) const {
  std::vector<double> found = axis_ticks(scale, low, high, count);
  if (label == "step") std::erase_if(found, [](double x) { return x != std::round(x); });
  return found;
}

std::string axis_number(double value, double step) {
  char text[32];
  const double size = std::abs(value);
  if (size < step * 1e-6) return "0";
  if (size >= 1e6 || (size < 1e-3 && step < 1e-3)) {
    const double parts = step > 0 ? size / step : 1;
    return number_figure(value, std::clamp(int(std::ceil(std::log10(parts) - 1e-9)) + 1, 3, 15));
  }
  const int digits = step > 0 ? std::clamp(int(std::ceil(-std::log10(step) - 1e-9)), 0, 12) : 3;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::vector<std::string> mark_labels(std::span<const PlotMark* const> marks) {
  const PlotMark& first = *marks[0];
  if (marks.size() == 1) {
    std::vector<std::string> labels;
    if (!first.brief.empty()) labels.push_back(first.brief);
    labels.push_back(first.kind);
    std::string letter = first.kind.substr(0, 1);
    if (letter[0] >= 'a' && letter[0] <= 'z') letter[0] = char(letter[0] - 'a' + 'A');
    labels.push_back(letter);
    return labels;
  }
  std::vector<std::pair<std::string, size_t>> kinds;
  for (const PlotMark* mark : marks) {
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == mark->kind; });
    if (known == kinds.end())
      kinds.emplace_back(mark->kind, 1);
    else
      ++known->second;
  }
  std::string counted;
  for (const auto& [kind, count] : kinds)
    counted += (counted.empty() ? "" : ", ") + std::to_string(count) + " " + kind + (count > 1 ? "s" : "");
  const std::string number = std::to_string(marks.size());
  return {counted, number + " marks", number};
}

std::vector<PlotLine> shown_lines(const std::vector<PlotLine>& lines, const PlotState& state) {
  std::vector<PlotLine> shown;
  for (const PlotLine& line : lines)
    if (!state.hidden.count(line.name)) shown.push_back(line);
  return shown;
}

PlotRange y_range(const std::vector<PlotLine>& shown, const PlotAxis& axis, const PlotState& state) {
  CurveRange range;
  size_t points = 0;  // entries of the longest curve
  const auto add = [&](const Curve* curve) {
    if (!curve) return;
    const size_t begin = curve->lower_bound(axis.low), end = curve->lower_bound(axis.high);
    points = std::max(points, end - begin);
    range.add(curve->range(begin, std::min(end + 1, curve->size())));
  };
  for (const PlotLine& line : shown) {
    add(line.raw);
    add(line.band_low);
    add(line.band_high);
  }
  PlotRange found{{state.y, symlog_threshold(std::max(std::abs(range.min), std::abs(range.max)))}, 0, 1};
  const ValueSpan span = with_margin(range, found.scale, points);
  found.low = span.low;
  found.high = span.high;
  if (state.y_fixed && state.y_high > state.y_low && (state.y != AxisScale::Kind::log || state.y_low > 0)) {
    found.low = state.y_low;
    found.high = state.y_high;
  }
  return found;
}

PlotShown draw_plot(const char* id, const char* title, const std::vector<PlotLine>& lines,
                    const std::vector<PlotMark>& marks, bool labelled, ImVec2 size, PlotAxis& axis,
                    PlotState& state, const PlotColors& colors) {
  const ImVec2 corner = ImGui::GetCursorScreenPos();
  PlotShown shown{.min = corner, .max = {corner.x + size.x, corner.y + size.y}};
  const float text_height = ImGui::GetTextLineHeight(), small = std::round(text_height * 0.85f);
  const float left = corner.x + em(3.6f), right = corner.x + size.x - em(0.3f);
  const std::vector<PlotLine> visible = shown_lines(lines, state);
  const PlotRange range = y_range(visible, axis, state);
  const float title_width = fonts().bold->CalcTextSizeA(text_height, FLT_MAX, 0, title).x;
  std::string note;  // next to the title
  if (range.scale.kind == AxisScale::Kind::symlog)
    note = "symlog, linear within \xc2\xb1" + axis_number(range.scale.threshold, range.scale.threshold);
  const bool automatic = state.automatic && range.scale.kind != AxisScale::Kind::linear;
  if (automatic) note = "automatic " + (note.empty() ? "log scale" : note);
  const float note_width =
      note.empty() ? 0 : ImGui::GetFont()->CalcTextSizeA(small, FLT_MAX, 0, note.c_str()).x + em(0.6f);
  const int legend_rows = std::clamp(int(size.y / em(4)), 1, 3);
  std::optional<PlotLegend::At> at;  // the mouse, else a past step
  if (axis.hovering)
    at = {axis.hover, true};
  else if (axis.cursor && axis.cursor->past)
    at = {axis.cursor->x, false};
  const PlotLegend legend(lines, state, corner.x, right, title_width + note_width + em(1), legend_rows, at);
  const float signs = marks.empty() ? 0 : sign_height();  // below the curves, so that they hide none
  const float head = float(legend.rows()) * (text_height + em(0.1f)) + em(0.35f);
  const float foot = signs + (labelled ? small + em(0.45f) : em(0.2f));
  const ImVec2 min{left, corner.y + head}, max{right, corner.y + size.y - foot};
  if (max.x - min.x < 20 || max.y - min.y < 20) {
    ImGui::Dummy({std::max(size.x, 1.0f), std::max(size.y, 1.0f)});
    return shown;
  }
  const PlotFrame frame(min, max, axis.scale, axis.low, axis.high, range.scale, range.low, range.high);
  shown.min = min;
  shown.max = max;
  const auto limits = [](const AxisScale& scale, double low, double high) {
    return std::string(name_of(scale.kind)) + " " + number_figure(low, 9) + " to " + number_figure(high, 9);
  };
  shown.scales = "x " + limits(frame.x, frame.x0, frame.x1) + ", y " + limits(frame.y, frame.y0, frame.y1) +
                 (automatic ? ", automatic" : "");

  ImGui::PushID(id);
  ImGui::SetCursorScreenPos(min);
  ImGui::InvisibleButton("area", {frame.width(), frame.height()});
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const bool released = ImGui::IsItemDeactivated() && hovered;
  navigate(frame, axis, state, hovered, active);
  const std::optional<PointUnderMouse> point =
      hovered ? point_under_mouse(visible, frame) : std::optional<PointUnderMouse>();
  const double mouse_x = point ? point->x : frame.x_at(ImGui::GetIO().MousePos.x);
  shown.clicked = click(mouse_x, state, released);
  if (hovered) {
    axis.hovering_next = true;
    axis.hover = mouse_x;
  }

  // Whole pixels: Dear ImGui draws such lines from its texture, with half the triangles.
  const float thin = std::max(1.0f, std::round(em(0.09f))), thick = std::max(2.0f, std::round(em(0.13f)));
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled(min, max, colors.background, em(0.2f));
  draw_axes(list, frame, axis, labelled, signs, colors);
  // The line of a value at the edge, such as an accuracy of 1, has its whole thickness.
  list->PushClipRect({min.x, min.y - thick / 2}, {max.x, max.y + thick / 2}, true);
  for (const PlotLine& line : visible)
    if (line.band_low) draw_band(list, line, frame);
  for (const PlotLine& line : visible)
    draw_curve(list, *line.raw, frame, line.smooth ? with_alpha(line.color, kRawStrength) : line.color, thin,
               line.smooth ? 0 : line.dash, line.most_apart);
  for (const PlotLine& line : visible)
    if (line.smooth) draw_curve(list, *line.smooth, frame, line.color, thick, line.dash, line.most_apart);
  for (const PlotLine& line : visible) draw_not_finite(list, *line.raw, frame, colors.alarm);
  if (axis.cursor && frame.x.shows(axis.cursor->x) && axis.cursor->x >= frame.x0 &&
      axis.cursor->x <= frame.x1) {
    shown.cursor = std::clamp(std::round(frame.px(axis.cursor->x)), min.x + 1, max.x - 1);
    list->AddLine({*shown.cursor, min.y}, {*shown.cursor, max.y}, axis.cursor->color, 2);
  }
  if ((hovered || axis.hovering) && axis.hover >= frame.x0 && axis.hover <= frame.x1)
    draw_crosshair(list, visible, frame, axis.hover, colors);
  if (point) list->AddCircle(point->at, em(0.35f), point->color, 16, thin);
  if (state.boxing) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    list->AddRectFilled(state.box_from, mouse, with_alpha(colors.accent, 0.2f));
    list->AddRect(state.box_from, mouse, colors.accent);
  }
  list->PopClipRect();
  draw_marks(list, marks, frame, colors, shown);
  const bool on_mark = std::any_of(shown.marks.begin(), shown.marks.end(), [](const auto& mark) {
    return ImGui::IsMouseHoveringRect(mark.min, mark.max);
  });
  if (hovered && !active && !on_mark && !visible.empty()) show_values(visible, axis, frame, mouse_x, colors);

  list->AddText(fonts().bold, text_height, {corner.x, corner.y}, colors.text, title);
  if (!note.empty())
    list->AddText(ImGui::GetFont(), small,
                  {corner.x + title_width + em(0.6f), corner.y + (text_height - small) / 2}, colors.muted,
                  note.c_str());
  if (automatic) {
    ImGui::SetCursorScreenPos({corner.x + title_width + em(0.6f), corner.y});
    ImGui::Dummy({note_width, text_height});
    explain(
        "The values of this loss span at least two decades, so its axis became logarithmic by itself. Y "
        "chooses another scale for all charts.");
  }
  if (visible.empty())
    list->AddText({min.x + em(0.6f), min.y + em(1.4f)}, colors.muted,
                  "All curves are hidden; the legend shows them again.");
  legend.draw(corner.y, state, colors, shown);
  ImGui::PopID();
  ImGui::SetCursorScreenPos(corner);
  ImGui::Dummy(size);
  return shown;
}

}  // namespace lunagrad
