#include <doctest/doctest.h>

#include "script/view/failing_nodes.h"
#include "tests/support/timing.h"
#include "tests/ui/tapes.h"
#include "ui/tape/model.h"

using namespace lunagrad;

namespace {

NodeInfo node(uint64_t id, const char* op, std::vector<uint64_t> inputs, std::vector<int64_t> shape) {
  NodeInfo made;
  made.id = id;
  made.op = op;
  made.place = {"train.lua", int(id % 100)};
  for (uint64_t input : inputs) {
    made.inputs.emplace_back();
    made.inputs.back().node = input;
  }
  made.outputs.emplace_back();
  made.outputs[0].shape = std::move(shape);
  return made;
}

// loss = sum(relu(w)), ids from `first`
TapePtr tape(uint64_t first, int64_t size) {
  auto made = std::make_shared<TapeSnapshot>();
  made->nodes = {node(first + 2, "sum", {first + 1}, {}), node(first + 1, "relu", {first}, {size}),
                 node(first, "leaf", {}, {size})};
  return made;
}

TapePicture picture_of(const TapeSnapshot& shown) {
  const TapeTree tree = tape_tree(shown);
  return tape_picture(shown, tree, open_groups(tree, {}), {});
}

void wait_for_update(TapeModel& model) {
  tests::eventually([&] { return model.update(); });
}

}  // namespace

TEST_CASE("tapes of the same structure have the same hash, independent of ids") {
  CHECK(tape_structure(*tape(100, 4)) == tape_structure(*tape(700, 4)));
  CHECK(tape_structure(*tape(100, 4)) != tape_structure(*tape(100, 5)));
}

TEST_CASE("data flows downwards, from leaf to loss") {
  const TapePicture picture = picture_of(*tape(100, 4));
  REQUIRE(picture.canvas.graph.edges.size() == 2);
  const auto y = [&](int node) { return picture.canvas.layout.centers[picture.box_of[size_t(node)]].y; };
  CHECK(y(2) < y(1));
  CHECK(y(1) < y(0));
  const CanvasNode& relu = picture.canvas.nodes[picture.box_of[1]];
  CHECK(relu.title == "relu");
  CHECK(relu.line == "[4]");
}

TEST_CASE("a node with several outputs shows their number") {
  auto made = *tape(100, 4);
  made.nodes[1].outputs.push_back({});
  CHECK(picture_of(made).canvas.nodes[1].line == "[4] (1 of 2)");
}

TEST_CASE("an operand whose node is not on the tape draws no edge") {
  TapeSnapshot made;
  made.nodes = {node(5, "sum", {4, 0}, {})};
  CHECK(picture_of(made).canvas.graph.edges.empty());
}

TEST_CASE("the picture and the selection are kept when only ids change") {
  TapeModel model(
      {}, [] {}, "");
  model.offer(tape(100, 4));
  wait_for_update(model);
  REQUIRE(model.tape());
  const TapePicture* picture = model.picture();
  model.select(1);
  model.offer(tape(200, 4));
  wait_for_update(model);
  CHECK(model.picture() == picture);
  REQUIRE(model.selected_node());
  CHECK(model.selected_node()->id == 201);
  CHECK(model.find_node(202) == 0);
  CHECK(model.find_node(101) == -1);
}

TEST_CASE("search looks for all words in op, shape and line") {
  const std::string text = searchable_text(node(57, "MatMul", {}, {64, 10}));
  CHECK(contains_words(text, "matmul"));
  CHECK(contains_words(text, "train.lua:57 [64,"));
  CHECK_FALSE(contains_words(text, "matmul relu"));
  CHECK(contains_words(text, "  "));
}

TEST_CASE("marks stay with their nodes when the structure changes, and disappear with them") {
  const auto first = std::make_shared<TapeSnapshot>(test::residual_tape(4));
  const auto second = std::make_shared<TapeSnapshot>(test::residual_tape(4, 500, 3));
  TapeModel model(
      {}, [] {}, "");
  model.offer(first);
  wait_for_update(model);
  const auto relu_of = [](const TapeSnapshot& tape, const std::string& module, const char* op) {
    for (size_t i = 0; i < tape.nodes.size(); ++i)
      if (tape.nodes[i].op == op && tape.nodes[i].module == module) return int(i);
    return -1;
  };
  model.select(relu_of(*first, "Net.blocks.1", "relu"));
  model.light({relu_of(*first, "Net.blocks.2", "add"), 100000, -1});
  CHECK(model.lit().size() == 1);
  model.offer(second);
  wait_for_update(model);
  CHECK(model.selected() == relu_of(*second, "Net.blocks.1", "relu"));
  CHECK(model.lit() == std::vector<int>{relu_of(*second, "Net.blocks.2", "add")});
  model.select(relu_of(*second, "Net.blocks.3", "tanh"));
  model.offer(std::make_shared<TapeSnapshot>(test::residual_tape(4)));
  wait_for_update(model);
  CHECK(model.selected() == -1);
}

TEST_CASE("a node is found by its id, and the groups around it open") {
  const auto tape = std::make_shared<TapeSnapshot>(test::residual_tape(60));
  TapeModel model(
      {}, [] {}, "");
  model.offer(tape);
  wait_for_update(model);
  for (const size_t i : {size_t(0), tape->nodes.size() / 2, tape->nodes.size() - 1})
    CHECK(model.find_node(tape->nodes[i].id) == int(i));
  CHECK(model.find_node(0) == -1);
  const int node = int(tape->nodes.size() / 4);
  CHECK(model.picture()->boxes[model.picture()->box_of[size_t(node)]].is_group);
  model.open_around(node);
  CHECK(model.laying_out());
  wait_for_update(model);
  CHECK_FALSE(model.laying_out());
  CHECK_FALSE(model.picture()->boxes[model.picture()->box_of[size_t(node)]].is_group);
}

TEST_CASE("without a tape nothing is being laid out, whatever groups are to be open") {
  TapeModel model(
      {}, [] {}, "");
  CollapseState sideways = model.collapse();
  sideways.sideways = !sideways.sideways;
  model.set_collapse(std::move(sideways));
  CHECK_FALSE(model.laying_out());
}

TEST_CASE("an error marks the nodes of its line, and of its op if it names one") {
  TapeSnapshot tape;
  tape.nodes = {node(12, "matmul", {11}, {}), node(11, "relu", {}, {}), node(10, "leaf", {}, {})};
  tape.nodes[1].place.line = 12;
  CHECK(failing_nodes(tape, "train.lua:12: something", {"train.lua", 12}) == std::vector<int>{0, 1});
  CHECK(failing_nodes(tape, "train.lua:12: matmul: shapes", {"train.lua", 12}) == std::vector<int>{0});
  CHECK(failing_nodes(tape, "backward of relu (made at train.lua:12) needs", {"train.lua", 40}) ==
        std::vector<int>{1});
  CHECK(failing_nodes(tape, "train.lua:120: x", {"train.lua", 120}).empty());
  CHECK(failing_nodes(tape, "other.lua:12: x", {"other.lua", 12}).empty());
}
