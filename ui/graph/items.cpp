#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <utility>

#include "ui/graph/canvas.h"

namespace lunagrad {
namespace {

// A set of numbers that allows a few million insertions a second: a hash table with open addressing.
class MetBefore {
 public:
  void clear(size_t most) {
    bits_ = 4;
    while (size_t(1) << bits_ < 2 * most) ++bits_;
    table_.assign(size_t(1) << bits_, 0);
  }
  bool insert(uint64_t key) {  // true: the key is new
    key += !key;
    size_t at = size_t(key * 0x9e3779b97f4a7c15u >> (64 - bits_));
    while (table_[at] && table_[at] != key) at = (at + 1) & (table_.size() - 1);
    return std::exchange(table_[at], key) != key;
  }

 private:
  int bits_ = 4;
  std::vector<uint64_t> table_;
};

}  // namespace

void CanvasGraph::index() {
  static std::atomic<uint64_t> pictures{0};
  number = ++pictures;
  std::vector<GraphGrid::Area> areas;
  areas.reserve(layout.centers.size());
  for (size_t i = 0; i < layout.centers.size(); ++i) {
    const GraphPoint c = layout.centers[i];
    const Graph::Box box = graph.boxes[i];
    areas.push_back(
        {{c.x - box.width / 2, c.y - box.height / 2}, {c.x + box.width / 2, c.y + box.height / 2}});
  }
  boxes = GraphGrid(areas);
  areas.clear();
  stroke_point.clear();
  stroke_edge.clear();
  for (uint32_t e = 0; e + 1 < layout.first.size(); ++e)
    for (uint32_t p = layout.first[e]; p + 1 < layout.first[e + 1]; ++p) {
      const GraphPoint a = layout.points[p], b = layout.points[p + 1];
      areas.push_back({{std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}});
      stroke_point.push_back(p);
      stroke_edge.push_back(e);
    }
  strokes = GraphGrid(areas);
  colors_used = 0;
  piles = false;
  for (const CanvasNode& node : nodes) {
    piles |= node.opens;
    if (!node.opens) colors_used |= 1u << node.color;
  }
  index_far();
}

// Each view is made from the previous one, at half its zoom.
void CanvasGraph::index_far() {
  constexpr size_t kFew = 4000;  // this many boxes and lines are drawn without reduction
  constexpr float kPixels = 2;   // side of the squares, in pixels, in which items are merged
  far.clear();
  FarView last;
  last.boxes.resize(nodes.size());
  last.strokes.resize(stroke_edge.size());
  last.frames.resize(frames.size());
  for (auto* all : {&last.boxes, &last.strokes, &last.frames}) std::iota(all->begin(), all->end(), 0u);
  MetBefore seen;
  for (float zoom = kFarZoom; last.boxes.size() + last.strokes.size() > kFew && zoom > 1e-4f; zoom /= 2) {
    FarView next;
    next.zoom = zoom;
    const float cell = kPixels / zoom;
    const auto place = [&](GraphPoint p) {
      return uint64_t(uint32_t(int32_t(std::floor((p.x - low.x) / cell)))) << 32 |
             uint32_t(int32_t(std::floor((p.y - low.y) / cell)));
    };
    std::vector<GraphGrid::Area> areas;
    seen.clear(last.boxes.size());
    for (const uint32_t b : last.boxes) {
      const GraphPoint c = layout.centers[b];
      const Graph::Box box = graph.boxes[b];
      if (!seen.insert(place(c))) continue;
      next.boxes.push_back(b);
      areas.push_back(
          {{c.x - box.width / 2, c.y - box.height / 2}, {c.x + box.width / 2, c.y + box.height / 2}});
    }
    next.box_grid = GraphGrid(areas);
    areas.clear();
    seen.clear(last.strokes.size());
    for (const uint32_t s : last.strokes) {
      const GraphPoint a = layout.points[stroke_point[s]], b = layout.points[stroke_point[s] + 1];
      // Lines that begin and end on the same pixels are merged.
      const uint64_t from = place(a), to = place(b);
      if (from == to || !seen.insert(from * 0xff51afd7ed558ccdu + to)) continue;
      next.strokes.push_back(s);
      areas.push_back({{std::min(a.x, b.x), std::min(a.y, b.y)}, {std::max(a.x, b.x), std::max(a.y, b.y)}});
    }
    next.stroke_grid = GraphGrid(areas);
    for (const uint32_t f : last.frames)
      if (std::min(frames[f].high.x - frames[f].low.x, frames[f].high.y - frames[f].low.y) >= cell)
        next.frames.push_back(f);
    last.boxes = next.boxes;
    last.strokes = next.strokes;
    last.frames = next.frames;
    far.push_back(std::move(next));
  }
}

int canvas_neighbour(const CanvasGraph& graph, int box, Direction direction) {
  std::vector<GraphPoint> centers = graph.layout.centers;
  if (box < 0 || size_t(box) >= centers.size()) return -1;
  if (graph.layout.sideways) {  // as if the picture were turned, so that edges run down
    for (GraphPoint& p : centers) std::swap(p.x, p.y);
    direction = direction == Direction::left    ? Direction::up
                : direction == Direction::right ? Direction::down
                : direction == Direction::up    ? Direction::left
                                                : Direction::right;
  }
  const GraphPoint here = centers[size_t(box)];
  int best = -1;
  float least = INFINITY;
  const auto offer = [&](uint32_t other, float distance) {
    if (distance < least) best = int(other), least = distance;
  };
  if (direction == Direction::up || direction == Direction::down) {
    for (const Graph::Edge& edge : graph.graph.edges) {
      const bool up = direction == Direction::up;
      if (int(up ? edge.to : edge.from) != box) continue;
      const uint32_t other = up ? edge.from : edge.to;
      offer(other, std::abs(centers[other].x - here.x) + 0.25f * std::abs(centers[other].y - here.y));
    }
    return best;
  }
  const float side = direction == Direction::left ? -1.0f : 1.0f;
  for (uint32_t other = 0; other < centers.size(); ++other) {
    const float dx = (centers[other].x - here.x) * side, dy = std::abs(centers[other].y - here.y);
    if (int(other) != box && dx > 1 && dy < 30) offer(other, dx + 4 * dy);
  }
  return best;
}

}  // namespace lunagrad
