#include "ui/graph/layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace lunagrad {
namespace {

// Compressed lists: item i has the entries first[i] up to first[i + 1].
struct Lists {
  std::vector<uint32_t> first, entries;
  std::span<const uint32_t> of(uint32_t i) const {
    return {entries.data() + first[i], first[i + 1] - first[i]};
  }
};

template <class Key>
Lists group(uint32_t count, uint32_t entries, Key key) {
  Lists lists;
  lists.first.assign(count + 1, 0);
  lists.entries.resize(entries);
  for (uint32_t e = 0; e < entries; ++e) ++lists.first[key(e) + 1];
  std::partial_sum(lists.first.begin(), lists.first.end(), lists.first.begin());
  std::vector<uint32_t> next(lists.first.begin(), lists.first.end() - 1);
  for (uint32_t e = 0; e < entries; ++e) lists.entries[next[key(e)]++] = e;
  return lists;
}

// An item is a box, or a dummy node where an edge crosses a layer.
struct Items {
  std::vector<uint32_t> layer;
  std::vector<float> width, x;
  std::vector<std::pair<uint32_t, uint32_t>> links;  // between neighbouring layers; the upper item first
  Lists above, below;                                // links of an item, by its lower and its upper end
  std::vector<std::vector<uint32_t>> layers;         // each layer's items in their order
};

class Layering {
 public:
  Layering(const Graph& graph, const LayoutStyle& style, std::stop_token stop)
      : graph_(graph), style_(style), stop_(std::move(stop)), boxes_(uint32_t(graph.boxes.size())) {}

  GraphLayout run() {
    if (boxes_ == 0) return {};
    sort();
    assign_layers();
    place_items();
    const bool large = items_.layer.size() > 4000;
    for (int sweep = 0; sweep < (large ? 2 : 8) && !stop_.stop_requested(); ++sweep) order(sweep % 2 == 0);
    pack();
    for (int sweep = 0; sweep < (large ? 5 : 17) && !stop_.stop_requested(); ++sweep)
      straighten(sweep % 2 == 0);
    if (stop_.stop_requested()) return {};
    return finish();
  }

 private:
  // Topological order by counting (Kahn 1962). A cycle, which a tape never has, is cut where it is found.
  void sort() {
    const uint32_t edges = uint32_t(graph_.edges.size());
    in_ = group(boxes_, edges, [&](uint32_t e) { return graph_.edges[e].to; });
    out_ = group(boxes_, edges, [&](uint32_t e) { return graph_.edges[e].from; });
    std::vector<uint32_t> waiting(boxes_);
    for (uint32_t b = 0; b < boxes_; ++b) waiting[b] = uint32_t(in_.of(b).size());
    rank_.assign(boxes_, UINT32_MAX);
    sorted_.reserve(boxes_);
    const auto take = [&](uint32_t box) {
      if (rank_[box] != UINT32_MAX) return;
      rank_[box] = uint32_t(sorted_.size());
      sorted_.push_back(box);
    };
    size_t done = 0;
    const auto follow = [&] {
      for (; done < sorted_.size(); ++done)
        for (uint32_t e : out_.of(sorted_[done]))
          if (--waiting[graph_.edges[e].to] == 0) take(graph_.edges[e].to);
    };
    for (uint32_t b = 0; b < boxes_; ++b)
      if (in_.of(b).empty()) take(b);
    follow();
    for (uint32_t b = 0; b < boxes_; ++b) {
      take(b);
      follow();
    }
  }

  bool forward(const Graph::Edge& edge) const { return rank_[edge.from] < rank_[edge.to]; }

  // Layer of a node: the longest path from the sources. Then nodes with more successors than operands (mainly
  // parameters) move down to their nearest successor, which shortens the edges.
  void assign_layers() {
    layer_.assign(boxes_, 0);
    for (uint32_t box : sorted_)
      for (uint32_t e : out_.of(box)) {
        const Graph::Edge& edge = graph_.edges[e];
        if (forward(edge)) layer_[edge.to] = std::max(layer_[edge.to], layer_[box] + 1);
      }
    for (size_t i = sorted_.size(); i-- > 0;) {
      const uint32_t box = sorted_[i];
      if (out_.of(box).size() <= in_.of(box).size() || graph_.boxes[box].pin != Graph::Pin::none) continue;
      uint32_t lowest = UINT32_MAX;
      for (uint32_t e : out_.of(box))
        if (forward(graph_.edges[e])) lowest = std::min(lowest, layer_[graph_.edges[e].to] - 1);
      if (lowest != UINT32_MAX) layer_[box] = std::max(layer_[box], lowest);
    }
    layer_count_ = *std::max_element(layer_.begin(), layer_.end()) + 1;
    for (uint32_t b = 0; b < boxes_; ++b)
      if (graph_.boxes[b].pin == Graph::Pin::bottom) layer_[b] = layer_count_ - 1;
  }

  // Boxes and dummy nodes, each layer in the order of a depth-first walk from the sinks along the operands.
  void place_items() {
    items_.layer = layer_;
    for (const Graph::Box& box : graph_.boxes) items_.width.push_back(box.width);
    crossing_.assign(graph_.edges.size(), UINT32_MAX);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const Graph::Edge& edge = graph_.edges[e];
      if (!forward(edge)) continue;
      const uint32_t span = layer_[edge.to] - layer_[edge.from];
      if (span > style_.longest_span) continue;
      uint32_t above = edge.from;
      if (span > 1) crossing_[e] = uint32_t(items_.layer.size());
      for (uint32_t l = layer_[edge.from] + 1; l < layer_[edge.to]; ++l) {
        const uint32_t item = uint32_t(items_.layer.size());
        items_.layer.push_back(l);
        items_.width.push_back(1);
        items_.links.emplace_back(above, item);
        above = item;
      }
      items_.links.emplace_back(above, edge.to);
    }
    const uint32_t count = uint32_t(items_.layer.size()), links = uint32_t(items_.links.size());
    items_.above = group(count, links, [&](uint32_t k) { return items_.links[k].second; });
    items_.below = group(count, links, [&](uint32_t k) { return items_.links[k].first; });
    items_.layers.resize(layer_count_);
    std::vector<bool> seen(count);
    std::vector<uint32_t> open;
    for (size_t i = sorted_.size(); i-- > 0;) {
      if (!seen[sorted_[i]]) open.push_back(sorted_[i]);
      while (!open.empty()) {
        const uint32_t item = open.back();
        open.pop_back();
        if (seen[item]) continue;
        seen[item] = true;
        items_.layers[items_.layer[item]].push_back(item);
        const auto links_above = items_.above.of(item);
        for (size_t k = links_above.size(); k-- > 0;) open.push_back(items_.links[links_above[k]].first);
      }
    }
    for (uint32_t item = 0; item < count; ++item)
      if (!seen[item]) items_.layers[items_.layer[item]].push_back(item);
  }

  // One barycentre sweep (Sugiyama, Tagawa, Toda 1981): each layer is sorted by the mean position of its
  // neighbours.
  void order(bool down) {
    std::vector<float> position(items_.layer.size());
    for (const auto& layer : items_.layers)
      for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = float(i) / float(layer.size());
    std::vector<float> key(items_.layer.size());
    for (uint32_t step = 0; step < layer_count_; ++step) {
      auto& layer = items_.layers[down ? step : layer_count_ - 1 - step];
      for (uint32_t item : layer) {
        const auto links = (down ? items_.above : items_.below).of(item);
        float sum = 0;
        for (uint32_t k : links) sum += position[down ? items_.links[k].first : items_.links[k].second];
        key[item] = links.empty() ? position[item] : sum / float(links.size());
      }
      std::stable_sort(layer.begin(), layer.end(), [&](uint32_t a, uint32_t b) { return key[a] < key[b]; });
      for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = float(i) / float(layer.size());
    }
  }

  float apart(uint32_t left, uint32_t right) const {
    return (items_.width[left] + items_.width[right]) / 2 + style_.box_gap;
  }

  void pack() {
    items_.x.assign(items_.layer.size(), 0);
    for (const auto& layer : items_.layers) {
      float x = 0;
      for (size_t i = 0; i < layer.size(); ++i) {
        if (i > 0) x += apart(layer[i - 1], layer[i]);
        items_.x[layer[i]] = x;
      }
      for (uint32_t item : layer) items_.x[item] -= x / 2;
    }
  }

  // Moves each item as near as possible, in weighted least squares, to the mean of its neighbours, keeping
  // order and distances: isotonic regression by pooling adjacent violators (Ayer et al. 1955).
  void straighten(bool down) {
    struct Block {
      double sum, weight;
      size_t end;
    };
    std::vector<Block> blocks;
    std::vector<float> offset;
    for (uint32_t step = 0; step < layer_count_; ++step) {
      const auto& layer = items_.layers[down ? step : layer_count_ - 1 - step];
      blocks.clear();
      offset.assign(layer.size(), 0);
      for (size_t i = 0; i < layer.size(); ++i) {
        if (i > 0) offset[i] = offset[i - 1] + apart(layer[i - 1], layer[i]);
        const uint32_t item = layer[i];
        double sum = 0, total = 0;
        for (uint32_t k : (down ? items_.above : items_.below).of(item)) {
          const uint32_t other = down ? items_.links[k].first : items_.links[k].second;
          // A parameter moves to the op that reads it, not the op to the parameter.
          const double pull = down && items_.above.of(other).empty() ? 1e-3 : 1;
          sum += pull * items_.x[other];
          total += pull;
        }
        const double wanted = total > 0 ? sum / total : items_.x[item];
        const double weight = item >= boxes_ ? 8 : total > 0 ? 1 : 1e-3;
        blocks.push_back({weight * (wanted - offset[i]), weight, i + 1});
        while (blocks.size() > 1) {
          const Block last = blocks.back();
          Block& before = blocks[blocks.size() - 2];
          if (before.sum * last.weight <= last.sum * before.weight) break;
          before = {before.sum + last.sum, before.weight + last.weight, last.end};
          blocks.pop_back();
        }
      }
      size_t i = 0;
      for (const Block& block : blocks)
        for (; i < block.end; ++i) items_.x[layer[i]] = float(block.sum / block.weight) + offset[i];
    }
  }

  GraphLayout finish() {
    std::vector<float> band(layer_count_, 0), middle(layer_count_, 0);
    for (uint32_t b = 0; b < boxes_; ++b) band[layer_[b]] = std::max(band[layer_[b]], graph_.boxes[b].height);
    GraphLayout layout;
    float y = 0;
    for (uint32_t l = 0; l < layer_count_; ++l) {
      if (l > 0) y += band[l - 1] == 0 || band[l] == 0 ? style_.port_gap : style_.layer_gap;
      middle[l] = y + band[l] / 2;
      y += band[l];
    }
    layout.height = y;
    float left = INFINITY, right = -INFINITY;
    for (size_t i = 0; i < items_.x.size(); ++i) {
      left = std::min(left, items_.x[i] - items_.width[i] / 2);
      right = std::max(right, items_.x[i] + items_.width[i] / 2);
    }
    layout.width = right - left;
    for (float& x : items_.x) x -= left;
    layout.layers = layer_;
    layout.layer_count = layer_count_;
    layout.centers.resize(boxes_);
    for (uint32_t b = 0; b < boxes_; ++b) layout.centers[b] = {items_.x[b], middle[layer_[b]]};

    // The points where edges leave and enter: spread over the middle of the box, in the order of the edges'
    // other ends.
    const auto spread = [&](const Lists& lists, std::vector<float>& port, auto other) {
      port.resize(graph_.edges.size());
      std::vector<uint32_t> edges;
      for (uint32_t b = 0; b < boxes_; ++b) {
        edges.assign(lists.of(b).begin(), lists.of(b).end());
        std::stable_sort(edges.begin(), edges.end(),
                         [&](uint32_t p, uint32_t q) { return other(p) < other(q); });
        const float side = graph_.boxes[b].side;
        const float room = (side > 0 ? side : graph_.boxes[b].width) * 0.6f;
        for (size_t i = 0; i < edges.size(); ++i)
          port[edges[i]] = items_.x[b] + room * ((float(i) + 0.5f) / float(edges.size()) - 0.5f);
      }
    };
    std::vector<float> enter;
    const auto last_x = [&](uint32_t e) {
      const Graph::Edge& edge = graph_.edges[e];
      return crossing_[e] == UINT32_MAX ? items_.x[edge.from]
                                        : items_.x[crossing_[e] + layer_[edge.to] - layer_[edge.from] - 2];
    };
    spread(in_, enter, last_x);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const Graph::Edge& edge = graph_.edges[e];
      layout.first.push_back(uint32_t(layout.points.size()));
      // Beside a taller neighbour an edge stays in its box's column, so that it does not cross the neighbour.
      const float leave = items_.x[edge.from] + edge.leave;
      const auto in_column = [&](uint32_t box, float x, float side) {
        const float height = graph_.boxes[box].height, all = band[layer_[box]];
        if (all > height + 1 && height > 0)
          layout.points.push_back({x, middle[layer_[box]] + side * all / 2});
      };
      layout.points.push_back({leave, middle[layer_[edge.from]] + graph_.boxes[edge.from].height / 2});
      if (forward(edge)) in_column(edge.from, leave, 1);
      if (crossing_[e] != UINT32_MAX)
        for (uint32_t l = layer_[edge.from] + 1, item = crossing_[e]; l < layer_[edge.to]; ++l, ++item) {
          layout.points.push_back({items_.x[item], middle[l] - band[l] / 2});
          layout.points.push_back({items_.x[item], middle[l] + band[l] / 2});
        }
      const float x = std::isnan(edge.enter) ? enter[e] : items_.x[edge.to] + edge.enter;
      if (forward(edge)) in_column(edge.to, x, -1);
      layout.points.push_back({x, middle[layer_[edge.to]] - graph_.boxes[edge.to].height / 2});
    }
    layout.first.push_back(uint32_t(layout.points.size()));
    return layout;
  }

  const Graph& graph_;
  const LayoutStyle& style_;
  std::stop_token stop_;
  uint32_t boxes_;
  Lists in_, out_;  // edges of a box
  std::vector<uint32_t> sorted_, rank_, layer_;
  std::vector<uint32_t> crossing_;  // first item of an edge that crosses layers
  uint32_t layer_count_ = 0;
  Items items_;
};

}  // namespace

GraphLayout layout_graph(const Graph& graph, const LayoutStyle& style, std::stop_token stop) {
  return Layering(graph, style, std::move(stop)).run();
}

}  // namespace lunagrad
