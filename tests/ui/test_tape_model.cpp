#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "ui/tape_model.h"

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

void wait_for(TapeModel& model) {
  for (int i = 0; i < 2000 && !model.update(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_CASE("tapes of the same structure look the same whatever their ids") {
  CHECK(tape_structure(*tape(100, 4)) == tape_structure(*tape(700, 4)));
  CHECK(tape_structure(*tape(100, 4)) != tape_structure(*tape(100, 5)));
}

TEST_CASE("data flows downwards, from leaf to loss") {
  const CanvasGraph picture = tape_picture(*tape(100, 4), {});
  REQUIRE(picture.graph.edges.size() == 2);
  CHECK(picture.layout.layers[2] == 0);
  CHECK(picture.layout.layers[0] == 2);
  CHECK(picture.nodes[1].title == "relu");
  CHECK(picture.nodes[1].line == "[4]");
}

TEST_CASE("an operand whose node is not on the tape draws no edge") {
  TapeSnapshot made;
  made.nodes = {node(5, "sum", {4, 0}, {})};
  CHECK(tape_picture(made, {}).graph.edges.empty());
}

TEST_CASE("the picture and the selection stay when only ids change") {
  TapeModel model({}, [] {});
  model.offer(tape(100, 4));
  wait_for(model);
  REQUIRE(model.tape());
  const CanvasGraph* picture = model.picture();
  model.select(1);
  model.offer(tape(200, 4));
  wait_for(model);
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
