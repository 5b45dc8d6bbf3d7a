#include "ui/graph/rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace lunagrad {
namespace {

constexpr uint32_t kMostAcross = 3;  // tensors that may go on in the next row
constexpr float kLane = 10;          // between two lines beside or between rows
constexpr float kRowGap = 10;        // between a row and the nearest line
constexpr float kMostOfAll = 0.5f;   // a column that is more of the whole makes wrapping pointless

struct Span {
  float low = INFINITY, high = -INFINITY;
  void add(float a, float b) {
    low = std::min(low, a);
    high = std::max(high, b);
  }
  float length() const { return std::max(high - low, 0.0f); }
};

class Rows {
 public:
  Rows(const Graph& graph, const GraphLayout& layout) : graph_(graph), layout_(layout) {}

  GraphLayout wrap(float widest) {
    const uint32_t count = layout_.layer_count;
    if (count < 2 || layout_.width <= widest) return layout_;
    columns_.resize(count);
    for (size_t b = 0; b < graph_.boxes.size(); ++b) {
      const float half = graph_.boxes[b].width / 2, x = layout_.centers[b].x;
      columns_[layout_.layers[b]].add(x - half, x + half);
    }
    for (const Span& column : columns_)
      if (column.low > column.high || column.length() > kMostOfAll * layout_.width) return layout_;
    find_places();
    float longest = 0;
    if (breaks(widest, &longest).empty()) return layout_;
    // The shortest rows of the same number, so that the last one is about as long as the others.
    const size_t rows = breaks(widest, nullptr).size();
    float least = 0, most = std::max(widest, longest);
    for (int halving = 0; halving < 20; ++halving) {
      const float middle = (least + most) / 2;
      float reached = 0;
      const bool enough = breaks(middle, &reached).size() <= rows && reached <= middle;
      (enough ? most : least) = middle;
    }
    begins_ = breaks(most, nullptr);
    begins_.insert(begins_.begin(), 0);
    return arrange();
  }

 private:
  // For each boundary between columns, how many tensors cross it.
  void find_places() {
    std::vector<uint32_t> reach(graph_.boxes.size());
    for (uint32_t b = 0; b < reach.size(); ++b) reach[b] = layout_.layers[b];
    std::vector<int32_t> change(layout_.layer_count + 1, 0);
    barred_.assign(layout_.layer_count, 0);
    for (const Graph::Edge& edge : graph_.edges) {
      const uint32_t from = layout_.layers[edge.from], to = layout_.layers[edge.to];
      reach[edge.from] = std::max(reach[edge.from], to);
      for (uint32_t l = to; l < from; ++l) barred_[l] = 1;  // of a cycle, which no tape has
    }
    for (uint32_t b = 0; b < reach.size(); ++b) {
      ++change[layout_.layers[b]];
      --change[reach[b]];
    }
    across_.assign(layout_.layer_count, 0);
    int32_t open = 0;
    for (uint32_t l = 0; l < layout_.layer_count; ++l) {
      open += change[l];
      across_[l] = uint32_t(open);
    }
  }

  // Columns of ports stay beside their neighbours.
  bool may_break_after(uint32_t column) const {
    return across_[column] <= kMostAcross && !barred_[column] && columns_[column].length() > 0 &&
           columns_[column + 1].length() > 0;
  }

  // The first columns of all rows but the first, greedily, and the length of the longest row.
  std::vector<uint32_t> breaks(float widest, float* longest) const {
    std::vector<uint32_t> begins;
    uint32_t begin = 0, place = 0;  // place: the column before which the row may end, 0: none yet
    const auto length = [&](uint32_t from, uint32_t last) {
      return columns_[last].high - columns_[from].low;
    };
    float most = 0;
    for (uint32_t column = 0; column < columns_.size(); ++column) {
      if (column > begin && may_break_after(column - 1)) place = column;
      if (place > begin && length(begin, column) > widest) {
        begins.push_back(place);
        most = std::max(most, length(begin, place - 1));
        begin = place;
      }
    }
    most = std::max(most, length(begin, uint32_t(columns_.size()) - 1));
    if (longest) *longest = most;
    return begins;
  }

  uint32_t row_of(uint32_t column) const {
    return uint32_t(std::upper_bound(begins_.begin(), begins_.end(), column) - begins_.begin()) - 1;
  }
  uint32_t last_column(uint32_t row) const {
    return row + 1 < begins_.size() ? begins_[row + 1] - 1 : uint32_t(columns_.size()) - 1;
  }

  // The lines of one tensor run together.
  static uint32_t lane_of(std::vector<uint32_t>& lanes, uint32_t source) {
    const auto found = std::find(lanes.begin(), lanes.end(), source);
    if (found != lanes.end()) return uint32_t(found - lanes.begin());
    lanes.push_back(source);
    return uint32_t(lanes.size()) - 1;
  }

  // Calls on_point(row, point) for the points of an edge, and on_cut(row, y) where it goes on in the next
  // row.
  template <class Point, class Cut>
  void follow(size_t e, Point on_point, Cut on_cut) const {
    uint32_t row = row_of(layout_.layers[graph_.edges[e].from]);
    const uint32_t last = row_of(layout_.layers[graph_.edges[e].to]), end = layout_.first[e + 1];
    for (uint32_t p = layout_.first[e]; p < end; ++p) {
      const GraphPoint at = layout_.points[p];
      for (; row < last && p > layout_.first[e] && (at.x > end_of(row) || p + 1 == end); ++row) {
        const GraphPoint before = layout_.points[p - 1];
        const float way = at.x - before.x;
        const float part = way > 0 ? std::clamp((end_of(row) - before.x) / way, 0.0f, 1.0f) : 0;
        on_cut(row, before.y + part * (at.y - before.y));
      }
      on_point(row, at);
    }
  }

  GraphLayout arrange() const {
    const size_t rows = begins_.size();
    std::vector<Span> heights(rows);                 // with the lines in the row
    std::vector<std::vector<uint32_t>> lanes(rows);  // the tensors that go on in the next row
    for (size_t b = 0; b < graph_.boxes.size(); ++b) {
      const float half = graph_.boxes[b].height / 2, y = layout_.centers[b].y;
      heights[row_of(layout_.layers[b])].add(y - half, y + half);
    }
    size_t most_lanes = 1;
    for (size_t e = 0; e < graph_.edges.size(); ++e)
      follow(
          e, [&](uint32_t row, GraphPoint at) { heights[row].add(at.y, at.y); },
          [&](uint32_t row, float y) {
            heights[row].add(y, y);
            heights[row + 1].add(y, y);
            lane_of(lanes[row], graph_.edges[e].from);
            most_lanes = std::max(most_lanes, lanes[row].size());
          });
    const float margin = kLane * float(most_lanes + 1);
    std::vector<GraphPoint> by(rows);  // how far each row moves
    std::vector<float> under(rows);    // the lower end of each row
    float y = 0, right = 0;
    for (uint32_t row = 0; row < rows; ++row) {
      if (row > 0) y += 2 * kRowGap + kLane * float(lanes[row - 1].size());
      by[row] = {margin - columns_[begins_[row]].low, y - heights[row].low};
      right = std::max(right, columns_[last_column(row)].high + by[row].x);
      y += heights[row].length();
      under[row] = y;
    }
    GraphLayout wrapped = layout_;
    wrapped.rows = uint32_t(rows);
    wrapped.width = right + margin;
    wrapped.height = y;
    wrapped.points.clear();
    wrapped.first.clear();
    for (size_t b = 0; b < graph_.boxes.size(); ++b) {
      const GraphPoint move = by[row_of(layout_.layers[b])];
      wrapped.centers[b] = {wrapped.centers[b].x + move.x, wrapped.centers[b].y + move.y};
    }
    for (size_t e = 0; e < graph_.edges.size(); ++e) {
      wrapped.first.push_back(uint32_t(wrapped.points.size()));
      follow(
          e,
          [&](uint32_t row, GraphPoint at) {
            wrapped.points.push_back({at.x + by[row].x, at.y + by[row].y});
          },
          [&](uint32_t row, float at) {
            // Around the end of the row, between the rows, and around the beginning of the next row.
            const float lane = kLane * float(lane_of(lanes[row], graph_.edges[e].from) + 1);
            const float end = columns_[last_column(row)].high + by[row].x,
                        between = under[row] + kRowGap + lane;
            const float out = at + by[row].y, in = at + by[row + 1].y;
            wrapped.points.insert(wrapped.points.end(), {{end, out},
                                                         {end + lane, out},
                                                         {end + lane, between},
                                                         {margin - lane, between},
                                                         {margin - lane, in},
                                                         {margin, in}});
          });
    }
    wrapped.first.push_back(uint32_t(wrapped.points.size()));
    return wrapped;
  }

  // The middle between a row and the next one, in the layout that is wrapped.
  float end_of(uint32_t row) const {
    return (columns_[last_column(row)].high + columns_[last_column(row) + 1].low) / 2;
  }

  const Graph& graph_;
  const GraphLayout& layout_;
  std::vector<Span> columns_;     // from left to right
  std::vector<uint32_t> across_;  // tensors that cross the boundary behind a column
  std::vector<char> barred_;      // boundaries that a line crosses backwards
  std::vector<uint32_t> begins_;  // the first column of each row
};

GraphPoint mirrored(GraphPoint p) { return {p.y, p.x}; }

}  // namespace

GraphLayout wrap_rows(const Graph& graph, const GraphLayout& sideways, float widest) {
  return Rows(graph, sideways).wrap(widest);
}

Graph turned(Graph graph) {
  for (Graph::Box& box : graph.boxes) std::swap(box.width, box.height);
  return graph;
}

GraphLayout turned(GraphLayout layout) {
  for (GraphPoint& p : layout.centers) p = mirrored(p);
  for (GraphPoint& p : layout.points) p = mirrored(p);
  std::swap(layout.width, layout.height);
  layout.sideways = !layout.sideways;
  return layout;
}

}  // namespace lunagrad
