#include "ui/widgets/parallel_plot.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr size_t kMostDescribed = 200;
constexpr float kDimmed = 0.15f, kOut = 0.07f;

// The best lines are blue, the worst orange: most people can tell these colours apart.
ImU32 color_of(const ParallelLine& line) {
  const Theme& t = theme();
  return std::isnan(line.shade) ? t.faint : blend(t.series[0], t.series[1], float(line.shade));
}

class Drawing {
 public:
  Drawing(const ParallelPlot& plot, ImVec2 at, ImVec2 size) : plot_(plot), list_(ImGui::GetWindowDrawList()) {
    const Fonts::Label font{ImGui::GetFont(), ImGui::GetFontSize()};
    // Space for half a name at the left, and for the labels of the last axis at the right.
    float right = font.width(plot.axes.back().name) / 2;
    for (const ParallelTick& tick : plot.axes.back().ticks)
      right = std::max(right, em(0.6f) + font.width(tick.label));
    left_ = at.x + font.width(plot.axes.front().name) / 2 + em(0.5f);
    width_ = plot.axes.size() > 1
                 ? std::max(1.0f, at.x + size.x - right - em(0.5f) - left_) / float(plot.axes.size() - 1)
                 : 1;
    top_ = at.y + 2 * ImGui::GetTextLineHeight();
    height_ = std::max(1.0f, at.y + size.y - 0.7f * ImGui::GetTextLineHeight() - top_);
  }

  float x(size_t axis) const { return left_ + width_ * float(axis); }
  float y(double place) const { return top_ + height_ * float(1 - place); }

  double place(float at) const { return std::clamp(double(1 - (at - top_) / height_), 0.0, 1.0); }

  // The axis at which a drag from here begins: near its line, or on its title.
  std::optional<size_t> axis_at(ImVec2 mouse) const {
    if (plot_.axes.size() < 2 || mouse.y > y(0) + em(0.6f)) return std::nullopt;
    const float nearest = std::round((mouse.x - left_) / width_);
    const auto axis = size_t(std::clamp(nearest, 0.0f, float(plot_.axes.size() - 1)));
    const Fonts::Label font{ImGui::GetFont(), ImGui::GetFontSize()};
    const float line = std::min(em(0.6f), 0.08f * width_);
    const float title = std::min(font.width(plot_.axes[axis].name), std::max(em(4), width_ - em(0.5f))) / 2;
    if (std::abs(mouse.x - x(axis)) > (mouse.y < y(1) ? std::max(title, line) : line)) return std::nullopt;
    return axis;
  }

  void draw_brush(size_t axis, double low, double high, const char* name, Description& description) const {
    const float half = em(0.45f);
    const ImVec2 min{x(axis) - half, y(high) - 1}, max{x(axis) + half, y(low) + 1};
    list_->AddRectFilled(min, max, with_alpha(theme().accent, 0.3f), em(0.15f));
    list_->AddRect(min, max, theme().accent, em(0.15f));
    description.add((std::string(name) + ".brush").c_str(), plot_.axes[axis].name, min, max);
  }

  std::optional<size_t> under(ImVec2 mouse) const {
    return nearest_line(plot_, (mouse.x - left_) / width_, 1 - (mouse.y - top_) / height_, width_, height_,
                        em(0.5f));
  }

  void draw_line(const ParallelLine& line, ImU32 color, float thickness) const {
    for (size_t i = 0; i + 1 < line.places.size(); ++i)
      if (std::isfinite(line.places[i]) && std::isfinite(line.places[i + 1]))
        list_->AddLine({x(i), y(line.places[i])}, {x(i + 1), y(line.places[i + 1])}, color, thickness);
  }

  void draw_axis(size_t axis, const char* name, Description& description) const {
    const ParallelAxis& one = plot_.axes[axis];
    const Theme& t = theme();
    list_->AddLine({x(axis), y(0)}, {x(axis), y(1)}, t.muted, 1);
    const float line = ImGui::GetTextLineHeight();
    const Fonts::Label font{ImGui::GetFont(), ImGui::GetFontSize()};
    const std::string title = fitting_text(one.name, font, std::max(em(4), width_ - em(0.5f)));
    const float wide = font.width(title);
    const ImVec2 at{x(axis) - wide / 2, top_ - 1.7f * line};
    list_->AddText(at, t.text, title.c_str());
    description.add((std::string(name) + ".axis").c_str(),
                    one.name + (one.about.empty() ? "" : " " + one.about), at, {at.x + wide, at.y + line});
    description.add((std::string(name) + ".track").c_str(), one.name, {x(axis) - 2, y(1)},
                    {x(axis) + 2, y(0)});
    std::vector<float> taken;
    for (const ParallelTick& tick : one.ticks) {
      const float middle = y(tick.place);
      if (std::any_of(taken.begin(), taken.end(),
                      [&](float other) { return std::abs(other - middle) < line; }))
        continue;
      taken.push_back(middle);
      const std::string label = fitting_text(tick.label, font, std::max(em(3), width_ * 0.6f));
      const ImVec2 place{x(axis) + em(0.4f), middle - line / 2};
      list_->AddLine({x(axis) - em(0.2f), middle}, {x(axis) + em(0.2f), middle}, t.muted, 1);
      // The background makes the label readable above the lines.
      list_->AddRectFilled({place.x - em(0.1f), place.y},
                           {place.x + font.width(label) + em(0.1f), place.y + line},
                           with_alpha(t.panel, 0.75f));
      list_->AddText(place, t.muted, label.c_str());
    }
  }

  // A place where a click hits this line and, as far as possible, no other: near the last axis.
  ImVec2 spot(const ParallelLine& line) const {
    const size_t last = line.places.size() - 1;
    if (last == 0 || !std::isfinite(line.places[last]) || !std::isfinite(line.places[last - 1]))
      return {x(0), y(0)};
    const float part = 0.9f;
    return {x(last - 1) + width_ * part,
            y(line.places[last - 1]) + (y(line.places[last]) - y(line.places[last - 1])) * part};
  }

 private:
  const ParallelPlot& plot_;
  ImDrawList* list_;
  float left_, width_, top_, height_;
};

}  // namespace

ParallelPick draw_parallel_plot(const char* name, const ParallelPlot& plot, const std::set<size_t>& chosen,
                                ImVec2 size, Description& description) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const bool clicked = ImGui::InvisibleButton(name, size);
  const Drawing drawing(plot, at, size);
  ParallelPick pick;
  if (const bool released = ImGui::IsItemDeactivated(); released || ImGui::IsItemActive()) {
    const ImGuiIO& io = ImGui::GetIO();
    const ImVec2 from = io.MouseClickedPos[ImGuiMouseButton_Left];
    const auto axis = drawing.axis_at(from);
    const bool moved = io.MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] >= 16;
    const double a = drawing.place(from.y), b = drawing.place(io.MousePos.y);
    if (axis && moved)
      pick.brush = ParallelPick::Brush{*axis, std::min(a, b), std::max(a, b), released};
    else if (axis && released && plot.axes[*axis].brush)
      pick.cleared = axis;
  }
  std::optional<size_t> under;
  if (ImGui::IsItemHovered() && !pick.brush) {
    under = drawing.under(ImGui::GetIO().MousePos);
    if (drawing.axis_at(ImGui::GetIO().MousePos)) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  }
  ImGui::PushClipRect(at, {at.x + size.x, at.y + size.y}, true);
  // The best lines are drawn last, above the others.
  std::vector<size_t> order(plot.lines.size());
  std::iota(order.begin(), order.end(), 0);
  const auto shade = [&](size_t i) {
    return plot.lines[i].out ? 3 : std::isnan(plot.lines[i].shade) ? 2 : plot.lines[i].shade;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return shade(a) > shade(b); });
  for (const size_t i : order) {
    const ParallelLine& line = plot.lines[i];
    const bool dim = (under || !chosen.empty()) && !chosen.count(line.source);
    const float strength = line.out ? kOut : dim ? kDimmed : 0.8f;
    drawing.draw_line(line, with_alpha(line.out ? theme().text : color_of(line), strength), em(0.1f));
  }
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    const ParallelLine& line = plot.lines[i];
    if (chosen.count(line.source) || under == i)
      drawing.draw_line(line, color_of(line), em(under == i ? 0.25f : 0.18f));
    if (i >= kMostDescribed) continue;
    const ImVec2 spot = drawing.spot(line);
    description.add((std::string(name) + ".line").c_str(),
                    line.name + (line.out ? " out" : "") + (chosen.count(line.source) ? " chosen" : "") +
                        (under == i ? " under the pointer" : ""),
                    {spot.x - 1, spot.y - 1}, {spot.x + 1, spot.y + 1});
  }
  for (size_t axis = 0; axis < plot.axes.size(); ++axis) {
    drawing.draw_axis(axis, name, description);
    if (pick.brush && pick.brush->axis == axis)
      drawing.draw_brush(axis, pick.brush->low, pick.brush->high, name, description);
    else if (const auto& brush = plot.axes[axis].brush)
      if (const auto places = places_of(plot.axes[axis], *brush))
        drawing.draw_brush(axis, places->first, places->second, name, description);
  }
  ImGui::PopClipRect();
  if (under) pick.under = plot.lines[*under].source;
  if (clicked && !pick.brush && !pick.cleared) pick.clicked = pick.under;
  return pick;
}

}  // namespace lunagrad
