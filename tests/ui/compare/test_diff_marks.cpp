// The difference of two tapes of the window, read through their JSON, on the second of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/moves.h"
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

TEST_CASE("a node has the figure of the list") {
  TapeSnapshot a = residual_tape(2), b = residual_tape(2, 1000);
  for (size_t i = 0; i < b.nodes.size(); ++i) {
    a.nodes[i].output_summary = summary(0.5);
    b.nodes[i].output_summary = summary(b.nodes[i].op == "mean" ? 0.9 : 0.5);
    a.nodes[i].gradient_summary = summary(0.25);
    b.nodes[i].gradient_summary = summary(b.nodes[i].op == "layer_norm" ? 0.3 : 0.25);
  }
  const TapeDiff diff = difference(a, b);
  const NodeMarks marks = diff_marks(b, diff);
  size_t values = 0, gradients = 0;
  for (const TapeFinding& finding : diff.findings) {
    const int64_t id = node_of(diff, finding);
    const auto node = std::find_if(b.nodes.begin(), b.nodes.end(),
                                   [id](const NodeInfo& info) { return int64_t(info.id) == id; });
    REQUIRE(node != b.nodes.end());
    const std::string note = marks.notes[size_t(node - b.nodes.begin())];
    const bool is_value = finding.kind == TapeFinding::Kind::value;
    (is_value ? values : gradients) += 1;
    CHECK(finding.text.starts_with(is_value ? note : note.substr(std::string("gradient ").size())));
    CHECK(note.starts_with(is_value ? "by " : "gradient by "));
  }
  CHECK(values > 0);
  CHECK(gradients > 0);
}

TEST_CASE("an optional operand that was left out is no node, whatever its shape") {
  TapeSnapshot tape = residual_tape(1);
  const size_t before = read_tape_text(tape_json(tape), "a").nodes.size();
  OperandInfo absent;
  absent.name = "weight";
  tape.nodes[0].inputs.push_back(absent);
  const std::string text = tape_json(tape);
  const TapeGraph graph = read_tape_text(text, "a");
  CHECK(graph.nodes.size() == before);
  const auto root = std::find_if(graph.nodes.rbegin(), graph.nodes.rend(),
                                 [](const TapeNode& node) { return node.kind == TapeNodeKind::op; });
  REQUIRE(root != graph.nodes.rend());
  CHECK(root->inputs.back() == -1);
  // Earlier versions wrote a shape without a dtype.
  const std::string mark = "\"name\":\"weight\",\"tensor\":0";
  const size_t at = text.find(mark);
  REQUIRE(at != text.npos);
  std::string older = text;
  older.insert(at + mark.size(), ",\"shape\":[],\"stride\":[],\"dtype\":\"\"");
  CHECK(read_tape_text(older, "a").nodes.size() == before);
}

TEST_CASE("figures of six digits and of all digits are compared in six digits") {
  const TapeDiffOptions exact;
  Summary whole = summary(0.123456789);
  TapeValue watched{whole, {}}, kept{whole, Sketch{}};
  kept.summary.mean = 0.123457;
  kept.summary.max = 1.12346;
  kept.summary.min = -0.876543;
  kept.summary.norm = 20.1235;
  CHECK_FALSE(measure(watched, kept, exact).moved);
  kept.summary.norm = 20.2;
  CHECK(measure(watched, kept, exact).moved);
  // Two values of one kind are compared exactly.
  TapeValue other = watched;
  other.summary.mean = 0.12345679;
  CHECK(measure(watched, other, exact).moved);
}

TEST_CASE("figures that differ in late digits show these digits") {
  CHECK(change_figure(2.36, 0.6425) == "2.36 → 0.6425");
  CHECK(change_figure(1.192231, 1.192239) == "1.19223 → 1.19224");
  CHECK(change_figure(1, 1) == "1 → 1");
}

TEST_CASE("a tape of another step has no marks of this one") {
  const TapeSnapshot a = residual_tape(1), b = residual_tape(1, 1000), other = residual_tape(1, 5000);
  const NodeMarks marks = diff_marks(other, difference(a, b));
  CHECK(std::all_of(marks.of.begin(), marks.of.end(), [](int kind) { return kind == -1; }));
}
