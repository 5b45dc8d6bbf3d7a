#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/timing.h"
#include "ui/graph/layout.h"

using namespace lunagrad;

namespace {

Graph boxes(size_t count) {
  Graph graph;
  graph.boxes.assign(count, {80, 30});
  return graph;
}

// A chain of `count` boxes in which every fourth one also feeds the one four further on.
Graph residual_chain(uint32_t count) {
  Graph graph = boxes(count);
  for (uint32_t i = 1; i < count; ++i) graph.edges.push_back({i - 1, i});
  for (uint32_t i = 4; i < count; i += 4) graph.edges.push_back({i - 4, i});
  return graph;
}

void check_sound(const Graph& graph, const GraphLayout& layout) {
  const size_t count = graph.boxes.size();
  REQUIRE(layout.centers.size() == count);
  REQUIRE(layout.first.size() == graph.edges.size() + 1);
  for (size_t i = 0; i < count; ++i) {
    const GraphPoint c = layout.centers[i];
    CHECK(c.x - graph.boxes[i].width / 2 >= -0.01f);
    CHECK(c.x + graph.boxes[i].width / 2 <= layout.width + 0.01f);
    CHECK(c.y - graph.boxes[i].height / 2 >= -0.01f);
    CHECK(c.y + graph.boxes[i].height / 2 <= layout.height + 0.01f);
  }
  // Checks that no two boxes of a layer overlap,
  std::vector<uint32_t> order(count);
  for (uint32_t i = 0; i < count; ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return std::pair(layout.layers[a], layout.centers[a].x) <
           std::pair(layout.layers[b], layout.centers[b].x);
  });
  for (size_t i = 1; i < count; ++i) {
    const uint32_t a = order[i - 1], b = order[i];
    if (layout.layers[a] != layout.layers[b]) continue;
    const float least = (graph.boxes[a].width + graph.boxes[b].width) / 2;
    CHECK(layout.centers[b].x - layout.centers[a].x >= least - 0.01f);
  }
  // and that each edge starts at the lower side of one box and ends at the upper side of the other.
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    const uint32_t from = graph.edges[e].from, to = graph.edges[e].to;
    REQUIRE(layout.first[e + 1] >= layout.first[e] + 2);
    const GraphPoint start = layout.points[layout.first[e]], end = layout.points[layout.first[e + 1] - 1];
    CHECK(start.y == doctest::Approx(layout.centers[from].y + graph.boxes[from].height / 2));
    CHECK(end.y == doctest::Approx(layout.centers[to].y - graph.boxes[to].height / 2));
    CHECK(std::abs(end.x - layout.centers[to].x) <= graph.boxes[to].width / 2);
  }
}

}  // namespace

TEST_CASE("an empty graph and a single box have a layout") {
  CHECK(layout_graph({}, {}).centers.empty());
  const GraphLayout one = layout_graph(boxes(1), {});
  CHECK(one.width == doctest::Approx(80));
  CHECK(one.height == doctest::Approx(30));
}

TEST_CASE("a chain is a straight line downwards") {
  Graph graph = boxes(6);
  for (uint32_t i = 1; i < 6; ++i) graph.edges.push_back({i - 1, i});
  const GraphLayout layout = layout_graph(graph, {});
  check_sound(graph, layout);
  for (uint32_t i = 1; i < 6; ++i) {
    CHECK(layout.layers[i] == i);
    CHECK(layout.centers[i].x == doctest::Approx(layout.centers[0].x));
    CHECK(layout.centers[i].y > layout.centers[i - 1].y);
  }
}

TEST_CASE("a parameter is directly above the op that reads it, and the chain next to it stays straight") {
  // x -> a -> b -> c, and w -> c
  Graph graph = boxes(5);
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {4, 3}};
  const GraphLayout layout = layout_graph(graph, {});
  check_sound(graph, layout);
  CHECK(layout.layers[4] == layout.layers[2]);
  CHECK(layout.centers[4].x > layout.centers[2].x);
  CHECK(std::abs(layout.centers[3].x - layout.centers[2].x) < 5);
}

TEST_CASE("an edge over several layers avoids the boxes between") {
  Graph graph = boxes(4);
  graph.edges = {{0, 1}, {1, 2}, {2, 3}, {0, 3}};
  const GraphLayout layout = layout_graph(graph, {});
  check_sound(graph, layout);
  for (uint32_t p = layout.first[3] + 1; p + 1 < layout.first[4]; ++p)
    for (uint32_t b : {1u, 2u}) CHECK(std::abs(layout.points[p].x - layout.centers[b].x) > 40);
}

TEST_CASE("two crossing pairs are uncrossed") {
  Graph graph = boxes(6);
  graph.edges = {{0, 5}, {1, 4}, {2, 3}};
  const GraphLayout layout = layout_graph(graph, {});
  check_sound(graph, layout);
  for (const auto& p : graph.edges)
    for (const auto& q : graph.edges)
      CHECK((layout.centers[p.from].x < layout.centers[q.from].x) ==
            (layout.centers[p.to].x < layout.centers[q.to].x));
}

TEST_CASE("repeated edges, self edges and cycles are laid out") {
  Graph graph = boxes(3);
  graph.edges = {{0, 1}, {0, 1}, {1, 1}, {1, 2}, {2, 0}};
  const GraphLayout layout = layout_graph(graph, {});
  CHECK(layout.centers.size() == 3);
  CHECK(layout.first.size() == 6);
  for (const GraphPoint& p : layout.points) CHECK(std::isfinite(p.x + p.y));
}

TEST_CASE("the same graph gives the same picture") {
  const Graph graph = residual_chain(200);
  const GraphLayout a = layout_graph(graph, {}), b = layout_graph(graph, {});
  check_sound(graph, a);
  for (size_t i = 0; i < a.centers.size(); ++i) CHECK(a.centers[i].x == b.centers[i].x);
}

TEST_CASE("100,000 boxes with residual edges are laid out in 5 s of processor time, 10,000 in 1 s") {
  for (const auto& [count, limit] : {std::pair(10000u, 1.0), std::pair(100000u, 5.0)}) {
    const Graph graph = residual_chain(count);
    const double start = tests::process_seconds();
    const GraphLayout layout = layout_graph(graph, {});
    const double took = tests::process_seconds() - start;
    CHECK(layout.layer_count == count);
    MESSAGE(count << " boxes: " << took << " s");
    CHECK_TIME(took < limit);
  }
}

TEST_CASE("5,000 parameters of one op are laid out fast and without overlaps") {
  Graph graph = boxes(5001);
  for (uint32_t i = 1; i <= 5000; ++i) graph.edges.push_back({i, 0});
  const GraphLayout layout = layout_graph(graph, {});
  CHECK(layout.width >= 5000 * 80);
}

TEST_CASE("a stopped layout is empty") {
  std::stop_source stop;
  stop.request_stop();
  CHECK(layout_graph(residual_chain(1000), {}, stop.get_token()).centers.empty());
}
