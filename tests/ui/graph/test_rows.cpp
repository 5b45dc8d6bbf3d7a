#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "ui/graph/rows.h"
#include "ui/graph/sideways.h"

using namespace lunagrad;

namespace {

Graph chain(uint32_t count) {
  Graph graph;
  graph.boxes.assign(count, {80, 30});
  for (uint32_t i = 1; i < count; ++i) graph.edges.push_back({i - 1, i});
  return graph;
}

// No box is outside of the picture, and no line within a row goes through another box.
void check_rows_sound(const Graph& graph, const GraphLayout& layout) {
  REQUIRE(layout.centers.size() == graph.boxes.size());
  REQUIRE(layout.first.size() == graph.edges.size() + 1);
  for (size_t b = 0; b < graph.boxes.size(); ++b) {
    CHECK(layout.centers[b].x - graph.boxes[b].width / 2 >= -0.01f);
    CHECK(layout.centers[b].x + graph.boxes[b].width / 2 <= layout.width + 0.01f);
    CHECK(layout.centers[b].y - graph.boxes[b].height / 2 >= -0.01f);
    CHECK(layout.centers[b].y + graph.boxes[b].height / 2 <= layout.height + 0.01f);
  }
  size_t through = 0;
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const Graph::Edge& edge = graph.edges[e];
    for (uint32_t p = layout.first[e]; p + 1 < layout.first[e + 1]; ++p) {
      const GraphPoint a = layout.points[p], z = layout.points[p + 1];
      CHECK(std::min(a.x, z.x) >= -0.01f);
      CHECK(std::max(a.x, z.x) <= layout.width + 0.01f);
      for (size_t b = 0; b < graph.boxes.size(); ++b) {
        if (b == edge.from || b == edge.to) continue;
        const GraphPoint c = layout.centers[b];
        const float x = graph.boxes[b].width / 2 - 1, y = graph.boxes[b].height / 2 - 1;
        through += std::max(a.x, z.x) > c.x - x && std::min(a.x, z.x) < c.x + x &&
                   std::max(a.y, z.y) > c.y - y && std::min(a.y, z.y) < c.y + y;
      }
    }
    const GraphPoint start = layout.points[layout.first[e]], end = layout.points[layout.first[e + 1] - 1];
    CHECK(start.x == doctest::Approx(layout.centers[edge.from].x + graph.boxes[edge.from].width / 2));
    CHECK(end.x == doctest::Approx(layout.centers[edge.to].x - graph.boxes[edge.to].width / 2));
  }
  CHECK(through == 0);
}

size_t rows_of(const GraphLayout& layout) {
  std::vector<float> heights;
  for (const GraphPoint& c : layout.centers)
    if (std::none_of(heights.begin(), heights.end(), [&](float y) { return std::abs(y - c.y) < 1; }))
      heights.push_back(c.y);
  return heights.size();
}

}  // namespace

TEST_CASE("a long chain continues in rows from left to right, and the last one is no rest") {
  const Graph graph = chain(200);
  const GraphLayout single = layout_sideways(graph);
  const GraphLayout wrapped = wrap_rows(graph, single, 2000);
  check_rows_sound(graph, wrapped);
  CHECK(wrapped.sideways);
  CHECK(wrapped.width < 2100);
  CHECK(rows_of(wrapped) == wrapped.rows);
  CHECK(wrapped.rows == uint32_t(std::ceil(single.width / 2000)));
  size_t row = 1, last_row = 1;
  for (uint32_t i = 1; i < 200; ++i) {
    const GraphPoint before = wrapped.centers[i - 1], here = wrapped.centers[i];
    if (here.y > before.y + 1) {
      ++row;
      last_row = 1;
      CHECK(here.x < before.x);
    } else {
      ++last_row;
      CHECK(here.y == doctest::Approx(before.y));
      CHECK(here.x > before.x);
    }
  }
  CHECK(row == wrapped.rows);
  CHECK(2 * last_row >= 200 / wrapped.rows);
}

TEST_CASE("a chain downwards continues in columns") {
  const Graph graph = chain(30);
  const GraphLayout single = layout_graph(graph, {});
  const GraphLayout wrapped = turned(wrap_rows(turned(graph), turned(single), 500));
  CHECK_FALSE(wrapped.sideways);
  CHECK(wrapped.rows == 3);
  CHECK(wrapped.height < 560);
  check_rows_sound(turned(graph), turned(wrapped));
}

TEST_CASE("a residual tensor goes on beside the chain") {
  Graph graph = chain(40);
  for (uint32_t i = 4; i < 40; i += 4) graph.edges.push_back({i - 4, i});
  const GraphLayout wrapped = wrap_rows(graph, layout_sideways(graph), 1500);
  CHECK(wrapped.rows >= 3);
  check_rows_sound(graph, wrapped);
}

TEST_CASE("branches stay together, and what is short or one large box is not wrapped") {
  // Four branches of thirty boxes each between two boxes: no boundary is crossed by three tensors or fewer
  // but the first.
  Graph branches = chain(1);
  branches.boxes.assign(122, {80, 30});
  for (uint32_t b = 0; b < 4; ++b)
    for (uint32_t i = 0; i < 30; ++i) {
      const uint32_t box = 1 + b * 30 + i;
      branches.edges.push_back({i == 0 ? 0 : box - 1, box});
      if (i == 29) branches.edges.push_back({box, 121});
    }
  const GraphLayout wide = layout_sideways(branches);
  const GraphLayout wrapped = wrap_rows(branches, wide, 800);
  for (uint32_t b = 0; b < 4; ++b)
    for (uint32_t i = 1; i < 30; ++i) {
      const uint32_t box = 1 + b * 30 + i;
      CHECK(wrapped.centers[box].x > wrapped.centers[box - 1].x);
    }
  const Graph little = chain(5);
  const GraphLayout one = layout_sideways(little);
  CHECK(wrap_rows(little, one, 1000).rows == 1);
  Graph large = chain(3);
  large.boxes[1].width = 900;
  CHECK(wrap_rows(large, layout_sideways(large), 500).rows == 1);
  CHECK(wrap_rows({}, layout_sideways({}), 500).centers.empty());
}

TEST_CASE("rows are the same each time") {
  const Graph graph = chain(77);
  const GraphLayout a = wrap_rows(graph, layout_sideways(graph), 900),
                    b = wrap_rows(graph, layout_sideways(graph), 900);
  for (size_t i = 0; i < a.centers.size(); ++i) {
    CHECK(a.centers[i].x == b.centers[i].x);
    CHECK(a.centers[i].y == b.centers[i].y);
  }
}
