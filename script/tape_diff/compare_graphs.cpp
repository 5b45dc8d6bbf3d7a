#include "script/tape_diff/compare_graphs.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "runtime/core/op_name.h"
#include "script/tape_diff/changes.h"
#include "script/tape_diff/match.h"
#include "script/tape_diff/moves.h"

namespace lunagrad {
namespace {

using FindingKind = TapeFinding::Kind;

const TapeNode& node_of_pair(const TapeDiff& diff, const TapePair& pair) {
  return pair.b >= 0 ? diff.b.nodes[size_t(pair.b)] : diff.a.nodes[size_t(pair.a)];
}

// Makes the pairs in the order of B. A node that only A has comes before A's next node that B has too.
void make_pairs(TapeDiff& diff, const Matching& matching) {
  size_t next = 0;  // next node of A
  const auto skip_to = [&](size_t end) {
    for (; next < end; ++next)
      if (matching.of_a[next] < 0) diff.pairs.push_back({.a = int(next)});
  };
  for (size_t k = 0; k < diff.b.nodes.size(); ++k) {
    const int i = matching.of_b[k];
    if (i >= 0) skip_to(size_t(i));
    diff.pairs.push_back({.a = i, .b = int(k)});
  }
  skip_to(diff.a.nodes.size());
}

// --- what only one tape has ---

// The parts of a path: "a", "a.b", "a.b.c".
template <class Visit>
void each_prefix(const std::string& path, Visit&& visit) {
  for (size_t dot = 0; !path.empty() && dot != path.npos;) {
    dot = path.find('.', dot + 1);
    if (!visit(path.substr(0, dot))) return;
  }
}

// Makes one finding for each module that has lost or gained all its nodes, and one for each other unmatched
// node, together with the leaves and sources that only it reads.
void find_alone(TapeDiff& diff, bool removed) {
  const TapeGraph& graph = removed ? diff.a : diff.b;
  const auto number = [&](const TapePair& pair) { return removed ? pair.a : pair.b; };
  const auto alone = [&](const TapePair& pair) { return number(pair) >= 0 && (pair.a < 0 || pair.b < 0); };
  std::set<std::string> kept;
  std::vector<int> reader(graph.nodes.size(), -1);
  for (const TapePair& pair : diff.pairs) {
    if (number(pair) < 0) continue;
    const TapeNode& node = graph.nodes[size_t(number(pair))];
    if (!alone(pair))
      each_prefix(path_of(node), [&](const std::string& part) { return kept.insert(part), true; });
    for (const int input : node.inputs)
      if (input >= 0 && alone(pair)) reader[size_t(input)] = number(pair);
  }
  const auto module_of = [&](const TapeNode& node) {
    std::string found;
    each_prefix(path_of(node), [&](const std::string& part) {
      if (kept.count(part)) return true;
      found = part;
      return false;
    });
    return found;
  };
  std::map<std::pair<std::string, int>, size_t> groups;  // module or node -> its finding
  for (size_t p = 0; p < diff.pairs.size(); ++p) {
    if (!alone(diff.pairs[p])) continue;
    int at = number(diff.pairs[p]);
    if (graph.nodes[size_t(at)].kind != TapeNodeKind::op && reader[size_t(at)] >= 0) at = reader[size_t(at)];
    const TapeNode& node = graph.nodes[size_t(at)];
    const std::string module = module_of(node);
    const auto [group, fresh] = groups.try_emplace({module, module.empty() ? at : -1}, diff.findings.size());
    if (fresh) {
      TapeFinding& finding = diff.findings.emplace_back();
      finding.kind = removed ? FindingKind::removed : FindingKind::added;
      finding.name = module.empty() ? label_of(node) : module;
    }
    diff.findings[group->second].pairs.push_back(p);
  }
  for (TapeFinding& finding : diff.findings) {
    if (finding.kind != (removed ? FindingKind::removed : FindingKind::added)) continue;
    std::vector<std::string> words;
    size_t ops = 0;
    for (const size_t p : finding.pairs) {
      const TapeNode& node = node_of_pair(diff, diff.pairs[p]);
      if (node.kind != TapeNodeKind::op) continue;
      const std::string op = public_op_name(node.op);
      ++ops;
      if (std::find(words.begin(), words.end(), op) == words.end()) words.push_back(op);
    }
    std::string list;
    for (size_t i = 0; i < std::min<size_t>(words.size(), 4); ++i) list += (i ? ", " : "") + words[i];
    if (words.size() > 4) list += ", …";
    const TapeNode& last = node_of_pair(diff, diff.pairs[finding.pairs.back()]);
    finding.text = (list.empty() ? std::string(last.kind == TapeNodeKind::leaf ? "leaf" : "source") : list) +
                   " " + shape_text(last.shape);
    if (finding.pairs.size() > 1) finding.text += ", " + std::to_string(finding.pairs.size()) + " nodes";
  }
}

// --- what changed and what moved ---

void find_changed(TapeDiff& diff) {
  // Nodes with the same change that follows from others share one finding.
  std::map<std::string, size_t> reported;
  for (size_t p = 0; p < diff.pairs.size(); ++p) {
    TapeFinding finding;
    finding.kind = FindingKind::changed;
    finding.follows = true;
    finding.pairs = {p};
    for (const bool follows : {false, true})
      for (const TapeChange& change : diff.pairs[p].changes) {
        if (!change.counts || change.follows != follows) continue;
        finding.follows &= follows;
        if (!finding.text.empty()) finding.text += "; ";
        finding.text += change.what + " " + (change.from.empty() ? "none" : change.from) + " → " +
                        (change.to.empty() ? "none" : change.to);
      }
    if (finding.text.empty()) continue;
    finding.name = label_of(node_of_pair(diff, diff.pairs[p]));
    const auto [at, fresh] = reported.try_emplace(finding.text, diff.findings.size());
    if (fresh || !finding.follows || !diff.findings[at->second].follows) {
      diff.findings.push_back(std::move(finding));
    } else {
      diff.findings[at->second].pairs.push_back(p);
    }
  }
  for (TapeFinding& finding : diff.findings)
    if (finding.kind == FindingKind::changed && finding.pairs.size() > 1)
      finding.name += " and " + std::to_string(finding.pairs.size() - 1) + " more";
}

std::string move_text(const TapeMove& move, const TapeValue& left, const TapeValue& right) {
  const Summary &a = left.summary, &b = right.summary;
  const std::string text = distance_text(move, left, right);
  if (a.count == 1 || a.nans != b.nans || a.infs != b.infs) return text;
  return text + " of its norm, " + change_figure(a.norm, b.norm);
}

void find_moved(TapeDiff& diff) {
  for (size_t p = 0; p < diff.pairs.size(); ++p) {
    const TapePair& pair = diff.pairs[p];
    const auto add = [&](FindingKind kind, const TapeMove& move, std::optional<TapeValue> TapeNode::*member) {
      if (!move.moved) return;
      TapeFinding& finding = diff.findings.emplace_back();
      finding.kind = kind;
      finding.pairs = {p};
      finding.name = label_of(node_of_pair(diff, pair));
      finding.text =
          move_text(move, *(diff.a.nodes[size_t(pair.a)].*member), *(diff.b.nodes[size_t(pair.b)].*member));
      finding.score = move.score;
      finding.follows = move.follows;
    };
    add(FindingKind::value, pair.value, &TapeNode::value);
    add(FindingKind::gradient, pair.gradient, &TapeNode::gradient);
  }
}

// Whether the finding is the value of a leaf or source.
bool is_source(const TapeDiff& diff, const TapeFinding& finding) {
  return finding.kind == FindingKind::value &&
         node_of_pair(diff, diff.pairs[finding.pairs[0]]).kind != TapeNodeKind::op;
}

// The order of findings: first nodes that only one tape has, then changes, then values that moved on their
// own, then changes and moves that follow from others. An op that moves on its own computes something else,
// or draws other random numbers, as a dropout does whenever an earlier op drew a different number of them. So
// leaves and sources come before it if their moves are large enough to explain it.
int tier_of(const TapeDiff& diff, const TapeFinding& finding, double of_sources) {
  switch (finding.kind) {
    case FindingKind::removed:
    case FindingKind::added:
      return 0;
    case FindingKind::changed:
      return finding.follows ? 4 : 1;
    default:
      if (finding.follows) return 5;
      return !is_source(diff, finding) && of_sources >= kExplains * finding.score ? 3 : 2;
  }
}

void rank(TapeDiff& diff) {
  double of_sources = 0;
  for (const TapeFinding& finding : diff.findings)
    if (is_source(diff, finding)) of_sources = std::max(of_sources, finding.score);
  std::vector<std::pair<std::tuple<int, double, size_t>, size_t>> order;
  for (size_t i = 0; i < diff.findings.size(); ++i)
    order.push_back({{tier_of(diff, diff.findings[i], of_sources), -diff.findings[i].score, i}, i});
  std::sort(order.begin(), order.end());
  std::vector<TapeFinding> ranked;
  for (const auto& [key, i] : order) ranked.push_back(std::move(diff.findings[i]));
  diff.findings = std::move(ranked);
}

void note_what_is_missing(TapeDiff& diff) {
  if (diff.options.structure) return;
  const bool a = diff.a.has_values(), b = diff.b.has_values();
  if (!a || !b) {
    diff.notes.push_back(
        (a   ? "B holds no values"
         : b ? "A holds no values"
             : "neither tape holds values") +
        std::string(": only structure was compared; the tapes in the folder of a run hold them"));
    return;
  }
  const auto sketched = [](const TapeGraph& graph) {
    return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                       [](const TapeNode& node) { return node.value && node.value->sketch; });
  };
  if (!sketched(diff.a) || !sketched(diff.b))
    diff.notes.push_back(
        "one tape has only norm, mean and range of each value: another order of its elements is not seen");
}

}  // namespace

TapeDiff compare_tapes(TapeGraph a, TapeGraph b, const TapeDiffOptions& options) {
  TapeDiff diff;
  diff.a = std::move(a);
  diff.b = std::move(b);
  diff.options = options;
  make_pairs(diff, match(diff.a, diff.b));
  std::vector<size_t> pair_of_a(diff.a.nodes.size()), pair_of_b(diff.b.nodes.size());
  for (size_t p = 0; p < diff.pairs.size(); ++p) {
    if (diff.pairs[p].a >= 0) pair_of_a[size_t(diff.pairs[p].a)] = p;
    if (diff.pairs[p].b >= 0) pair_of_b[size_t(diff.pairs[p].b)] = p;
  }
  find_changes(diff, pair_of_a, pair_of_b);
  if (!options.structure) measure_moves(diff, pair_of_a, pair_of_b);
  find_alone(diff, true);
  find_alone(diff, false);
  find_changed(diff);
  if (!options.structure) find_moved(diff);
  rank(diff);
  note_what_is_missing(diff);
  return diff;
}

}  // namespace lunagrad
