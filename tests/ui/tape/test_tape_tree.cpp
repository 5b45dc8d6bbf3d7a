#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/ui/tapes.h"
#include "ui/tape/picture.h"

using namespace lunagrad;
using test::residual_tape;
using test::TapeMaker;

namespace {

const TapeTree::Group* find_group(const TapeTree& tree, const std::string& name) {
  for (const TapeTree::Group& group : tree.groups)
    if (group.name == name) return &group;
  return nullptr;
}

TapePicture folded_picture(const TapeSnapshot& tape, const CollapseState& state) {
  const TapeTree tree = tape_tree(tape);
  return tape_picture(tape, tree, open_groups(tree, state), {});
}

CollapseState all_open() { return {CollapseState::Mode::all, 0, {}}; }
CollapseState all_closed() { return {CollapseState::Mode::depth, 0, {}}; }

// Each edge leaves the lower side of its box and enters the upper side of the other, further down.
void check_edges(const TapePicture& picture) {
  const CanvasGraph& c = picture.canvas;
  REQUIRE(c.layout.first.size() == c.graph.edges.size() + 1);
  for (size_t e = 0; e < c.graph.edges.size(); ++e) {
    const auto [from, to, leave, enter] = c.graph.edges[e];
    const GraphPoint start = c.layout.points[c.layout.first[e]],
                     end = c.layout.points[c.layout.first[e + 1] - 1];
    CHECK(start.y ==
          doctest::Approx(c.layout.centers[from].y + c.graph.boxes[from].height / 2).epsilon(0.01));
    CHECK(end.y == doctest::Approx(c.layout.centers[to].y - c.graph.boxes[to].height / 2).epsilon(0.01));
    CHECK(std::abs(start.x - c.layout.centers[from].x) <= c.graph.boxes[from].width / 2 + 1);
    CHECK(std::abs(end.x - c.layout.centers[to].x) <= c.graph.boxes[to].width / 2 + 1);
    CHECK(start.y <= end.y);
    for (uint32_t p = c.layout.first[e] + 1; p < c.layout.first[e + 1]; ++p)
      CHECK(c.layout.points[p].y >= c.layout.points[p - 1].y - 0.01f);
  }
}

void check_frames(const TapePicture& picture, const TapeTree& tree) {
  const CanvasGraph& c = picture.canvas;
  const auto apart = [](GraphPoint a_low, GraphPoint a_high, GraphPoint b_low, GraphPoint b_high) {
    return a_high.x <= b_low.x + 0.1f || b_high.x <= a_low.x + 0.1f || a_high.y <= b_low.y + 0.1f ||
           b_high.y <= a_low.y + 0.1f;
  };
  for (size_t f = 0; f < c.frames.size(); ++f)
    for (size_t b = 0; b < c.nodes.size(); ++b) {
      const TapeTree::Item item = picture.boxes[b];
      const uint32_t home =
          item.is_group ? uint32_t(tree.groups[item.index].parent) : tree.group_of[item.index];
      const GraphPoint m = c.layout.centers[b];
      const Graph::Box box = c.graph.boxes[b];
      const GraphPoint low{m.x - box.width / 2, m.y - box.height / 2},
          high{m.x + box.width / 2, m.y + box.height / 2};
      if (tree.inside(home, picture.frames[f])) {
        CHECK(low.x >= c.frames[f].low.x);
        CHECK(low.y >= c.frames[f].low.y);
        CHECK(high.x <= c.frames[f].high.x);
        CHECK(high.y <= c.frames[f].high.y);
      } else {
        CHECK(apart(low, high, c.frames[f].low, c.frames[f].high));
      }
    }
}

}  // namespace

TEST_CASE("consecutive equal blocks are folded, independent of parameter names") {
  const TapeTree tree = tape_tree(residual_tape(12));
  const TapeTree::Group* group = find_group(tree, "blocks.0 … 11");
  REQUIRE(group);
  CHECK(group->repeats == 12);
  CHECK(group->items.size() == 12);
  CHECK(group->node_count == 12 * 11);
  const TapeTree::Group* block = find_group(tree, "blocks.3");
  REQUIRE(block);
  CHECK(block->node_count == 11);
  CHECK(find_group(tree, "norm"));
}

TEST_CASE("a different block splits the group") {
  const TapeTree tree = tape_tree(residual_tape(12, 1, 5));
  REQUIRE(find_group(tree, "blocks.0 … 4"));
  CHECK(find_group(tree, "blocks.0 … 4")->repeats == 5);
  REQUIRE(find_group(tree, "blocks.6 … 11"));
  CHECK(find_group(tree, "blocks.6 … 11")->repeats == 6);
  const TapeTree::Group* odd = find_group(tree, "blocks.5");
  REQUIRE(odd);
  CHECK(odd->node_count == 12);
}

TEST_CASE("blocks of different shapes, and modules of different names, are not folded") {
  TapeMaker tape;
  const uint64_t x = tape.leaf("x", {8, 4});
  const uint64_t a = tape.call("linear", "Net.query", {x}, {8, 4});
  const uint64_t b = tape.call("linear", "Net.key", {a}, {8, 4});
  const uint64_t c = tape.call("linear", "Net.layers.0", {b}, {8, 4});
  tape.call("linear", "Net.layers.1", {c}, {8, 5});
  const TapeTree tree = tape_tree(tape.snapshot());
  for (const TapeTree::Group& group : tree.groups) CHECK(group.repeats == 0);
}

TEST_CASE("blocks with different internal edges are not folded") {
  TapeMaker tape;
  uint64_t x = tape.leaf("x", {4});
  for (int b = 0; b < 2; ++b) {
    const std::string at = "Net." + std::to_string(b);
    const uint64_t p = tape.call("relu", at, {x}, {4});
    const uint64_t q = tape.call("tanh", at, {x}, {4});
    x = tape.call("add", at, {p, b == 0 ? q : p}, {4});
  }
  for (const TapeTree::Group& group : tape_tree(tape.snapshot()).groups) CHECK(group.repeats == 0);
}

TEST_CASE("a repeated sequence of several items is folded: x + block(x)") {
  TapeMaker tape;
  uint64_t x = tape.leaf("x", {4});
  for (int b = 0; b < 6; ++b) {
    const uint64_t y = tape.call("linear", "Net.blocks." + std::to_string(b), {x}, {4});
    x = tape.call("add", "Net", {x, y}, {4});
  }
  const TapeTree tree = tape_tree(tape.snapshot());
  const auto group =
      std::find_if(tree.groups.begin(), tree.groups.end(), [](const auto& g) { return g.repeats > 0; });
  REQUIRE(group != tree.groups.end());
  CHECK(group->repeats == 6);
  CHECK(group->node_count == 12);
}

TEST_CASE("a cell that is called once per time step has a group per call, folded") {
  TapeMaker tape;
  const uint64_t weight = tape.leaf("cell.weight", {4, 4});
  uint64_t h = tape.leaf("h", {4});
  for (int t = 0; t < 20; ++t) h = tape.call("linear", "Rnn.cell", {h, weight}, {4});
  // Consecutive calls of one module with nothing between them cannot be told apart.
  const TapeTree together = tape_tree(tape.snapshot());
  REQUIRE(find_group(together, "cell"));
  CHECK(find_group(together, "cell")->node_count == 21);
  TapeMaker apart;
  const uint64_t shared = apart.leaf("cell.weight", {4, 4});
  h = apart.leaf("h", {4});
  for (int t = 0; t < 20; ++t) {
    h = apart.call("linear", "Rnn.cell", {h, shared}, {4});
    h = apart.call("tanh", "Rnn", {h}, {4});
  }
  const TapeTree tree = tape_tree(apart.snapshot());
  const TapeTree::Group* group = find_group(tree, "cell");
  REQUIRE(group);
  CHECK(group->repeats == 20);
  // The weight belongs to all of the calls, not to one.
  CHECK(tree.groups[tree.group_of[tree.group_of.size() - 1]].name == "Rnn");
}

TEST_CASE("a module that only calls another needs no box") {
  TapeMaker tape;
  const uint64_t y = tape.call("relu", "Outer.inner.core", {}, {4});
  tape.call("tanh", "Outer.inner.core", {y}, {4});
  const TapeTree tree = tape_tree(tape.snapshot());
  CHECK(tree.groups.size() == 2);
  CHECK(tree.groups[1].path == "Outer.inner.core");
}

TEST_CASE("a module path of a million parts is handled") {
  std::string path;
  for (int i = 0; i < 1000000; ++i) path += "a.";
  TapeMaker tape;
  tape.call("relu", path, {tape.leaf("x", {4})}, {4});
  CHECK(tape_tree(tape.snapshot()).groups.size() <= 40);
}

TEST_CASE("small tapes are open, large ones as long as few boxes are visible") {
  CHECK(folded_picture(residual_tape(3), {}).boxes.size() == residual_tape(3).nodes.size());
  const TapePicture large = folded_picture(residual_tape(100), {});
  CHECK(large.boxes.size() > 2);
  CHECK(large.boxes.size() <= 48);
  CHECK(folded_picture(residual_tape(100), all_closed()).boxes.size() == 2);
  CHECK(folded_picture(residual_tape(100), all_open()).boxes.size() == residual_tape(100).nodes.size());
}

TEST_CASE("every node has a box that shows or contains it, for any open modules") {
  const TapeSnapshot tape = residual_tape(8, 1, 2);
  const TapeTree tree = tape_tree(tape);
  for (uint32_t depth = 0; depth < 5; ++depth) {
    CollapseState state{CollapseState::Mode::depth, depth, {}};
    const auto open = open_groups(tree, state);
    const TapePicture picture = tape_picture(tape, tree, open, {});
    std::vector<uint32_t> held(picture.boxes.size(), 0);
    for (const uint32_t box : picture.box_of) ++held[box];
    for (size_t b = 0; b < held.size(); ++b)
      CHECK(held[b] == (picture.boxes[b].is_group ? tree.groups[picture.boxes[b].index].node_count : 1));
    check_edges(picture);
    check_frames(picture, tree);
  }
}

TEST_CASE("keys are the same from step to step, and unique") {
  const TapeTree a = tape_tree(residual_tape(6, 1)), b = tape_tree(residual_tape(6, 5000));
  CHECK(a.node_key == b.node_key);
  std::set<uint64_t> keys(a.node_key.begin(), a.node_key.end());
  for (const TapeTree::Group& group : a.groups) keys.insert(group.key);
  CHECK(keys.size() == a.node_key.size() + a.groups.size());
}

TEST_CASE("an extra node in one block moves nothing above it and keeps the other blocks intact") {
  const TapePicture before = folded_picture(residual_tape(6), all_open());
  TapePicture after = folded_picture(residual_tape(6, 1, 4), all_open());
  CHECK(keep_places(after, before) > 0.9);
  std::unordered_map<uint64_t, GraphPoint> places;
  for (size_t i = 0; i < before.keys.size(); ++i) places[before.keys[i]] = before.canvas.layout.centers[i];
  size_t same = 0, common = 0;
  for (size_t i = 0; i < after.keys.size(); ++i) {
    const auto found = places.find(after.keys[i]);
    if (found == places.end()) continue;
    ++common;
    const GraphPoint now = after.canvas.layout.centers[i];
    same += std::abs(found->second.x - now.x) < 0.5f && std::abs(found->second.y - now.y) < 0.5f;
  }
  MESSAGE(same << " of " << common << " nodes stay");
  CHECK(common == before.keys.size());
  CHECK(same * 2 >= common);
}

TEST_CASE("the group that is opened stays where it was clicked") {
  const TapeSnapshot tape = residual_tape(30);
  const TapeTree tree = tape_tree(tape);
  const TapeTree::Group* group = find_group(tree, "blocks.0 … 29");
  REQUIRE(group);
  CollapseState state;
  const TapePicture closed = tape_picture(tape, tree, open_groups(tree, state), {});
  state.exceptions[group->key] = true;
  TapePicture open = tape_picture(tape, tree, open_groups(tree, state), {});
  keep_places(open, closed, group->key);
  const size_t box =
      size_t(std::find(closed.keys.begin(), closed.keys.end(), group->key) - closed.keys.begin());
  const size_t frame =
      size_t(std::find(open.frame_keys.begin(), open.frame_keys.end(), group->key) - open.frame_keys.begin());
  REQUIRE(box < closed.keys.size());
  REQUIRE(frame < open.frame_keys.size());
  const CanvasFrame& now = open.canvas.frames[frame];
  CHECK((now.low.x + now.high.x) / 2 == doctest::Approx(closed.canvas.layout.centers[box].x));
  CHECK(now.low.y ==
        doctest::Approx(closed.canvas.layout.centers[box].y - closed.canvas.graph.boxes[box].height / 2));
}

TEST_CASE("arrow keys move along edges and sideways") {
  const TapePicture picture = folded_picture(residual_tape(1), all_open());
  const auto box = [&](const std::string& title) {
    for (size_t b = 0; b < picture.boxes.size(); ++b)
      if (picture.canvas.nodes[b].title == title) return int(b);
    return -1;
  };
  const int norm = box("layer_norm"), mean = box("mean");
  REQUIRE(norm >= 0);
  REQUIRE(mean >= 0);
  CHECK(canvas_neighbour(picture.canvas, mean, Direction::down) == -1);
  const int add = canvas_neighbour(picture.canvas, mean, Direction::up);
  CHECK(picture.canvas.nodes[size_t(add)].title == "add");
  CHECK(canvas_neighbour(picture.canvas, add, Direction::down) == mean);
  const int weight = box("blocks.0.norm.weight"), bias = box("blocks.0.norm.bias");
  CHECK((canvas_neighbour(picture.canvas, weight, Direction::right) == bias ||
         canvas_neighbour(picture.canvas, weight, Direction::left) == bias));
  CHECK(canvas_neighbour(picture.canvas, -1, Direction::up) == -1);
}

TEST_CASE("a module that runs one operation has no frame, and its borders take little space") {
  TapeMaker maker;
  uint64_t x = maker.leaf("x", {4});
  x = maker.call("dropout", "Net.dropout", {x}, {4});
  x = maker.call("relu", "Net.act.inner", {x}, {4});
  x = maker.call("neg", "Net.pair", {x}, {4});
  x = maker.call("exp", "Net.pair", {x}, {4});
  maker.call("sum", "", {x}, {});
  const TapeSnapshot tape = maker.snapshot();
  const TapeTree tree = tape_tree(tape);
  CHECK_FALSE(find_group(tree, "dropout"));
  CHECK_FALSE(find_group(tree, "act.inner"));
  REQUIRE(find_group(tree, "pair"));
  const TapePicture picture = tape_picture(tape, tree, open_groups(tree, all_open()), {});
  REQUIRE(picture.frames.size() == 2);  // Net and pair
  check_frames(picture, tree);
  check_edges(picture);
  for (size_t f = 0; f < picture.frames.size(); ++f) {
    if (tree.groups[picture.frames[f]].name != "pair") continue;
    const CanvasFrame& frame = picture.canvas.frames[f];
    const float boxes = 2 * picture.canvas.graph.boxes[0].height;
    const float gaps = LayoutStyle().layer_gap + 2 * LayoutStyle().port_gap;
    CHECK(frame.high.y - frame.low.y <= kFrameTitle + boxes + gaps + kFramePad + 0.1f);
  }
}

TEST_CASE("a parameter belongs to the module that its whole name names") {
  TapeMaker maker;
  const uint64_t x = maker.leaf("x", {4}), weight = maker.leaf("net.norm.weight", {4});
  const uint64_t y = maker.call("exp", "net.norm.inner", {x, weight}, {4});
  const uint64_t z = maker.call("neg", "net.norm.inner", {y}, {4});
  maker.call("sin", "net.norm", {maker.call("cos", "net.norm", {z}, {4})}, {4});
  const TapeSnapshot tape = maker.snapshot();
  const TapeTree tree = tape_tree(tape);
  for (size_t i = 0; i < tape.nodes.size(); ++i)
    if (tape.nodes[i].outputs[0].name == "net.norm.weight")
      CHECK(tree.groups[tree.group_of[i]].path == "net.norm");
}

TEST_CASE("gradient ops stand in a box of their own, and leave parameters beside their layers") {
  TapeMaker maker;
  const uint64_t x = maker.leaf("x", {4}), weight = maker.leaf("net.0.weight", {4});
  const uint64_t y = maker.call("mul", "net.0", {x, weight}, {4});
  const uint64_t z = maker.call("exp", "net.0", {y}, {4});
  const uint64_t g = maker.call("mul", "net.0", {z, z}, {4});
  const uint64_t h = maker.call("mul", "net.0", {g, weight}, {4});
  maker.call("sum", "", {h}, {});
  TapeSnapshot tape = maker.snapshot();
  for (NodeInfo& node : tape.nodes) {
    if (node.id == g) node.gradient_op = "exp";
    if (node.id == h) node.gradient_op = "mul";
  }
  const TapeTree tree = tape_tree(tape);
  for (size_t i = 0; i < tape.nodes.size(); ++i) {
    CAPTURE(tape.nodes[i].op);
    bool in_lane = false;
    for (int group = int(tree.group_of[i]); group >= 0; group = tree.groups[size_t(group)].parent)
      in_lane |= tree.groups[size_t(group)].name.starts_with("gradient ops");
    CHECK(in_lane == !tape.nodes[i].gradient_op.empty());
    if (tape.nodes[i].id == weight) CHECK(tree.groups[tree.group_of[i]].path == "net.0");
  }
  const TapePicture picture = tape_picture(tape, tree, open_groups(tree, all_open()), {});
  check_frames(picture, tree);
  check_edges(picture);
  bool told = false;
  for (const CanvasNode& node : picture.canvas.nodes) told |= node.line == "for exp [4]";
  CHECK(told);
}

TEST_CASE("calls without a gradient are pale") {
  TapeMaker maker;
  const uint64_t frozen = maker.call("linear", "net.0", {maker.leaf("net.0.weight", {4})}, {4});
  maker.call("sum", "", {frozen}, {});
  TapeSnapshot tape = maker.snapshot();
  for (NodeInfo& node : tape.nodes) node.no_gradient = node.op != "sum";
  const TapeTree tree = tape_tree(tape);
  const TapePicture picture = tape_picture(tape, tree, open_groups(tree, all_open()), {});
  for (const CanvasNode& node : picture.canvas.nodes) CHECK(node.pale == (node.title != "sum"));
}
