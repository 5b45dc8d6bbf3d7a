#include "ui/compare/diff_marks.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "runtime/core/error.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

enum class DiffKind { unknown, equal, follows, moved, changed, added };

constexpr std::array<MarkKind, 6> kDiffKinds = {
    {{"same, values not known", "-", [] { return theme().faint; }, false},
     {"equal", "=", [] { return theme().good; }, false},
     {"moved, follows", "~", [] { return theme().accent; }, false},
     {"moved on its own", "M", [] { return theme().bad; }, true},
     {"changed", "C", [] { return theme().warning; }, true},
     {"added", "+", [] { return theme().series[3]; }, true}}};

bool is_move(const TapeFinding& finding) {
  return finding.kind == TapeFinding::Kind::value || finding.kind == TapeFinding::Kind::gradient;
}

DiffKind diff_kind(const TapePair& pair) {
  if (pair.a < 0) return DiffKind::added;
  for (const TapeChange& change : pair.changes)
    if (change.counts) return DiffKind::changed;
  for (const TapeMove* const move : {&pair.value, &pair.gradient})
    if (move->moved && !move->follows) return DiffKind::moved;
  if (pair.value.moved || pair.gradient.moved) return DiffKind::follows;
  return pair.value.known || pair.gradient.known ? DiffKind::equal : DiffKind::unknown;
}

// The figure of the list, so that both say the same. The value comes first: the gradient mostly follows.
std::string diff_note(const TapeDiff& diff, const TapePair& pair) {
  for (const TapeChange& change : pair.changes)
    if (change.counts) return change.what + " changed";
  if (pair.a < 0 || pair.b < 0) return "";
  const TapeNode &a = diff.a.nodes[size_t(pair.a)], &b = diff.b.nodes[size_t(pair.b)];
  if (pair.value.moved) return distance_text(pair.value, *a.value, *b.value);
  if (pair.gradient.moved) return "gradient " + distance_text(pair.gradient, *a.gradient, *b.gradient);
  return "";
}

}  // namespace

NodeMarks diff_marks(const TapeSnapshot& tape, const TapeDiff& diff) {
  std::unordered_map<int64_t, size_t> pair_of;
  for (size_t p = 0; p < diff.pairs.size(); ++p)
    if (const int b = diff.pairs[p].b; b >= 0 && diff.b.nodes[size_t(b)].id >= 0)
      pair_of[diff.b.nodes[size_t(b)].id] = p;
  NodeMarks marks;
  marks.kinds = kDiffKinds;
  marks.number = next_marks_number();
  for (const NodeInfo& node : tape.nodes) {
    const auto found = pair_of.find(int64_t(node.id));
    marks.of.push_back(found == pair_of.end() ? -1 : int(diff_kind(diff.pairs[found->second])));
    marks.notes.push_back(found == pair_of.end() ? "" : diff_note(diff, diff.pairs[found->second]));
  }
  return marks;
}

const char* finding_kind(const TapeFinding& finding) {
  static constexpr std::array kNames{"removed", "added", "changed", "value moved", "gradient moved"};
  return kNames[size_t(finding.kind)];
}

std::string diff_counts(const TapeDiff& diff) {
  using Of = TapeFinding::Kind;
  const bool values = std::any_of(diff.pairs.begin(), diff.pairs.end(), [](const TapePair& pair) {
    return pair.value.known || pair.gradient.known;
  });
  const std::string nodes = text(diff.count(Of::removed), " nodes removed, ", diff.count(Of::added),
                                 " added, ", diff.count(Of::changed), " changed; ");
  if (!values) return nodes + "values were not compared";
  if (diff.equal()) return "equal";
  size_t alone = 0;
  for (const TapeFinding& finding : diff.findings) alone += is_move(finding) && !finding.follows;
  const size_t moved = diff.count(Of::value) + diff.count(Of::gradient);
  return text(nodes, moved, " values and gradients moved, ", alone, " on their own");
}

SourcePlace place_of(const TapeDiff& diff, const TapeFinding& finding) {
  const TapePair& pair = diff.pairs[finding.pairs[0]];
  const TapeNode& node = pair.b >= 0 ? diff.b.nodes[size_t(pair.b)] : diff.a.nodes[size_t(pair.a)];
  return {node.file, node.line};
}

int64_t node_of(const TapeDiff& diff, const TapeFinding& finding) {
  const int b = diff.pairs[finding.pairs[0]].b;
  return b < 0 ? -1 : diff.b.nodes[size_t(b)].id;
}

}  // namespace lunagrad
