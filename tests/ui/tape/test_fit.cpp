#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/support/timing.h"
#include "tests/ui/tapes.h"
#include "ui/tape/fit.h"
#include "ui/tape/model.h"
#include "ui/tape/parts.h"

using namespace lunagrad;
using test::residual_tape;
using test::TapeMaker;

namespace {

constexpr PictureRoom kRoom{1050, 480};  // about the first layout's at 1280 x 800

CollapseState in(PictureRoom room) {
  CollapseState state;
  state.sideways = true;
  state.room = room;
  return state;
}

// A script without modules: `count` calls in a row, each with a weight.
TapeSnapshot chain(int count) {
  TapeMaker tape;
  uint64_t x = tape.leaf("x", {4});
  for (int i = 0; i < count; ++i)
    x = tape.call("linear", "", {x, tape.leaf("w" + std::to_string(i), {4 + i % 3, 4})}, {4 + i % 3});
  return tape.snapshot();
}

TapeSnapshot branches(int count) {
  TapeMaker tape;
  const uint64_t x = tape.leaf("x", {4});
  std::vector<uint64_t> made;
  for (int i = 0; i < count; ++i)
    made.push_back(tape.call("matmul", "", {x, tape.leaf("w" + std::to_string(i), {4, 4})}, {4}));
  tape.call("mean", "", {tape.call("cat", "", made, {4 * count})}, {});
  return tape.snapshot();
}

// A convolutional network: modules with weights in a row, and functions between them.
TapeSnapshot layers(int count) {
  TapeMaker tape;
  uint64_t x = tape.leaf("x", {4});
  for (int i = 0; i < count; ++i) {
    const std::string name = "net.layer" + std::to_string(i);
    const int64_t width = 8 + i;
    const uint64_t weight = tape.leaf(name + ".weight", {width, 4}),
                   bias = tape.leaf(name + ".bias", {width});
    x = tape.call("linear", name, {x, weight, bias}, {width});
    x = tape.call("relu", "net", {x}, {width});
  }
  tape.call("mean", "", {x}, {});
  return tape.snapshot();
}

FittedTape fitted(const TapeSnapshot& tape, const CollapseState& state) {
  return fitted_tape(tape, std::make_shared<const TapeTree>(tape_tree(tape)), state, {}, {});
}

bool shows(const FittedTape& made, const TapeSnapshot& tape, const std::string& op) {
  return std::any_of(made.picture.boxes.begin(), made.picture.boxes.end(),
                     [&](TapeTree::Item item) { return !item.is_group && tape.nodes[item.index].op == op; });
}

// Every node is in one box, and groups count their nodes.
void check_whole(const FittedTape& made) {
  std::vector<uint32_t> held(made.picture.boxes.size(), 0);
  for (const uint32_t box : made.picture.box_of) {
    REQUIRE(box < held.size());
    ++held[box];
  }
  for (size_t b = 0; b < held.size(); ++b) {
    const TapeTree::Item item = made.picture.boxes[b];
    CHECK(held[b] == (item.is_group ? made.tree->groups[item.index].node_count : 1));
  }
}

}  // namespace

TEST_CASE("tapes of all kinds are fitted to the room, and to a small one") {
  for (const TapeSnapshot& tape : {chain(3), chain(30), chain(200), chain(3000), branches(300), layers(4),
                                   layers(12), residual_tape(3), residual_tape(12), residual_tape(1000)})
    for (const PictureRoom room : {kRoom, PictureRoom{600, 360}, PictureRoom{3000, 1500}}) {
      CAPTURE(tape.nodes.size());
      CAPTURE(room.width);
      const FittedTape made = fitted(tape, in(room));
      CHECK(scale_in(room, made.picture) >= 0.99f);
      CHECK(made.picture.boxes.size() >= 2);
      check_whole(made);
    }
}

TEST_CASE("what fits is shown open, if need be in rows; a chain does not become a single box") {
  const TapeSnapshot few = layers(3), many = layers(6);
  CHECK(fitted(few, in(kRoom)).picture.boxes.size() == few.nodes.size());
  const FittedTape wrapped = fitted(many, in({900, 1000}));
  CHECK(wrapped.picture.boxes.size() == many.nodes.size());
  CHECK(wrapped.picture.canvas.layout.rows >= 2);
  CHECK(fitted(chain(200), in(kRoom)).picture.boxes.size() >= 8);
}

TEST_CASE("modules beside each other are collapsed together") {
  const TapeSnapshot tape = layers(8);
  const auto whole = std::make_shared<const TapeTree>(tape_tree(tape));
  const CollapseState state = in({1050, 300});
  const FittedTape made = fitted_tape(tape, whole, state, {}, {});
  CHECK(shows(made, tape, "relu"));
  CHECK_FALSE(shows(made, tape, "linear"));
  CHECK(collapsed_to_fit(*whole, *made.tree, state, made.picture) == 8);
  const CollapseState large = in({5000, 3000});
  const FittedTape all = fitted_tape(tape, whole, large, {}, {});
  CHECK(collapsed_to_fit(*whole, *all.tree, large, all.picture) == 0);
}

TEST_CASE("what the user has opened and closed stays") {
  const TapeSnapshot tape = layers(8);
  const TapeTree tree = tape_tree(tape);
  CollapseState state = in({1050, 300});
  const auto key = [&](const std::string& name) {
    for (const TapeTree::Group& group : tree.groups)
      if (group.name == name) return group.key;
    return uint64_t(0);
  };
  REQUIRE(key("layer3") != 0);
  state.exceptions[key("layer3")] = true;
  FittedTape made = fitted(tape, state);
  CHECK(shows(made, tape, "linear"));
  state.room = {5000, 3000};
  state.exceptions = {{key("layer3"), false}};
  made = fitted(tape, state);
  CHECK(made.picture.boxes.size() == tape.nodes.size() - 2);
}

TEST_CASE("parts have the same keys in each step, and an opened part stays in another room") {
  const TapeSnapshot tape = chain(200);
  CollapseState state = in(kRoom);
  const FittedTape small = fitted(tape, state);
  std::set<uint64_t> keys(small.picture.keys.begin(), small.picture.keys.end());
  CHECK(keys.size() == small.picture.keys.size());
  TapeSnapshot later = tape;
  for (NodeInfo& node : later.nodes) {
    node.id += 5000;
    for (OperandInfo& input : node.inputs) input.node += 5000;
  }
  CHECK(fitted(later, state).picture.keys == small.picture.keys);
  const auto part = std::find_if(small.picture.boxes.begin(), small.picture.boxes.end(),
                                 [](TapeTree::Item item) { return item.is_group; });
  REQUIRE(part != small.picture.boxes.end());
  const uint64_t key = small.tree->groups[part->index].key;
  state.exceptions[key] = true;
  state.room = {2200, 600};
  const FittedTape opened = fitted(tape, state);
  bool framed = false;
  for (const uint64_t frame : opened.picture.frame_keys) framed |= frame == key;
  CHECK(framed);
  CHECK(shows(opened, tape, "linear"));
}

TEST_CASE("the model keeps what it shows while the user opens one module, and fits again when asked") {
  TapeModel model(
      {}, [] {}, "");
  const auto tape = std::make_shared<TapeSnapshot>(layers(8));
  model.set_collapse(in({1050, 300}));
  model.offer(tape);
  REQUIRE(tests::eventually([&] { return model.update(); }));
  const size_t closed = model.picture()->boxes.size();
  CHECK(model.collapsed() == 8);
  uint32_t group = 0;
  for (uint32_t g = 0; g < model.tree()->groups.size(); ++g)
    if (model.tree()->groups[g].name == "layer3") group = g;
  REQUIRE(group != 0);
  model.set_open(group, true);
  REQUIRE(tests::eventually([&] { return model.update(); }));
  CHECK(model.picture()->boxes.size() == closed + 2);
  CollapseState again = model.collapse();
  ++again.fits;
  again.room = {8000, 3000};
  model.set_collapse(again);
  REQUIRE(tests::eventually([&] { return model.update(); }));
  CHECK(model.picture()->boxes.size() == tape->nodes.size());
  CHECK(model.collapsed() == 0);
}

TEST_CASE("fitting takes less than 0.5 s for 10,000 nodes with and without modules") {
  for (const TapeSnapshot& tape : {chain(5000), branches(5000), residual_tape(910)}) {
    const auto whole = std::make_shared<const TapeTree>(tape_tree(tape));
    const double start = tests::thread_seconds();
    const FittedTape made = fitted_tape(tape, whole, in(kRoom), {}, {});
    const double took = tests::thread_seconds() - start;
    MESSAGE(tape.nodes.size() << " nodes: " << took * 1e3 << " ms");
    CHECK(scale_in(kRoom, made.picture) >= 0.99f);
    CHECK_TIME(took < 0.5);
  }
}
