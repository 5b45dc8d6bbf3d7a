// Draws the coloured ground behind boxes that belong together.
#include <algorithm>
#include <cmath>

#include "ui/graph/canvas.h"
#include "ui/graph/measures.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

constexpr float kAround = 5;     // width of a band around a box
constexpr float kAlong = 12;     // width of a band along a line
constexpr float kLabel = 0.75f;  // size of a band's label, relative to the title

}  // namespace

float GraphCanvas::around_boxes() const { return std::max(kAround * zoom_, 3.0f); }

// Each band is drawn in two passes, first all outlines, then all fills, so that its shapes merge into one.
void GraphCanvas::draw_bands(const View& view) const {
  const CanvasGraph& graph = view.graph;
  for (const Band& band : *view.marks.bands) {
    const ImU32 outline = blend(view.colors.background, view.colors.band, band.lit ? 1 : 0.55f);
    const ImU32 ground = blend(view.colors.background, view.colors.band, band.lit ? 0.3f : 0.18f);
    const float border = std::max(1.0f, 1.2f * zoom_);
    for (const bool whole : {true, false}) {
      const ImU32 color = whole ? outline : ground;
      const float around = around_boxes() - (whole ? 0 : border);
      for (const uint32_t s : band.strokes) {
        const uint32_t p = graph.stroke_point[s];
        const ImVec2 a = to_screen(graph.layout.points[p]), b = to_screen(graph.layout.points[p + 1]);
        if (meets({std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)},
                  view.min, view.max))
          draw_curve(view, a, b, color, std::max(kAlong * zoom_, 6.0f) - (whole ? 0 : 2 * border));
      }
      for (const uint32_t box : band.boxes) {
        const ImVec2 low = low_of(graph, int(box)), high = high_of(graph, int(box));
        const ImVec2 min{low.x - around, low.y - around}, max{high.x + around, high.y + around};
        const float rounding = graph.nodes[box].pill ? (max.y - min.y) / 2 : 9 * zoom_;
        if (meets(min, max, view.min, view.max)) view.list->AddRectFilled(min, max, color, rounding);
      }
    }
  }
}

void GraphCanvas::draw_band_labels(const View& view) const {
  std::vector<ImVec4> taken;
  for (const bool lit : {true, false})  // the group of the selected node first
    for (const Band& band : *view.marks.bands)
      if (band.lit == lit) draw_band_label(view, band, taken);
}

// Draws the label where it hides no box, no frame and no other label: above, below or to the right of a box.
void GraphCanvas::draw_band_label(const View& view, const Band& band, std::vector<ImVec4>& taken) const {
  constexpr size_t kMostTried = 8;  // boxes tried for the label
  const float size = std::max(kUnit * kLabel * zoom_, em(kReadable)), around = around_boxes();
  const auto is_free = [&](ImVec2 min, ImVec2 max) {
    bool free = min.x >= view.min.x && min.y >= view.min.y && max.x <= view.max.x && max.y <= view.max.y;
    for (const ImVec4& other : taken) free = free && !meets(min, max, {other.x, other.y}, {other.z, other.w});
    for (const CanvasFrame& frame : view.graph.frames) {
      ImVec2 low = to_screen(frame.low);
      const ImVec2 high = to_screen(frame.high);
      if (!free || !meets(min, max, low, high)) continue;
      low.y += kFrameTitle * zoom_;
      free = min.x > low.x && min.y > low.y && max.x < high.x && max.y < high.y;
    }
    if (free)
      view.graph.boxes.each({to_sheet(min), to_sheet(max)}, [&](uint32_t box) {
        free = free && !meets(min, max, low_of(view.graph, int(box)), high_of(view.graph, int(box)));
      });
    return free;
  };
  const auto in_sight = [&](uint32_t box) {
    return meets(low_of(view.graph, int(box)), high_of(view.graph, int(box)), view.min, view.max);
  };
  if (std::none_of(band.boxes.begin(), band.boxes.end(), in_sight)) return;
  for (const std::string& text : band.labels) {
    const Fonts::Label label = fonts().label(false, size, text);
    const float width = label.width(text);
    for (size_t i = 0; i < std::min(band.boxes.size(), kMostTried); ++i) {
      const ImVec2 low = low_of(view.graph, int(band.boxes[i])),
                   high = high_of(view.graph, int(band.boxes[i]));
      const float left = low.x - around, right = high.x + around + 2;
      for (const ImVec2 corner :
           {ImVec2{left, low.y - around - label.size - 1}, ImVec2{left, high.y + around + 1},
            ImVec2{right, low.y}, ImVec2{right, high.y - label.size}}) {
        const ImVec2 min{std::round(corner.x), std::round(corner.y)}, max{min.x + width, min.y + label.size};
        if (!is_free(min, max)) continue;
        taken.push_back({min.x, min.y, max.x, max.y});
        view.list->AddRectFilled(min, max, with_alpha(view.colors.background, 0.7f));
        view.list->AddText(label.font, label.size, min, band.lit ? view.colors.text : view.colors.muted,
                           text.c_str());
        return;
      }
    }
  }
}

}  // namespace lunagrad
