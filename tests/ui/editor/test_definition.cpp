#include <doctest/doctest.h>

#include "ui/editor/definition.h"
#include "ui/tape/selection_trail.h"

using namespace lunagrad;

namespace {

constexpr const char* kText = R"(local lg, nn <const> = require "lunagrad", 1
-- function twice(hidden)
local function twice(x, factor)
  return x * (factor or 2)
end
local Net = nn.class("Net")
function Net:forward(x)
  self.scale = 3
  local x, y = twice(x), "twice = 1"
  return x + y == nil and self.scale
end
for step, loss in steps() do
  rate = step
  print(rate, loss, Net():forward(step), twice)
end
)";

// The result of F12 with the caret after the n-th letter of the line's first `word`, as "line:column" from 1;
// "" for none.
std::string found(int line, const std::string& word, int letter = 1) {
  const TextBuffer text(kText);
  const auto column = int(text.line(line - 1).find(word));
  REQUIRE(column >= 0);
  const TextPosition caret{line - 1, column + letter};
  const auto at = definition_of(text, name_at(text, caret), caret);
  return at ? std::to_string(at->line + 1) + ":" + std::to_string(at->column + 1) : "";
}

}  // namespace

TEST_CASE("a name's definition is the nearest declaration above, otherwise its first assignment") {
  CHECK(found(14, "twice") == "3:16");
  CHECK(found(9, "twice(", 0) == "3:16");
  CHECK(found(4, "factor") == "3:25");
  CHECK(found(4, "x *") == "3:22");
  CHECK(found(10, "x +") == "9:9");
  CHECK(found(10, "y ==") == "9:12");
  CHECK(found(14, "rate") == "13:3");
  CHECK(found(14, "loss") == "12:11");
  CHECK(found(13, "step") == "12:5");
  CHECK(found(14, "Net():forward", 9) == "7:14");
  CHECK(found(14, "Net()") == "6:7");
  CHECK(found(10, "scale") == "8:8");
  CHECK(found(6, "nn.class") == "1:11");
  CHECK(found(12, "steps") == "");
  CHECK(found(14, "print") == "");
}

TEST_CASE("the name at the caret includes its path, and ends with the part at the caret") {
  const TextBuffer text("a.bc:def(1.5)..e");
  CHECK(name_at(text, {0, 0}) == "a");
  CHECK(name_at(text, {0, 3}) == "a.bc");
  CHECK(name_at(text, {0, 8}) == "a.bc:def");
  CHECK(name_at(text, {0, 9}) == "");
  CHECK(name_at(text, {0, 11}) == "");
  CHECK(name_at(text, {0, 16}) == "e");
  CHECK(name_at(TextBuffer(), {0, 0}) == "");
}

TEST_CASE("the history of selections goes back and forward, and a new selection clears the forward part") {
  SelectionTrail trail;
  CHECK_FALSE(trail.go(1, -1));
  for (const int node : {4, 4, 7, 2}) trail.visit(1, node);
  CHECK(trail.go(1, 1) == std::nullopt);
  CHECK(trail.go(1, -1) == 7);
  CHECK(trail.go(1, -1) == 4);
  CHECK(trail.go(1, -1) == std::nullopt);
  CHECK(trail.go(1, 1) == 7);
  trail.visit(1, 7);  // selecting what was returned changes nothing
  CHECK(trail.go(1, 1) == 2);
  CHECK(trail.go(1, -1) == 7);
  trail.visit(1, 9);
  CHECK(trail.go(1, 1) == std::nullopt);
  trail.visit(2, 1);  // another structure: skips positions of the first one
  trail.visit(1, 5);
  CHECK(trail.go(1, -1) == 9);
  CHECK(trail.go(2, 1) == 1);
  for (int node = 0; node < 3 * int(SelectionTrail::kLongest); ++node) trail.visit(3, node);
  size_t steps = 0;
  while (trail.go(3, -1)) ++steps;
  CHECK(steps == SelectionTrail::kLongest - 1);
}
