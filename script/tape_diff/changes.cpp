#include "script/tape_diff/changes.h"

#include <algorithm>
#include <map>

namespace lunagrad {
namespace {

class Changes {
 public:
  Changes(TapeDiff& diff, const std::vector<size_t>& pair_of_a, const std::vector<size_t>& pair_of_b)
      : diff_(diff),
        pair_of_a_(pair_of_a),
        pair_of_b_(pair_of_b),
        first_reader_(diff.pairs.size(), SIZE_MAX) {
    for (size_t p = diff.pairs.size(); p-- > 0;)
      each_input(diff.pairs[p], [&](size_t input) { first_reader_[input] = p; });
  }

  void find(size_t p) {
    TapePair& pair = diff_.pairs[p];
    if (pair.a < 0 || pair.b < 0) return;
    const TapeNode &a = diff_.a.nodes[size_t(pair.a)], &b = diff_.b.nodes[size_t(pair.b)];
    const auto add = [&](std::string what, std::string from, std::string to, bool follows) {
      if (from != to)
        pair.changes.push_back({std::move(what), std::move(from), std::move(to), follows, true});
    };
    bool reshaped = false, retyped = false;  // whether an input differs
    each_input(pair, [&](size_t input) {
      reshaped |= differs(input, &TapeNode::shape);
      retyped |= differs(input, &TapeNode::dtype);
    });
    add("op", a.op, b.op, false);
    std::map<std::string, std::string> was(a.attributes.begin(), a.attributes.end());
    for (const auto& [name, value] : b.attributes) {
      add(name, was.count(name) ? was[name] : "none", value, reshaped);
      was.erase(name);
    }
    for (const auto& [name, value] : was) add(name, value, "none", reshaped);
    compare_inputs(pair, a, b);
    const bool reason = !pair.changes.empty();
    add("shape", shape_text(a.shape), shape_text(b.shape),
        reason || reshaped || (a.kind == TapeNodeKind::leaf && reader_explains(p)));
    add("dtype", a.dtype, b.dtype, reason || retyped);
    // The changes below do not say what is computed, and differ for many nodes at once. They count as
    // following: where a device or a name matters, values have moved.
    if (!a.device.empty() && !b.device.empty()) add("device", a.device, b.device, true);
    add("module", a.module, b.module, true);
    if (a.kind == TapeNodeKind::leaf) add("name", a.name, b.name, true);
    // Lines move whenever a script is edited.
    if (a.line > 0 && b.line > 0 && (a.line != b.line || a.file != b.file))
      pair.changes.push_back({"line", a.file + ":" + std::to_string(a.line),
                              b.file + ":" + std::to_string(b.line), true, false});
  }

 private:
  template <class Visit>
  void each_input(const TapePair& pair, Visit&& visit) const {
    if (pair.a >= 0)
      for (const int input : diff_.a.nodes[size_t(pair.a)].inputs)
        if (input >= 0) visit(pair_of_a_[size_t(input)]);
    if (pair.b >= 0)
      for (const int input : diff_.b.nodes[size_t(pair.b)].inputs)
        if (input >= 0) visit(pair_of_b_[size_t(input)]);
  }

  // Whether the two nodes of the pair have different values of `member`, or only one tape has the node.
  template <class Member>
  bool differs(size_t p, Member member) const {
    const TapePair& pair = diff_.pairs[p];
    return pair.a < 0 || pair.b < 0 ||
           diff_.a.nodes[size_t(pair.a)].*member != diff_.b.nodes[size_t(pair.b)].*member;
  }

  // Whether a weight's shape follows from its reader: the op that the weight is multiplied by has another
  // shape too.
  bool reader_explains(size_t p) const {
    if (first_reader_[p] == SIZE_MAX) return false;
    bool explains = false;
    each_input(diff_.pairs[first_reader_[p]], [&](size_t input) {
      const TapePair& pair = diff_.pairs[input];
      const TapeNode& node = pair.b >= 0 ? diff_.b.nodes[size_t(pair.b)] : diff_.a.nodes[size_t(pair.a)];
      explains |= node.kind == TapeNodeKind::op && differs(input, &TapeNode::shape);
    });
    return explains;
  }

  void compare_inputs(TapePair& pair, const TapeNode& a, const TapeNode& b) const {
    const auto label = [&](const TapeNode* node) { return node ? label_of(*node) : std::string("none"); };
    for (size_t n = 0; n < std::max(a.inputs.size(), b.inputs.size()); ++n) {
      const int i = n < a.inputs.size() ? a.inputs[n] : -1, k = n < b.inputs.size() ? b.inputs[n] : -1;
      if (i < 0 && k < 0) continue;
      if (i >= 0 && k >= 0 && pair_of_a_[size_t(i)] == pair_of_b_[size_t(k)]) continue;
      // Where a node was inserted or removed, that node is the difference.
      const bool follows = (i >= 0 && diff_.pairs[pair_of_a_[size_t(i)]].b < 0) ||
                           (k >= 0 && diff_.pairs[pair_of_b_[size_t(k)]].a < 0);
      pair.changes.push_back({"input " + std::to_string(n + 1),
                              label(i >= 0 ? &diff_.a.nodes[size_t(i)] : nullptr),
                              label(k >= 0 ? &diff_.b.nodes[size_t(k)] : nullptr), follows, true});
    }
  }

  TapeDiff& diff_;
  const std::vector<size_t>&pair_of_a_, &pair_of_b_;
  std::vector<size_t> first_reader_;
};

}  // namespace

void find_changes(TapeDiff& diff, const std::vector<size_t>& pair_of_a,
                  const std::vector<size_t>& pair_of_b) {
  Changes changes(diff, pair_of_a, pair_of_b);
  for (size_t p = 0; p < diff.pairs.size(); ++p) changes.find(p);
}

}  // namespace lunagrad
