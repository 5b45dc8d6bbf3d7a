// What a comparison of a step says about each node of the tape.
#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/ui/tapes.h"
#include "ui/compare/step_marks.h"

using namespace lunagrad;
using namespace lunagrad::test;

namespace {

ComparedNode row(uint64_t node, bool backward, double error, double inherited, Verdict verdict) {
  ComparedNode made;
  made.node = node;
  made.backward = backward;
  made.op = "linear";
  made.module = "net.0";
  made.place = {"scripts/train.lua", 31};
  made.verdict = verdict;
  TensorError tensor;
  tensor.name = "output";
  tensor.shape = {4, 8};
  tensor.error = error;
  tensor.allowed = 2e-6;
  tensor.inherited = inherited;
  made.tensors.push_back(tensor);
  return made;
}

// x and w are leaves; first = linear(x, w), wrong or not; second = relu(first); beside = tanh(x).
struct Made {
  TapeSnapshot tape;
  uint64_t x, w, first, second, beside;
};
Made made_tape() {
  TapeMaker maker;
  Made made;
  made.x = maker.leaf("x", {4, 8});
  made.w = maker.leaf("w", {8, 8});
  made.first = maker.call("linear", "net.0", {made.x, made.w}, {4, 8});
  made.second = maker.call("relu", "net.1", {made.first}, {4, 8});
  made.beside = maker.call("tanh", "net.2", {made.x}, {4, 8});
  made.tape = maker.snapshot(3);
  return made;
}

std::string kind_of(const Made& made, const NodeMarks& marks, uint64_t node) {
  for (size_t i = 0; i < made.tape.nodes.size(); ++i)
    if (made.tape.nodes[i].id == node) return marks.of[i] < 0 ? "" : marks.kinds[size_t(marks.of[i])].name;
  return "not on the tape";
}

}  // namespace

TEST_CASE("a wrong node stands out from those that inherit its error") {
  const Made made = made_tape();
  StepComparison comparison;
  comparison.nodes = {row(made.first, false, 3.1e-4, 3.1e-4, Verdict::wrong),
                      row(made.second, false, 0, 3e-4, Verdict::right),
                      row(made.beside, false, 1e-7, 1e-5, Verdict::right),
                      row(made.second, true, 0, 0, Verdict::right)};
  comparison.wrong = 1;
  const NodeMarks marks = step_marks(made.tape, comparison);
  CHECK(kind_of(made, marks, made.first) == "wrong by itself");
  CHECK(kind_of(made, marks, made.second) == "inherits an error");
  // It reads nothing of the wrong node: more than the bound is what rounding added up to.
  CHECK(kind_of(made, marks, made.beside) == "within rounding");
  CHECK(kind_of(made, marks, made.w).empty());
  const ComparedNode* const wrong = first_wrong(comparison);
  REQUIRE(wrong);
  CHECK(accusation_of(*wrong) == "linear in net.0 at train.lua:31, forward, error 3.1e-04 (bound 2.0e-06)");
  const auto rows = compared_rows(comparison, made.second);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].first == "forward");
  CHECK(rows[0].second == "right: output [4, 8]\noff by 0\nrounding allows 2.0e-06\ninherited 3.0e-04");
  CHECK(rows[1].first == "backward");
}

TEST_CASE("without a wrong node nothing inherits, and equal values are equal") {
  const Made made = made_tape();
  StepComparison comparison;
  comparison.nodes = {row(made.first, false, 0, 0, Verdict::right),
                      row(made.second, false, 0, 1e-3, Verdict::right)};
  const NodeMarks marks = step_marks(made.tape, comparison);
  CHECK(kind_of(made, marks, made.first) == "equal");
  CHECK(kind_of(made, marks, made.second) == "within rounding");
  CHECK_FALSE(first_wrong(comparison));
}

TEST_CASE("an error of a gradient goes to the gradients behind it, and to no value") {
  const Made made = made_tape();
  StepComparison comparison;
  ComparedNode leaf = row(made.x, true, 0, 5e-3, Verdict::right);
  leaf.op = "leaf";
  comparison.nodes = {row(made.first, false, 0, 0, Verdict::right),
                      row(made.second, false, 0, 0, Verdict::right),
                      row(made.second, true, std::numeric_limits<double>::infinity(), 1, Verdict::wrong),
                      row(made.first, true, 0, 1, Verdict::right), leaf};
  const NodeMarks marks = step_marks(made.tape, comparison);
  CHECK(kind_of(made, marks, made.second) == "wrong by itself");
  CHECK(kind_of(made, marks, made.first) == "inherits an error");
  CHECK(kind_of(made, marks, made.x) == "inherits an error");
}

TEST_CASE("a node that was not compared says why, and a closed module shows what weighs most") {
  const Made made = made_tape();
  StepComparison comparison;
  ComparedNode gone = row(made.first, false, 0, 0, Verdict::not_compared);
  gone.note = "its input 1 is gone";
  comparison.nodes = {gone, row(made.second, false, 1, 1, Verdict::wrong)};
  const NodeMarks marks = step_marks(made.tape, comparison);
  CHECK(kind_of(made, marks, made.first) == "not compared");
  CHECK(compared_rows(comparison, made.first)[0].second == "not compared: its input 1 is gone");
  TapePicture picture;
  picture.boxes.resize(2);
  for (const NodeInfo& node : made.tape.nodes)
    picture.box_of.push_back(node.id == made.first || node.id == made.second ? 1u : 0u);
  const std::vector<BoxMark> boxes = box_marks(marks, picture);
  CHECK(boxes[0].kind == -1);
  CHECK(std::string(marks.kinds[size_t(boxes[1].kind)].name) == "wrong by itself");
  CHECK(boxes[1].count == 1);
}
