#include "ui/graph/sideways.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lunagrad {
namespace {

constexpr float kStackGap = 10;  // between a box and the source above or below it
constexpr uint32_t kNone = UINT32_MAX;

// A box with its sources above and below. The box is in the middle, so that edges between boxes are straight.
class Stacks {
 public:
  explicit Stacks(const Graph& graph) : graph_(graph), host_(graph.boxes.size(), kNone) {
    std::vector<uint32_t> out(host_.size()), reader(host_.size(), kNone);
    for (const Graph::Edge& edge : graph.edges) {
      ++out[edge.from];
      reader[edge.from] = edge.to;
    }
    stacked_.resize(host_.size());
    for (uint32_t b = 0; b < host_.size(); ++b) {
      const uint32_t to = reader[b];
      // At most one above and one below: the edge of a third source would cross them.
      if (!graph.boxes[b].source || out[b] != 1 || graph.boxes[to].width == 0 || stacked_[to].size() >= 2)
        continue;
      host_[b] = to;
      stacked_[to].push_back(b);
    }
    // The boxes of a frame have fixed places for their edges, so their sources stay in a column.
    for (const Graph::Edge& edge : graph.edges)
      if (!std::isnan(edge.enter) && host_[edge.from] == edge.to) release(edge.from);
  }

  bool has_host(uint32_t box) const { return host_[box] != kNone; }
  uint32_t host(uint32_t box) const { return host_[box]; }

  float height(uint32_t box) const {
    float beside = 0;
    for (const uint32_t source : stacked_[box])
      beside = std::max(beside, graph_.boxes[source].height + kStackGap);
    return graph_.boxes[box].height + 2 * beside;
  }
  float width(uint32_t box) const {
    float width = graph_.boxes[box].width;
    for (const uint32_t source : stacked_[box]) width = std::max(width, graph_.boxes[source].width);
    return width;
  }
  // The sources of a box with their offsets from its center.
  template <class Place>
  void each(uint32_t box, Place place) const {
    for (size_t i = 0; i < stacked_[box].size(); ++i) {
      const float offset =
          graph_.boxes[box].height / 2 + kStackGap + graph_.boxes[stacked_[box][i]].height / 2;
      place(stacked_[box][i], i == 0 ? -offset : offset);
    }
  }

 private:
  void release(uint32_t box) {
    std::erase(stacked_[host_[box]], box);
    host_[box] = kNone;
  }

  const Graph& graph_;
  std::vector<uint32_t> host_;  // the box beside which a source is placed, kNone for none
  std::vector<std::vector<uint32_t>> stacked_;
};

GraphPoint turned(GraphPoint p) { return {p.y, p.x}; }

}  // namespace

GraphLayout layout_sideways(const Graph& graph, std::stop_token stop) {
  const Stacks stacks(graph);
  const uint32_t count = uint32_t(graph.boxes.size());
  Graph turned_graph;
  std::vector<uint32_t> number(count), edge_number(graph.edges.size(), kNone);
  for (uint32_t b = 0; b < count; ++b) {
    if (stacks.has_host(b)) continue;
    number[b] = uint32_t(turned_graph.boxes.size());
    turned_graph.boxes.push_back(
        {stacks.height(b), stacks.width(b), graph.boxes[b].pin, graph.boxes[b].height});
  }
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const Graph::Edge& edge = graph.edges[e];
    if (stacks.has_host(edge.from)) continue;
    edge_number[e] = uint32_t(turned_graph.edges.size());
    turned_graph.edges.push_back({number[edge.from], number[edge.to], edge.leave, edge.enter});
  }
  LayoutStyle style;
  style.layer_gap = 26;
  style.box_gap = 14;
  const GraphLayout down = layout_graph(turned_graph, style, std::move(stop));
  GraphLayout layout;
  if (down.centers.empty()) return layout;
  layout.sideways = true;
  layout.width = down.height;
  layout.height = down.width;
  layout.layer_count = down.layer_count;
  layout.centers.resize(count);
  layout.layers.resize(count);
  for (uint32_t b = 0; b < count; ++b) {
    const uint32_t n = number[stacks.has_host(b) ? stacks.host(b) : b];
    layout.layers[b] = down.layers[n];
    if (stacks.has_host(b)) continue;
    layout.centers[b] = turned(down.centers[n]);
    stacks.each(b, [&](uint32_t source, float offset) {
      layout.centers[source] = {layout.centers[b].x, layout.centers[b].y + offset};
    });
  }
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const uint32_t from = graph.edges[e].from, to = graph.edges[e].to;
    layout.first.push_back(uint32_t(layout.points.size()));
    if (edge_number[e] == kNone) {
      const GraphPoint a = layout.centers[from], b = layout.centers[to];
      const float way = a.y < b.y ? 1.0f : -1.0f;
      layout.points.push_back({a.x, a.y + way * graph.boxes[from].height / 2});
      layout.points.push_back({b.x, b.y - way * graph.boxes[to].height / 2});
      continue;
    }
    const uint32_t n = edge_number[e];
    const auto point = [&](uint32_t p) { return turned(down.points[p]); };
    // The box may be narrower than its sources above and below.
    const float out = layout.centers[from].x + graph.boxes[from].width / 2,
                in = layout.centers[to].x - graph.boxes[to].width / 2;
    const GraphPoint start = point(down.first[n]), end = point(down.first[n + 1] - 1);
    if (out < start.x - 0.5f) layout.points.push_back({out, start.y});
    for (uint32_t p = down.first[n]; p < down.first[n + 1]; ++p) layout.points.push_back(point(p));
    if (in > end.x + 0.5f) layout.points.push_back({in, end.y});
  }
  layout.first.push_back(uint32_t(layout.points.size()));
  return layout;
}

}  // namespace lunagrad
