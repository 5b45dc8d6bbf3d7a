#include "ui/graph/canvas.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/graph/measures.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr float kLine = 19;  // distance between lines
constexpr float kPadX = 13, kPadY = 6;
constexpr float kLegible = kLeastText / kUnit;  // zoom from which on texts are legible
constexpr float kMargin = 0.8f;  // around a picture that is fitted, in heights of the body font

void fill(ImDrawList* list, ImVec2 min, ImVec2 max, ImU32 color) {
  list->PrimReserve(6, 4);
  list->PrimRect(min, max, color);
}

// A line without antialiasing, which is invisible at small zoom.
void thin_line(ImDrawList* list, ImVec2 a, ImVec2 b, ImU32 color) {
  const float dx = b.x - a.x, dy = b.y - a.y, length = std::sqrt(dx * dx + dy * dy);
  if (length < 0.5f) return;
  const ImVec2 side{-dy / length * 0.5f, dx / length * 0.5f}, uv = ImGui::GetFontTexUvWhitePixel();
  list->PrimReserve(6, 4);
  list->PrimQuadUV({a.x + side.x, a.y + side.y}, {b.x + side.x, b.y + side.y}, {b.x - side.x, b.y - side.y},
                   {a.x - side.x, a.y - side.y}, uv, uv, uv, uv, color);
}

}  // namespace

TextMeasure::TextMeasure(const ImFont* plain, const ImFont* bold) : plain_(copy(plain)), bold_(copy(bold)) {}

TextMeasure::Advances TextMeasure::copy(const ImFont* font) {
  Advances advances;
  const float scale = kUnit / font->FontSize;
  for (size_t c = 0; c < advances.of.size(); ++c) advances.of[c] = font->GetCharAdvance(ImWchar(c)) * scale;
  advances.other = font->FallbackAdvanceX * scale;
  return advances;
}

float TextMeasure::width(const Advances& advances, std::string_view text) {
  float sum = 0;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      sum += advances.of[byte];
    else if (byte >= 0xc0)  // the first byte of a multi-byte sequence
      sum += advances.other;
  }
  return sum;
}

Graph::Box canvas_box(CanvasNode& node, const TextMeasure& measure) {
  node.title_width = measure.bold(node.title);
  node.line_width = measure.plain(node.line) * kNote;
  // At the smallest legible zoom the line is as high as the title, and takes a part of the space beside it.
  const float tight = node.line_width / kNote * 1.04f + (node.pill ? 18.0f : 10.0f) - 2 * kPadX;
  const float width = std::max({node.title_width, node.line_width, tight, 48.0f});
  const int lines = 1 + !node.line.empty();
  return {std::ceil(width) + 2 * kPadX, float(lines) * kLine + 2 * kPadY - 4};
}

ImU32 GraphCanvas::heat_color(ImU32 ground, ImU32 hottest, float heat) {
  return blend(ground, hottest, 0.06f + 0.54f * heat);
}

ImVec2 GraphCanvas::low_of(const CanvasGraph& graph, int box) const {
  const GraphPoint c = graph.layout.centers[size_t(box)];
  const Graph::Box b = graph.graph.boxes[size_t(box)];
  return to_screen({c.x - b.width / 2, c.y - b.height / 2});
}

ImVec2 GraphCanvas::high_of(const CanvasGraph& graph, int box) const {
  const GraphPoint c = graph.layout.centers[size_t(box)];
  const Graph::Box b = graph.graph.boxes[size_t(box)];
  return to_screen({c.x + b.width / 2, c.y + b.height / 2});
}

// The most reduced view that shows everything that can be distinguished at this zoom.
const FarView* GraphCanvas::far_view(const CanvasGraph& graph) const {
  const FarView* found = nullptr;
  for (const FarView& far : graph.far)
    if (zoom_ < far.zoom) found = &far;
  return found;
}

ImVec2 GraphCanvas::legible_room(ImVec2 size) {
  // A little less than the whole, so that a picture of this size is not reduced by rounding.
  const float zoom = 1.001f * kLegible * em(1) / kUnit, margin = em(kMargin);
  return {std::max((size.x - 2 * margin) / zoom, 0.0f), std::max((size.y - 2 * margin) / zoom, 0.0f)};
}

void GraphCanvas::fit(const CanvasGraph& graph, ImVec2 min, ImVec2 size) {
  const Fit wanted = std::exchange(fit_, Fit::none);
  const GraphLayout& layout = graph.layout;
  const float unit = em(1) / kUnit, margin = em(kMargin);
  const float whole =
      std::min({(size.x - 2 * margin) / layout.width, (size.y - 2 * margin) / layout.height, unit});
  if (wanted == Fit::if_legible && whole < kLegible * unit) return;
  // A graph that almost fits is shown as a whole.
  zoom_ = std::max(whole, wanted == Fit::end && whole < 0.92f * kLegible * unit ? kLegible * unit : 0.0001f);
  GraphPoint middle{graph.low.x + layout.width / 2, graph.low.y + layout.height / 2};
  // A graph that does not fit is shown at its end: above, or left of, the last box.
  const GraphPoint half{(size.x / 2 - margin) / zoom_, (size.y / 2 - margin) / zoom_};
  const auto last = std::max_element(
      layout.centers.begin(), layout.centers.end(),
      [&](const GraphPoint& a, const GraphPoint& b) { return layout.sideways ? a.x < b.x : a.y < b.y; });
  const auto at_end = [](float& at, float low, float length, float half_seen) {
    at = std::max(at, low + length - half_seen);
  };
  const auto around = [](float& at, float wanted, float low, float length, float half_seen) {
    if (length > 2 * half_seen) at = std::clamp(wanted, low + half_seen, low + length - half_seen);
  };
  if (layout.sideways) {
    at_end(middle.x, graph.low.x, layout.width, half.x);
    around(middle.y, last->y, graph.low.y, layout.height, half.y);
  } else {
    at_end(middle.y, graph.low.y, layout.height, half.y);
    around(middle.x, last->x, graph.low.x, layout.width, half.x);
  }
  origin_ = {min.x + size.x / 2 - middle.x * zoom_, min.y + size.y / 2 - middle.y * zoom_};
  fitted_ = wanted == Fit::end ? Fit::end : Fit::whole;
  touched_ = false;
}

void GraphCanvas::navigate(const CanvasGraph& graph, ImVec2 min, ImVec2 size, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const GraphLayout& layout = graph.layout;
  // The sheet moves with the panel. Until the user pans or zooms, the view is fitted to each new size.
  origin_.x += min.x - corner_.x;
  origin_.y += min.y - corner_.y;
  corner_ = min;
  if (!touched_ && (size.x != last_size_.x || size.y != last_size_.y)) fit_ = fitted_;
  last_size_ = size;
  if (fit_ != Fit::none && layout.width > 0) fit(graph, min, size);
  const auto look_at = [&](GraphPoint p) {
    origin_ = {min.x + size.x / 2 - p.x * zoom_, min.y + size.y / 2 - p.y * zoom_};
  };
  if (reveal_ >= 0 && size_t(reveal_) < layout.centers.size()) {
    const ImVec2 low = low_of(graph, reveal_), high = high_of(graph, reveal_);
    const bool in_sight =
        low.x >= min.x && low.y >= min.y && high.x <= min.x + size.x && high.y <= min.y + size.y;
    if (!in_sight || zoom_ < kLegible * em(1) / kUnit) center_ = reveal_;
  }
  if (center_ >= 0 && size_t(center_) < layout.centers.size()) {
    zoom_ = std::max(zoom_, 0.8f * em(1) / kUnit);
    look_at(layout.centers[size_t(center_)]);
    touched_ = true;
  }
  center_ = reveal_ = -1;
  const bool on_map = io.MousePos.x >= map_min_.x && io.MousePos.y >= map_min_.y &&
                      io.MousePos.x < map_max_.x && io.MousePos.y < map_max_.y;
  if (ImGui::IsItemActivated()) dragging_map_ = on_map;
  if (active && dragging_map_ && map_max_.x > map_min_.x) {
    look_at({graph.low.x + (io.MousePos.x - map_min_.x) / (map_max_.x - map_min_.x) * layout.width,
             graph.low.y + (io.MousePos.y - map_min_.y) / (map_max_.y - map_min_.y) * layout.height});
    touched_ = true;
  } else if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    origin_.x += io.MouseDelta.x;
    origin_.y += io.MouseDelta.y;
    touched_ = true;
  }
  if (hovered && io.MouseWheel != 0) {
    const float factor = std::pow(1.15f, io.MouseWheel);
    const float next = std::clamp(zoom_ * factor, 0.0001f, 4.0f * em(1) / kUnit);
    origin_.x = io.MousePos.x - (io.MousePos.x - origin_.x) * next / zoom_;
    origin_.y = io.MousePos.y - (io.MousePos.y - origin_.y) * next / zoom_;
    zoom_ = next;
    touched_ = true;
  }
}

void GraphCanvas::draw_frames(const View& view) const {
  const size_t count = view.far ? view.far->frames.size() : view.graph.frames.size();
  for (size_t i = 0; i < count; ++i) {
    const CanvasFrame& frame = view.graph.frames[view.far ? view.far->frames[i] : i];
    const ImVec2 low = to_screen(frame.low), high = to_screen(frame.high);
    if (!meets(low, high, view.min, view.max) || high.x - low.x < 3 || high.y - low.y < 3) continue;
    const float rounding = zoom_ < kFarZoom ? 0 : 8 * zoom_;
    view.list->AddRectFilled(low, high, with_alpha(view.colors.muted, 0.07f), rounding);
    view.list->AddRect(low, high, with_alpha(view.colors.muted, 0.35f), rounding);
    if (zoom_ < kTitled) continue;
    const float room = kUnit * kNote * (high.x - low.x - 24 * zoom_) / std::max(frame.title_width, 1.0f);
    const float size =
        std::max(kUnit * zoom_ * kNote, std::min({em(kReadable), kFrameTitle * zoom_ * 0.9f, room}));
    const float middle = low.y + kFrameTitle * zoom_ / 2, arm = 3.5f * zoom_;
    const ImVec2 sign{low.x + 11 * zoom_, middle};
    view.list->AddRect({sign.x - arm - 2, sign.y - arm - 2}, {sign.x + arm + 2, sign.y + arm + 2},
                       view.colors.faint, 2);
    view.list->AddLine({sign.x - arm + 1, sign.y}, {sign.x + arm, sign.y}, view.colors.muted);
    const Fonts::Label label = fonts().label(true, size, frame.title);
    const float left = std::round(low.x + 22 * zoom_);
    const std::string title = fitting_name(frame.title, label, high.x - 2 - left);
    view.list->AddText(label.font, label.size, {left, std::round(middle - label.size / 2)}, view.colors.muted,
                       title.c_str());
  }
}

void GraphCanvas::draw_edges(const View& view) const {
  const int selected = view.marks.selected;
  const auto stroke = [&](uint32_t s) {
    const Graph::Edge& edge = view.graph.graph.edges[view.graph.stroke_edge[s]];
    if (selected < 0 || (int(edge.from) != selected && int(edge.to) != selected)) draw_stroke(view, s, false);
  };
  if (view.far)
    view.far->stroke_grid.each(view.area, [&](uint32_t i) { stroke(view.far->strokes[i]); });
  else
    view.graph.strokes.each(view.area, stroke);
}

// The edges of the selected box, on top; cached per selection.
void GraphCanvas::draw_marked_edges(const View& view) {
  const std::pair wanted{view.graph.number, view.marks.selected};
  if (touching_of_ != wanted) {
    touching_of_ = wanted;
    touching_.clear();
    for (uint32_t s = 0; view.marks.selected >= 0 && s < view.graph.stroke_edge.size(); ++s) {
      const Graph::Edge& edge = view.graph.graph.edges[view.graph.stroke_edge[s]];
      if (int(edge.from) == view.marks.selected || int(edge.to) == view.marks.selected)
        touching_.push_back(s);
    }
  }
  for (const uint32_t s : touching_) draw_stroke(view, s, true);
}

void GraphCanvas::draw_stroke(const View& view, uint32_t s, bool marked) const {
  const CanvasGraph& graph = view.graph;
  const GraphLayout& layout = graph.layout;
  const bool shaped = zoom_ >= kFarZoom;
  const float width = std::max(1.0f, (marked ? 2.0f : 1.4f) * zoom_);
  const uint32_t p = graph.stroke_point[s], e = graph.stroke_edge[s];
  const GraphPoint from = layout.points[p], to = layout.points[p + 1];
  // At small zoom there are many edges, and most are shorter than a pixel.
  if (!shaped && (std::abs(from.x - to.x) + std::abs(from.y - to.y)) * zoom_ < 1.5f) return;
  const ImVec2 a = to_screen(from);
  ImVec2 b = to_screen(to);
  if (!meets({std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}, view.min,
             view.max))
    return;
  ImU32 color = marked ? view.colors.selected : view.colors.edge;
  if (view.marks.boxes && !marked && (*view.marks.boxes)[graph.graph.edges[e].to].faded)
    color = with_alpha(color, 0.35f);
  if (!shaped) return thin_line(view.list, a, b, color);
  const bool last = p + 2 == layout.first[e + 1];
  if (last) {
    const float half = 4 * zoom_, length = 7 * zoom_;
    // A curve ends along the layers' direction. In a layout from left to right, sources are above and below
    // their box, and their edges are straight.
    const bool straight = !layout.curved || (layout.sideways && std::abs(a.x - b.x) < 1.5f);
    const float dx = straight ? b.x - a.x : layout.sideways, dy = straight ? b.y - a.y : !layout.sideways;
    const float norm = std::max(std::sqrt(dx * dx + dy * dy), 1e-3f);
    const ImVec2 along{dx / norm, dy / norm}, back{b.x - along.x * length, b.y - along.y * length};
    view.list->AddTriangleFilled(b, {back.x - along.y * half, back.y + along.x * half},
                                 {back.x + along.y * half, back.y - along.x * half}, color);
    b = {b.x - along.x * 5 * zoom_, b.y - along.y * 5 * zoom_};
  }
  draw_curve(view, a, b, color, width);
}

void GraphCanvas::draw_curve(const View& view, ImVec2 a, ImVec2 b, ImU32 color, float width) {
  const GraphLayout& layout = view.graph.layout;
  if (!layout.curved || std::abs(a.x - b.x) < 1.5f || std::abs(a.y - b.y) < 1.5f) {
    view.list->AddLine(a, b, color, width);
  } else {
    const ImVec2 bend{layout.sideways ? (b.x - a.x) * 0.5f : 0, layout.sideways ? 0 : (b.y - a.y) * 0.5f};
    view.list->AddBezierCubic(a, {a.x + bend.x, a.y + bend.y}, {b.x - bend.x, b.y - bend.y}, b, color, width,
                              std::clamp(int(8 + (std::abs(a.x - b.x) + std::abs(a.y - b.y)) / 40), 8, 24));
  }
}

// Boxes of a few pixels: rectangles, and one point where several fall on the same pixel.
void GraphCanvas::draw_far(const View& view, const std::vector<uint32_t>& visible) {
  const size_t columns = size_t(view.max.x - view.min.x) / 2 + 2,
               rows = size_t(view.max.y - view.min.y) / 2 + 2;
  taken_.assign((columns * rows + 63) / 64, 0);
  const auto draw = [&](uint32_t box) {
    const Mark* mark = view.marks.boxes ? &(*view.marks.boxes)[box] : nullptr;
    const bool plain = int(box) != view.marks.selected && int(box) != view.marks.playhead &&
                       !(mark && (mark->lit || mark->failed || mark->strong));
    ImVec2 low = low_of(view.graph, int(box)), high = high_of(view.graph, int(box));
    if (high.x - low.x < 2 && high.y - low.y < 2) {
      const size_t x = size_t(std::clamp((low.x - view.min.x) / 2, 0.0f, float(columns - 1)));
      const size_t y = size_t(std::clamp((low.y - view.min.y) / 2, 0.0f, float(rows - 1)));
      uint64_t& word = taken_[(y * columns + x) / 64];
      const uint64_t bit = uint64_t(1) << (y * columns + x) % 64;
      if (plain && (word & bit)) return;
      word |= bit;
    }
    high = {std::max(high.x, low.x + 1.5f), std::max(high.y, low.y + 1.5f)};
    ImU32 color = view.colors.palette[view.graph.nodes[box].color];
    if (mark && mark->heat >= 0) color = heat_color(view.colors.box, view.colors.highlight, mark->heat);
    if (mark && mark->color) color = mark->color;
    const bool faded = (mark && mark->faded) || view.graph.nodes[box].pale;
    if (faded) color = with_alpha(color, 0.25f);
    if (mark && mark->failed) color = view.colors.bad;
    if (!plain) {
      const float out = int(box) == view.marks.playhead ? 4.0f : 3.0f;
      const ImU32 ring = mark && mark->failed   ? view.colors.bad
                         : mark && mark->strong ? mark->color
                                                : view.colors.selected;
      fill(view.list, {low.x - out, low.y - out}, {high.x + out, high.y + out}, ring);
    }
    fill(view.list, low, high, with_alpha(color, faded ? 0.25f : 0.8f));
  };
  // Marked boxes are drawn first, so that others on the same pixels do not hide them.
  if (view.marks.standing_out)
    for (const uint32_t box : *view.marks.standing_out)
      if (meets(low_of(view.graph, int(box)), high_of(view.graph, int(box)), view.min, view.max)) draw(box);
  for (const uint32_t box : visible) draw(box);
  for (const int box : {view.marks.selected, view.marks.playhead})
    if (box >= 0) draw(uint32_t(box));
}

void GraphCanvas::draw_box(const View& view, int index) {
  const Colors& colors = view.colors;
  const CanvasNode& node = view.graph.nodes[size_t(index)];
  const ImVec2 min = low_of(view.graph, index), max = high_of(view.graph, index);
  static const Mark none;
  const Mark& mark = view.marks.boxes ? (*view.marks.boxes)[size_t(index)] : none;
  // Pale boxes are still read and clicked, faded ones are set aside for a moment.
  const float strength = mark.faded ? 0.3f : node.pale ? 0.55f : 1.0f;
  const bool heated = mark.heat >= 0 && !mark.color;
  const ImU32 own = mark.failed  ? colors.bad
                    : mark.color ? mark.color
                    : heated     ? colors.highlight
                                 : colors.palette[node.color];
  const ImU32 hue = with_alpha(own, strength);
  const float rounding = node.pill ? (max.y - min.y) / 2 : 6 * zoom_;
  const bool strong = mark.failed || mark.strong;
  const float tint = (strong ? 0.45f : node.opens ? 0.24f : 0.15f) + (index == hovered_ ? 0.11f : 0);
  const ImU32 tinted =
      heated && !mark.failed ? heat_color(colors.box, own, mark.heat) : blend(colors.box, own, tint);
  const ImU32 body = with_alpha(tinted, mark.faded || node.pale ? 0.45f : 1);
  const float line_width = std::max(1.0f, 1.4f * zoom_);
  if (node.opens) {
    const float step = 4 * zoom_;
    view.list->AddRectFilled({min.x + step, min.y + step}, {max.x + step, max.y + step}, body, rounding);
    view.list->AddRect({min.x + step, min.y + step}, {max.x + step, max.y + step},
                       with_alpha(own, 0.5f * strength), rounding, 0, line_width);
  }
  view.list->AddRectFilled(min, max, body, rounding);
  const auto ring = [&](float gap, ImU32 color, float width) {
    view.list->AddRect({min.x - gap, min.y - gap}, {max.x + gap, max.y + gap}, color, rounding + gap, 0,
                       width);
  };
  if (mark.lit) ring(2, colors.text, 1.6f);
  if (index == view.marks.selected) ring(3, colors.selected, 2.2f);
  if (index == view.marks.playhead) {
    ring(6, colors.highlight, 3);
    const float x = min.x - 10, y = (min.y + max.y) / 2, arm = std::max(4.0f, 7 * zoom_);
    view.list->AddTriangleFilled({x, y}, {x - arm, y - arm}, {x - arm, y + arm}, colors.highlight);
  }
  view.list->AddRect(min, max, hue, rounding, 0, strong ? 2 * line_width : line_width);
  const float middle = (min.x + max.x) / 2;
  if (zoom_ < kTitled) return;
  std::string note;
  if (view.marks.note) note = view.marks.note(index);
  const std::string_view below = note.empty() ? std::string_view(node.line) : std::string_view(note);
  float below_width = node.line_width;
  if (!note.empty())
    below_width =
        fonts().body->CalcTextSizeA(kUnit * kNote, FLT_MAX, 0, note.data(), note.data() + note.size()).x;
  // Text grows into the space around it up to a legible size. Where both lines would be too small, the title
  // gets the space of both.
  const float room_x = max.x - min.x - 6, room_y = max.y - min.y - 2,
              title = std::max(node.title_width, 1.0f);
  const auto fitting = [&](float widest, float lines) {
    const float most = std::min(room_x * kUnit / widest, room_y / lines);
    return std::max(kUnit * zoom_, std::min(most, em(kReadable)));
  };
  float size = below.empty() ? 0 : fitting(std::max(title, below_width), 2.15f);
  const bool both = size * kNote >= kSmallest;
  if (!both) size = fitting(title, 1.15f);
  if (size < kSmallest) return draw_signs(view, mark, min, max);
  const float pitch = both ? std::max(size * kLine / kUnit * 0.9f, kLine * zoom_) : size * 1.15f;
  const float center = (min.y + max.y) / 2;
  float y = std::round(center - (both ? pitch : pitch / 2));
  // A pill is narrower above and below its middle.
  const auto width_at = [&](float line_middle, float its_size) {
    const float from_center = std::abs(line_middle - center) + 0.36f * its_size;
    const float inset =
        node.pill ? rounding - std::sqrt(std::max(rounding * rounding - from_center * from_center, 0.0f)) : 0;
    return max.x - min.x - 4 - 2 * inset;
  };
  const auto line = [&](bool bold, float its_size, ImU32 color, std::string_view whole) {
    // Relative to their height, small glyphs are wider than the glyphs that the box was sized for.
    Fonts::Label label = fonts().label(bold, its_size, whole);
    const float least = std::min(kSmallest, label.size);
    while (label.size > least && label.width(whole) > width_at(y + pitch / 2, label.size))
      label = fonts().label(bold, label.size - 1, whole);
    const std::string text = fitting_name(whole, label, max.x - min.x - 4);
    least_text_ = least_text_ == 0 ? label.size : std::min(least_text_, label.size);
    view.list->AddText(label.font, label.size,
                       {std::round(middle - label.width(text) / 2), std::round(y + (pitch - label.size) / 2)},
                       with_alpha(color, strength), text.c_str());
    y += pitch;
  };
  line(true, size, colors.text, node.title);
  // The line is smaller than the title only where both stay legible.
  const float line_size = std::max(size * kNote, std::min(size, em(kLeastText / kUnit)));
  if (both) line(false, line_size, note.empty() ? colors.muted : colors.text, below);
  draw_signs(view, mark, min, max);
}

// Places an area of this size in the first corner in which it covers none of the visible boxes and not the
// map, else in the lower left one.
void GraphCanvas::place_corner(const View& view, const std::vector<uint32_t>& visible, ImVec2 size) {
  const float gap = em(0.3f), left = view.min.x + em(0.4f), right = view.max.x - em(0.4f) - size.x,
              top = view.min.y + gap, bottom = view.max.y - gap - size.y;
  const auto place = [&](ImVec2 at) {
    corner_min_ = at;
    corner_max_ = {at.x + size.x, at.y + size.y};
  };
  const auto is_free = [&] {
    if (map_max_.x > map_min_.x && meets(map_min_, map_max_, corner_min_, corner_max_)) return false;
    return std::none_of(visible.begin(), visible.end(), [&](uint32_t box) {
      return meets(low_of(view.graph, int(box)), high_of(view.graph, int(box)), corner_min_, corner_max_);
    });
  };
  for (const ImVec2 at :
       {ImVec2{left, bottom}, ImVec2{right, bottom}, ImVec2{right, top}, ImVec2{left, top}}) {
    place(at);
    if (is_free()) return;
  }
  place({left, bottom});
}

void GraphCanvas::draw_corner(const View& view, const std::vector<uint32_t>& visible, bool hovered) {
  corner_min_ = corner_max_ = {view.min.x, view.max.y};
  const std::string& text = view.marks.corner;
  if (text.empty()) return;
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  if (size.x + em(1.2f) > view.max.x - view.min.x || size.y + em(4) > view.max.y - view.min.y) return;
  place_corner(view, visible, {size.x + em(0.6f), size.y + em(0.4f)});
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool lit = hovered && mouse.x >= corner_min_.x && mouse.y >= corner_min_.y &&
                   mouse.x < corner_max_.x && mouse.y < corner_max_.y;
  view.list->AddRectFilled(corner_min_, corner_max_, with_alpha(view.colors.box, 0.92f), em(0.25f));
  view.list->AddText({corner_min_.x + em(0.3f), corner_min_.y + em(0.2f)},
                     lit ? view.colors.text : view.colors.muted, text.c_str());
}

// Places the map in the lower right corner, with the picture's aspect ratio, if a part of the picture is not
// visible.
void GraphCanvas::place_map(const CanvasGraph& graph, ImVec2 min, ImVec2 size) {
  map_min_ = map_max_ = {0, 0};
  const GraphLayout& layout = graph.layout;
  if (layout.width <= 0 || size.x < em(16) || size.y < em(10)) return;
  const ImVec2 low = to_screen(graph.low),
               high = to_screen({graph.low.x + layout.width, graph.low.y + layout.height});
  if (low.x >= min.x && low.y >= min.y && high.x <= min.x + size.x && high.y <= min.y + size.y) return;
  const ImVec2 most{size.x * 0.24f, size.y * 0.36f};
  const float scale = std::min(most.x / layout.width, most.y / layout.height);
  const ImVec2 room{std::round(std::clamp(layout.width * scale, em(2), most.x)),
                    std::round(std::clamp(layout.height * scale, em(2), most.y))};
  map_max_ = {min.x + size.x - em(0.5f), min.y + size.y - em(0.5f)};
  map_min_ = {map_max_.x - room.x, map_max_.y - room.y};
}

void GraphCanvas::draw_map(const View& view) {
  if (map_max_.x <= map_min_.x) return;
  const CanvasGraph& graph = view.graph;
  const ImVec2 size{map_max_.x - map_min_.x, map_max_.y - map_min_.y};
  const ImVec2 scale{size.x / graph.layout.width, size.y / graph.layout.height};
  if (map_of_ != graph.number || map_size_.x != size.x || map_size_.y != size.y) {
    map_of_ = graph.number;
    map_size_ = size;
    dots_.clear();
    const size_t columns = size_t(size.x) + 1, rows = size_t(size.y) + 1;
    taken_.assign((columns * rows + 63) / 64, 0);
    for (size_t i = 0; i < graph.layout.centers.size(); ++i) {
      const GraphPoint c = graph.layout.centers[i];
      const Graph::Box box = graph.graph.boxes[i];
      const ImVec2 at{(c.x - box.width / 2 - graph.low.x) * scale.x,
                      (c.y - box.height / 2 - graph.low.y) * scale.y};
      const size_t pixel = std::min(size_t(std::max(at.y, 0.0f)), rows - 1) * columns +
                           std::min(size_t(std::max(at.x, 0.0f)), columns - 1);
      if (taken_[pixel / 64] >> pixel % 64 & 1) continue;
      taken_[pixel / 64] |= uint64_t(1) << pixel % 64;
      dots_.push_back({at,
                       {std::max(box.width * scale.x, 1.0f), std::max(box.height * scale.y, 1.0f)},
                       graph.nodes[i].color});
    }
  }
  ImDrawList* list = view.list;
  list->AddRectFilled({map_min_.x - 3, map_min_.y - 3}, {map_max_.x + 3, map_max_.y + 3},
                      with_alpha(view.colors.box, 0.92f), 4);
  list->AddRect({map_min_.x - 3, map_min_.y - 3}, {map_max_.x + 3, map_max_.y + 3}, view.colors.faint, 4);
  for (const Dot& dot : dots_) {
    const ImVec2 at{map_min_.x + dot.at.x, map_min_.y + dot.at.y};
    fill(list, at, {at.x + dot.size.x, at.y + dot.size.y}, view.colors.palette[dot.color]);
  }
  const auto on_map = [&](GraphPoint p) {
    return ImVec2{std::clamp(map_min_.x + (p.x - graph.low.x) * scale.x, map_min_.x, map_max_.x),
                  std::clamp(map_min_.y + (p.y - graph.low.y) * scale.y, map_min_.y, map_max_.y)};
  };
  const ImVec2 low = on_map(view.area.low);
  ImVec2 high = on_map(view.area.high);
  high = {std::max(high.x, low.x + 3), std::max(high.y, low.y + 3)};
  list->AddRectFilled(low, high, with_alpha(view.colors.selected, 0.15f));
  list->AddRect(low, high, view.colors.selected, 0, 0, 1.5f);
}

GraphCanvas::Click GraphCanvas::draw(const char* id, const CanvasGraph& graph, ImVec2 size,
                                     const Colors& colors, const Marks& marks,
                                     const std::function<void(int, ImVec2, ImVec2)>& on_box,
                                     const std::function<void(int, ImVec2, ImVec2)>& on_frame) {
  Click click;
  if (size.x < 8 || size.y < 8) return click;
  const ImVec2 min = ImGui::GetCursorScreenPos(), max{min.x + size.x, min.y + size.y};
  ImGui::InvisibleButton(id, size, ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const bool released = ImGui::IsItemDeactivated();
  place_map(graph, min, size);
  navigate(graph, min, size, hovered, active);
  place_map(graph, min, size);

  ImDrawList* list = ImGui::GetWindowDrawList();
  const View view{list, graph, colors, marks, min, max, {to_sheet(min), to_sheet(max)}, far_view(graph)};
  list->PushClipRect(min, max, true);
  list->AddRectFilled(min, max, colors.background, em(0.3f));
  const float spacing = 24 * zoom_ * (zoom_ < 0.5f ? 4.0f : 1.0f);
  if (spacing > 8)
    for (float y = min.y + std::fmod(origin_.y - min.y, spacing); y < max.y; y += spacing)
      for (float x = min.x + std::fmod(origin_.x - min.x, spacing); x < max.x; x += spacing)
        fill(list, {x, y}, {x + 1, y + 1}, colors.grid);

  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool over_map =
      mouse.x >= map_min_.x && mouse.y >= map_min_.y && mouse.x < map_max_.x && mouse.y < map_max_.y;
  const bool over_corner = mouse.x >= corner_min_.x && mouse.y >= corner_min_.y && mouse.x < corner_max_.x &&
                           mouse.y < corner_max_.y;
  const auto under_mouse = [&](ImVec2 low, ImVec2 high) {
    return hovered && !over_map && !over_corner && mouse.x >= low.x && mouse.x <= high.x &&
           mouse.y >= low.y && mouse.y <= high.y;
  };
  int box_there = -1, frame_there = -1;
  std::vector<uint32_t> visible;
  const auto look_at = [&](uint32_t box) {
    const ImVec2 low = low_of(graph, int(box)), high = high_of(graph, int(box));
    if (!meets(low, high, min, max)) return;
    visible.push_back(box);
    if (on_box) on_box(int(box), low, high);
    if (!under_mouse(low, high)) return;
    box_there = int(box);
    hovered_area_ = ScreenArea{low, high}.within({min, max});
  };
  if (view.far)
    view.far->box_grid.each(view.area, [&](uint32_t i) { look_at(view.far->boxes[i]); });
  else
    graph.boxes.each(view.area, look_at);
  for (size_t f = 0; zoom_ >= kTitled && f < graph.frames.size(); ++f) {
    const CanvasFrame& frame = graph.frames[f];
    const ImVec2 low = to_screen(frame.low), edge = to_screen(frame.high);
    const ImVec2 high{edge.x, std::min(edge.y, low.y + kFrameTitle * zoom_)};
    if (!meets(low, high, min, max)) continue;
    if (on_frame) on_frame(int(f), low, {std::min(high.x, low.x + (22 + frame.title_width) * zoom_), high.y});
    if (!under_mouse(low, high)) continue;
    frame_there = int(f);
    if (box_there < 0) hovered_area_ = ScreenArea{low, high}.within({min, max});
  }
  hovered_ = box_there;
  hovered_frame_ = box_there < 0 ? frame_there : -1;
  least_text_ = 0;
  if (marks.bands && zoom_ >= kFarZoom) draw_bands(view);
  draw_frames(view);
  draw_edges(view);
  draw_marked_edges(view);
  if (zoom_ < kFarZoom)
    draw_far(view, visible);
  else
    for (const uint32_t box : visible) draw_box(view, int(box));
  if (marks.bands && zoom_ >= kTitled) draw_band_labels(view);
  draw_corner(view, visible, hovered && !over_map);
  draw_map(view);
  list->PopClipRect();

  const bool right = ImGui::IsMouseReleased(ImGuiMouseButton_Right);
  const ImVec2 drag = ImGui::GetMouseDragDelta(right ? ImGuiMouseButton_Right : ImGuiMouseButton_Left, 4);
  if (released && hovered && !dragging_map_ && drag.x == 0 && drag.y == 0) {
    click.menu = right;
    click.index = box_there >= 0 ? box_there : frame_there;
    click.kind = over_corner        ? Click::Kind::corner
                 : box_there >= 0   ? Click::Kind::box
                 : frame_there >= 0 ? Click::Kind::frame
                                    : Click::Kind::background;
  }
  return click;
}

}  // namespace lunagrad
