#include "ui/compare/step_marks.h"

#include <algorithm>
#include <array>
#include <span>
#include <unordered_map>

#include "runtime/core/error.h"
#include "runtime/core/op_name.h"
#include "ui/widgets/value_view.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

enum class StepKind { equal, rounding, not_compared, inherits, wrong };

constexpr std::array<MarkKind, 5> kStepKinds = {
    {{"equal", "=", [] { return theme().good; }, false},
     {"within rounding", "~", [] { return theme().accent; }, false},
     {"not compared", "?", [] { return theme().faint; }, false},
     {"inherits an error", "i", [] { return theme().warning; }, false},
     {"wrong by itself", "X", [] { return theme().bad; }, true}}};

// The computations of one node; a node of several passes has several gradients.
struct Rows {
  std::vector<const ComparedNode*> forward, backward;
};

bool any_wrong(const std::vector<const ComparedNode*>& rows) {
  return std::any_of(rows.begin(), rows.end(),
                     [](const ComparedNode* row) { return row->verdict == Verdict::wrong; });
}

StepKind step_kind(const ComparedNode& row, bool reads_wrong) {
  if (row.verdict == Verdict::wrong) return StepKind::wrong;
  if (row.verdict == Verdict::not_compared) return StepKind::not_compared;
  StepKind kind = StepKind::equal;
  for (const TensorError& tensor : row.tensors) {
    if (tensor.error > 0 || tensor.inherited > 0) kind = std::max(kind, StepKind::rounding);
    if (reads_wrong && tensor.inherited > tensor.allowed) kind = StepKind::inherits;
  }
  return kind;
}

std::string step_note(const Rows& rows) {
  double most = -1;
  for (const auto* side : {&rows.forward, &rows.backward})
    for (const ComparedNode* const row : *side) {
      if (row->verdict == Verdict::not_compared) return "not compared";
      for (const TensorError& tensor : row->tensors)
        most = std::max(most, only_inherits(*row) ? tensor.inherited : tensor.error);
    }
  return most < 0 ? "" : "off by " + error_figure(most);
}

// "scalar" without dimensions. Given as a span: the overload for vectors, of script/tape_diff/graph.h, says
// "[]".
std::string shape_of(const TensorError& tensor) { return shape_text(std::span<const int64_t>(tensor.shape)); }

}  // namespace

NodeMarks step_marks(const TapeSnapshot& tape, const StepComparison& comparison) {
  const size_t count = tape.nodes.size();
  std::unordered_map<uint64_t, size_t> index;
  for (size_t i = 0; i < count; ++i) index[tape.nodes[i].id] = i;
  std::vector<Rows> rows(count);
  for (const ComparedNode& row : comparison.nodes)
    if (const auto found = index.find(row.node); found != index.end())
      (row.backward ? rows[found->second].backward : rows[found->second].forward).push_back(&row);
  // Finds the nodes that read a value computed by a wrong node. The newest node comes first.
  std::vector<char> values(count), gradients(count);
  for (size_t i = count; i-- > 0;) {
    values[i] |= any_wrong(rows[i].forward);
    for (const OperandInfo& input : tape.nodes[i].inputs)
      if (const auto maker = index.find(input.node); maker != index.end()) values[i] |= values[maker->second];
  }
  for (size_t i = 0; i < count; ++i) {
    gradients[i] |= values[i] || any_wrong(rows[i].backward);
    for (const OperandInfo& input : tape.nodes[i].inputs)
      if (const auto maker = index.find(input.node); gradients[i] && maker != index.end())
        gradients[maker->second] = true;
  }
  NodeMarks marks;
  marks.kinds = kStepKinds;
  marks.number = next_marks_number();
  for (size_t i = 0; i < count; ++i) {
    int kind = -1;
    for (const ComparedNode* const row : rows[i].forward)
      kind = std::max(kind, int(step_kind(*row, values[i])));
    for (const ComparedNode* const row : rows[i].backward)
      kind = std::max(kind, int(step_kind(*row, gradients[i])));
    marks.of.push_back(kind);
    marks.notes.push_back(step_note(rows[i]));
  }
  return marks;
}

const ComparedNode* first_wrong(const StepComparison& comparison) {
  for (const ComparedNode& row : comparison.nodes)
    if (row.verdict == Verdict::wrong) return &row;
  return nullptr;
}

std::string accusation_of(const ComparedNode& row) {
  const std::string place = compared_place(row);
  const std::string what = row.name.empty() ? public_op_name(row.op) : row.name;
  std::string words = what + (place.empty() ? "" : " in " + place);
  if (row.module.empty() && !place.empty()) words = text(what, " at ", place);
  words += text(", ", direction_name(row));
  if (const TensorError* const worst = worst_tensor(row))
    words += text(", error ", error_figure(worst->error), " (bound ", error_figure(worst->allowed), ')');
  return words;
}

std::vector<std::pair<std::string, std::string>> compared_rows(const StepComparison& comparison,
                                                               uint64_t node) {
  std::vector<std::pair<std::string, std::string>> found;
  for (const ComparedNode& row : comparison.nodes) {
    if (row.node != node) continue;
    std::string words;
    const TensorError* const worst = worst_tensor(row);
    if (row.verdict == Verdict::not_compared || !worst) {
      words = "not compared";
    } else if (only_inherits(row)) {
      words = text(worst->name, ' ', shape_of(*worst), "\ninherited ", error_figure(worst->inherited));
    } else {
      words = text(row.verdict == Verdict::wrong ? "wrong by itself: " : "right: ", worst->name, ' ',
                   shape_of(*worst), "\noff by ", error_figure(worst->error), "\nrounding allows ",
                   error_figure(worst->allowed), "\ninherited ", error_figure(inherited_error(row)));
    }
    if (!row.note.empty()) words += (row.verdict == Verdict::not_compared ? ": " : "\n") + row.note;
    found.emplace_back(direction_name(row), std::move(words));
  }
  return found;
}

}  // namespace lunagrad
