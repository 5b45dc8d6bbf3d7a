// The difference of two tapes of the window, read through their JSON, on the second of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/read.h"
#include "script/view/tape_json.h"
#include "tests/ui/tapes.h"
#include "ui/compare/diff_marks.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

Summary summary(double mean) {
  Summary made;
  made.count = 512;
  made.min = mean - 1;
  made.max = mean + 1;
  made.mean = mean;
  made.norm = 20 + std::abs(mean);
  return made;
}

TapeDiff difference(const TapeSnapshot& a, const TapeSnapshot& b) {
  return compare_tapes(read_tape_text(tape_json(a), "a"), read_tape_text(tape_json(b), "b"), {});
}

std::string kind_at(const NodeMarks& marks, size_t i) {
  return marks.of[i] < 0 ? "" : marks.kinds[size_t(marks.of[i])].name;
}

}  // namespace

TEST_CASE("an added op is marked on the tape that has it, and is the first finding") {
  const TapeSnapshot a = residual_tape(3), b = residual_tape(3, 1000, 1);
  const TapeDiff diff = difference(a, b);
  const NodeMarks marks = diff_marks(b, diff);
  REQUIRE(marks.of.size() == b.nodes.size());
  for (size_t i = 0; i < b.nodes.size(); ++i)
    if (b.nodes[i].op != "leaf" || kind_at(marks, i) != "")
      CHECK((kind_at(marks, i) == "added") == (b.nodes[i].op == "tanh"));
  REQUIRE_FALSE(diff.findings.empty());
  CHECK(std::string(finding_kind(diff.findings[0])) == "added");
  CHECK(node_of(diff, diff.findings[0]) >= 1000);
  CHECK(place_of(diff, diff.findings[0]).line == 23);
  CHECK(diff_counts(diff).starts_with("0 nodes removed, 1 added, 1 changed"));
  // In the other direction only the list has it.
  const TapeDiff back = difference(b, a);
  CHECK(std::string(finding_kind(back.findings[0])) == "removed");
  CHECK(node_of(back, back.findings[0]) == -1);
  CHECK(place_of(back, back.findings[0]).line == 23);
}

TEST_CASE("of values that moved the cause is marked apart from what follows") {
  TapeSnapshot a = residual_tape(2), b = residual_tape(2, 1000);
  for (TapeSnapshot* const tape : {&a, &b})
    for (NodeInfo& node : tape->nodes) node.output_summary = summary(0.5);
  // A parameter changed, and the values computed from it changed, too.
  for (NodeInfo& node : b.nodes) {
    const bool cause = node.op == "leaf" && node.outputs[0].name == "blocks.1.down.weight";
    if (cause || node.module == "Net.blocks.1.down" || node.op == "mean" ||
        (node.op == "add" && node.module == "Net.blocks.1"))
      node.output_summary = summary(0.75);
  }
  const TapeDiff diff = difference(a, b);
  const NodeMarks marks = diff_marks(b, diff);
  size_t moved = 0;
  for (size_t i = 0; i < b.nodes.size(); ++i)
    if (kind_at(marks, i) == "moved on its own") {
      ++moved;
      CHECK(b.nodes[i].outputs[0].name == "blocks.1.down.weight");
    } else if (b.nodes[i].op == "mean") {
      CHECK(kind_at(marks, i) == "moved, follows");
    } else if (b.nodes[i].op == "layer_norm") {
      CHECK(kind_at(marks, i) == "equal");
    }
  CHECK(moved == 1);
  CHECK(diff.findings[0].name == "blocks.1.down.weight");
  CHECK_FALSE(diff.findings[0].follows);
}

TEST_CASE("without values on both sides a node is not called equal") {
  const TapeSnapshot a = residual_tape(1), b = residual_tape(1, 1000);
  const NodeMarks marks = diff_marks(b, difference(a, b));
  for (size_t i = 0; i < b.nodes.size(); ++i) CHECK(kind_at(marks, i) == "same, values not known");
}

TEST_CASE("a tape of another step has no marks of this one") {
  const TapeSnapshot a = residual_tape(1), b = residual_tape(1, 1000), other = residual_tape(1, 5000);
  const NodeMarks marks = diff_marks(other, difference(a, b));
  CHECK(std::all_of(marks.of.begin(), marks.of.end(), [](int kind) { return kind == -1; }));
}
