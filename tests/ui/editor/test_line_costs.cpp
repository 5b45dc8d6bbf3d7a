#include <doctest/doctest.h>

#include "ui/editor/documents.h"
#include "ui/editor/live_gutter.h"

using namespace lunagrad;

namespace {

NodeInfo node(uint64_t id, const char* op, const char* file, int line, std::vector<int64_t> shape,
              double ns) {
  NodeInfo made;
  made.id = id;
  made.op = op;
  made.place = {file, line};
  made.forward_ns = ns;
  made.backward_ns = 2 * ns;
  made.bytes = 4;
  made.outputs.emplace_back();
  made.outputs[0].shape = std::move(shape);
  return made;
}

// Newest first, as in tapes.
TapeSnapshot tape() {
  TapeSnapshot made;
  made.nodes = {node(4, "sum", "a.lua", 3, {}, 10), node(3, "relu", "a.lua", 2, {4}, 20),
                node(2, "linear", "a.lua", 2, {4, 8}, 30), node(1, "leaf", "b.lua", 9, {8}, 0)};
  return made;
}

std::vector<std::string> lines(std::initializer_list<const char*> all) { return {all.begin(), all.end()}; }

}  // namespace

TEST_CASE("the nodes of a line add up, and its last output is the newest") {
  const LineCosts costs(tape());
  REQUIRE(costs.of("a.lua"));
  const LineCost& line = costs.of("a.lua")->at(2);
  CHECK(line.forward_ns == 50);
  CHECK(line.backward_ns == 100);
  CHECK(line.bytes == 8);
  CHECK(line.shape == "[4]");
  CHECK(line.nodes == std::vector<int>{2, 1});
  CHECK(costs.of("b.lua")->at(9).shape == "[8]");
  CHECK_FALSE(costs.of("c.lua"));
  CHECK(costs.slowest_ns() == 150);
}

TEST_CASE("lines keep their costs when others are added, removed or changed") {
  const auto before = lines({"a", "b", "c", "d", "e"});
  CHECK(matching_lines(before, before) == std::vector<int>{0, 1, 2, 3, 4});
  CHECK(matching_lines(before, lines({"a", "new", "b", "c", "d", "e"})) ==
        std::vector<int>{0, -1, 1, 2, 3, 4});
  CHECK(matching_lines(before, lines({"a", "x", "c", "y", "e"})) == std::vector<int>{0, -1, 2, -1, 4});
  CHECK(matching_lines(before, lines({"e"})) == std::vector<int>{4});
  CHECK(matching_lines({}, lines({"a"})) == std::vector<int>{-1});
}

TEST_CASE("the gutter follows its text through edits, and other texts have none") {
  Documents documents;
  Document& document = documents.add_untitled();
  document.buffer.load("one\ntwo\nthree\n");
  document.run_lines = lines({"one", "two", "three", ""});
  TapeSnapshot made = tape();
  for (NodeInfo& info : made.nodes) info.place.file = document.title;
  LiveGutter gutter;
  CHECK(gutter.update(&made, document));
  CHECK_FALSE(gutter.update(&made, document));
  CHECK(gutter.live());
  REQUIRE(gutter.cost(1));
  CHECK(gutter.cost(1)->nodes.size() == 2);
  CHECK(gutter.heat(1) == doctest::Approx(1));
  CHECK(gutter.line_now(2) == 1);
  document.buffer.set_caret({0, 0});
  document.buffer.type("zero\n");
  gutter.update(&made, document);
  CHECK_FALSE(gutter.cost(1));
  CHECK(gutter.cost(2)->nodes.size() == 2);
  CHECK(gutter.line_now(2) == 2);
  document.buffer.set_caret({2, 0});
  document.buffer.type("x");
  gutter.update(&made, document);
  CHECK_FALSE(gutter.cost(2));
  CHECK(gutter.line_now(2) == -1);
  Document& other = documents.add_untitled();
  gutter.update(&made, other);
  CHECK_FALSE(gutter.live());
  CHECK(gutter.sentence(1).empty());
}
