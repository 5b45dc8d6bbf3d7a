#include "ui/widgets/graph_canvas.h"

#include <algorithm>
#include <cmath>

#include "ui/theme.h"

namespace lunagrad {
namespace {

constexpr float kUnit = 15;  // height of the text at zoom 1
constexpr float kLine = 19;  // from line to line
constexpr float kPadX = 13, kPadY = 6;
constexpr float kNote = 0.85f;    // size of the small lines, as a part of the title's
constexpr float kLegible = 0.4f;  // zoom below which text is left out

void draw_text(ImDrawList* list, ImFont* font, float size, ImVec2 at, ImU32 color, const std::string& text) {
  list->AddText(font, size, at, color, text.data(), text.data() + text.size());
}

float text_width(ImFont* font, float size, const std::string& text) {
  return font->CalcTextSizeA(size, FLT_MAX, 0, text.data(), text.data() + text.size()).x;
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
    else if (byte >= 0xc0)  // the first byte of a longer sequence
      sum += advances.other;
  }
  return sum;
}

Graph::Box canvas_box(const CanvasNode& node, const TextMeasure& measure) {
  const float width = std::max({measure.bold(node.title), measure.plain(node.line) * kNote, 24.0f});
  const int lines = 1 + !node.line.empty();
  return {std::ceil(width) + 2 * kPadX, float(lines) * kLine + 2 * kPadY - 4};
}

void GraphCanvas::navigate(const CanvasGraph& graph, ImVec2 min, ImVec2 size, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  // The sheet moves with the panel; until the user touched it, it is fitted to each new size.
  origin_.x += min.x - corner_.x;
  origin_.y += min.y - corner_.y;
  corner_ = min;
  if (!touched_ && (size.x != last_size_.x || size.y != last_size_.y)) fit_ = true;
  last_size_ = size;
  if (fit_ && graph.layout.width > 0) {
    const float margin = em(0.8f);
    zoom_ = std::min({(size.x - 2 * margin) / graph.layout.width, (size.y - 2 * margin) / graph.layout.height,
                      em(1) / kUnit});
    zoom_ = std::max(zoom_, 0.001f);
    origin_ = {min.x + (size.x - graph.layout.width * zoom_) / 2,
               min.y + (size.y - graph.layout.height * zoom_) / 2};
    fit_ = touched_ = false;
  }
  if (center_ >= 0 && size_t(center_) < graph.layout.centers.size()) {
    const GraphPoint p = graph.layout.centers[size_t(center_)];
    zoom_ = std::max(zoom_, 0.8f * em(1) / kUnit);
    origin_ = {min.x + size.x / 2 - p.x * zoom_, min.y + size.y / 2 - p.y * zoom_};
    touched_ = true;
  }
  center_ = -1;
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    origin_.x += io.MouseDelta.x;
    origin_.y += io.MouseDelta.y;
    touched_ = true;
  }
  if (hovered && io.MouseWheel != 0) {
    const float factor = std::pow(1.15f, io.MouseWheel);
    const float next = std::clamp(zoom_ * factor, 0.001f, 4.0f * em(1) / kUnit);
    origin_.x = io.MousePos.x - (io.MousePos.x - origin_.x) * next / zoom_;
    origin_.y = io.MousePos.y - (io.MousePos.y - origin_.y) * next / zoom_;
    zoom_ = next;
    touched_ = true;
  }
}

void GraphCanvas::draw_edges(ImDrawList* list, const CanvasGraph& graph, ImVec2 min, ImVec2 max,
                             const Colors& colors, const Marks& marks) const {
  const GraphLayout& layout = graph.layout;
  const bool arrows = zoom_ > 0.3f;
  for (int pass = 0; pass < 2; ++pass) {  // the edges of the selected node on top
    for (size_t e = 0; e + 1 < layout.first.size(); ++e) {
      const Graph::Edge edge = graph.graph.edges[e];
      const bool marked =
          marks.selected >= 0 && (int(edge.from) == marks.selected || int(edge.to) == marks.selected);
      if (marked != (pass == 1)) continue;
      const uint32_t begin = layout.first[e], end = layout.first[e + 1];
      const ImVec2 start = to_screen(layout.points[begin]), stop = to_screen(layout.points[end - 1]);
      if (stop.y < min.y || start.y > max.y) continue;
      const ImU32 color = marked ? colors.selected : colors.edge;
      const float width = std::max(1.0f, (marked ? 2.0f : 1.4f) * zoom_);
      for (uint32_t p = begin; p + 1 < end; ++p) {
        const ImVec2 a = to_screen(layout.points[p]);
        ImVec2 b = to_screen(layout.points[p + 1]);
        if (b.y < min.y || a.y > max.y || std::max(a.x, b.x) < min.x || std::min(a.x, b.x) > max.x) continue;
        if (p + 2 == end && arrows) b.y -= 5 * zoom_;
        if (std::abs(a.x - b.x) < 1.5f) {
          list->AddLine(a, b, color, width);
        } else {
          const float bend = (b.y - a.y) * 0.5f;
          list->AddBezierCubic(a, {a.x, a.y + bend}, {b.x, b.y - bend}, b, color, width);
        }
      }
      if (arrows) {
        const float half = 4 * zoom_, length = 7 * zoom_;
        list->AddTriangleFilled(stop, {stop.x - half, stop.y - length}, {stop.x + half, stop.y - length},
                                color);
      }
    }
  }
}

void GraphCanvas::draw_node(ImDrawList* list, const CanvasGraph& graph, int index, const Colors& colors,
                            const Marks& marks) const {
  const size_t i = size_t(index);
  const CanvasNode& node = graph.nodes[i];
  const Graph::Box box = graph.graph.boxes[i];
  const GraphPoint c = graph.layout.centers[i];
  const ImVec2 min = to_screen({c.x - box.width / 2, c.y - box.height / 2});
  const ImVec2 max = to_screen({c.x + box.width / 2, c.y + box.height / 2});
  const bool faded = marks.found && !(*marks.found)[i];
  const float strength = faded ? 0.25f : 1.0f;
  const ImU32 hue = with_alpha(colors.palette[node.color], strength);
  const float rounding = node.pill ? (max.y - min.y) / 2 : 6 * zoom_;
  const ImU32 fill = blend(colors.box, colors.palette[node.color], index == hovered_ ? 0.26f : 0.15f);
  list->AddRectFilled(min, max, with_alpha(fill, faded ? 0.4f : 1), rounding);
  if (index == marks.selected) {
    const float gap = 3;
    list->AddRect({min.x - gap, min.y - gap}, {max.x + gap, max.y + gap}, colors.selected, rounding + gap, 0,
                  2.2f);
  }
  list->AddRect(min, max, hue, rounding, 0, std::max(1.0f, 1.4f * zoom_));
  if (zoom_ < kLegible) return;

  const float middle = (min.x + max.x) / 2;
  float y = min.y + (kPadY - 2) * zoom_;
  const auto line = [&](ImFont* font, float size, ImU32 color, const std::string& text) {
    if (text.empty()) return;
    const float x = std::round(middle - text_width(font, size, text) / 2);
    draw_text(list, font, size, {x, std::round(y + (kLine * zoom_ - size) / 2)}, with_alpha(color, strength),
              text);
    y += kLine * zoom_;
  };
  const float size = kUnit * zoom_, small = size * kNote;
  line(fonts().sized(true, size), size, colors.text, node.title);
  line(fonts().sized(false, small), small, colors.muted, node.line);
}

int GraphCanvas::draw(const char* id, const CanvasGraph& graph, ImVec2 size, const Colors& colors,
                      const Marks& marks, const std::function<void(int, ImVec2, ImVec2)>& on_visible) {
  if (size.x < 8 || size.y < 8) return -2;
  const ImVec2 min = ImGui::GetCursorScreenPos(), max{min.x + size.x, min.y + size.y};
  ImGui::InvisibleButton(id, size);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  const bool released = ImGui::IsItemDeactivated();
  navigate(graph, min, size, hovered, active);

  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(min, max, true);
  list->AddRectFilled(min, max, colors.background, em(0.3f));
  const float spacing = 24 * zoom_ * (zoom_ < 0.5f ? 4.0f : 1.0f);
  if (spacing > 8)
    for (float y = min.y + std::fmod(origin_.y - min.y, spacing); y < max.y; y += spacing)
      for (float x = min.x + std::fmod(origin_.x - min.x, spacing); x < max.x; x += spacing)
        list->AddRectFilled({x, y}, {x + 1, y + 1}, colors.grid);

  const ImVec2 mouse = ImGui::GetIO().MousePos;
  int under_mouse = -1;
  std::vector<int> visible;
  for (size_t i = 0; i < graph.layout.centers.size(); ++i) {
    const GraphPoint c = graph.layout.centers[i];
    const Graph::Box box = graph.graph.boxes[i];
    const ImVec2 low = to_screen({c.x - box.width / 2, c.y - box.height / 2});
    const ImVec2 high = to_screen({c.x + box.width / 2, c.y + box.height / 2});
    if (high.x < min.x || low.x > max.x || high.y < min.y || low.y > max.y) continue;
    visible.push_back(int(i));
    if (on_visible) on_visible(int(i), low, high);
    if (hovered && mouse.x >= low.x && mouse.x <= high.x && mouse.y >= low.y && mouse.y <= high.y)
      under_mouse = int(i);
  }
  hovered_ = under_mouse;
  draw_edges(list, graph, min, max, colors, marks);
  for (int node : visible) draw_node(list, graph, node, colors, marks);
  list->PopClipRect();
  const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 4);
  if (released && hovered && drag.x == 0 && drag.y == 0) return under_mouse;
  return -2;
}

}  // namespace lunagrad
