#include "script/tape_diff/match.h"

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "script/tape_diff/align.h"

namespace lunagrad {
namespace {

// More cells would take more than a quarter of a second, and 64 MB.
constexpr int64_t kMostCells = 64 << 20;

// The texts of a node as numbers: equal texts have equal numbers.
struct Features {
  TapeNodeKind kind = TapeNodeKind::op;
  int op = 0, name = 0, tail = 0, module = 0, shapeless = 0, shape = 0, attributes = 0, place = 0;
  int value = 0;  // of a leaf whose value hardly occurs twice by chance; else 0
  size_t rank = 0;
  auto whole() const { return std::tie(kind, op, name, module, shape, attributes); }
};

class Numbers {
 public:
  int of(const std::string& text) { return known_.try_emplace(text, int(known_.size()) + 1).first->second; }

 private:
  std::unordered_map<std::string, int> known_;
};

// "blocks.7.fc" -> "blocks.#.fc": the part of a name that stays when an earlier layer is removed.
std::string without_numbers(const std::string& path) {
  std::string out;
  for (const char c : path) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit)
      out += c;
    else if (out.empty() || out.back() != '#')
      out += '#';
  }
  return out;
}

std::string value_text(const TapeNode& node) {
  if (node.kind == TapeNodeKind::op || !node.value || !node.value->sketch) return "";
  const Summary& s = node.value->summary;
  if (s.count < 2 || s.min == s.max) return "";
  std::string out = shape_text(node.shape);
  for (const double sum : *node.value->sketch) out += ' ' + std::to_string(sum);
  return out + ' ' + std::to_string(s.norm);
}

Features features_of(const TapeNode& node, Numbers& numbers) {
  Features f;
  f.kind = node.kind;
  f.op = numbers.of(node.op);
  f.name = numbers.of(node.name);
  f.tail = numbers.of(node.name.substr(node.name.rfind('.') + 1));
  const std::string path = path_of(node);
  f.module = numbers.of(path);
  f.shapeless = numbers.of(without_numbers(path));
  f.shape = numbers.of(shape_text(node.shape));
  f.rank = node.shape.size();
  std::string attributes;
  for (const auto& [name, value] : node.attributes) attributes += name + '=' + value + '\n';
  f.attributes = numbers.of(attributes);
  f.place = numbers.of(node.code.empty() ? node.file + ':' + std::to_string(node.line) : node.code);
  const std::string value = value_text(node);
  f.value = value.empty() ? 0 : numbers.of(value);
  return f;
}

// A score of how similar two nodes are; at 0 or below they do not match. The computation counts more than the
// names, because the numbers in names change when a layer is removed. Names that differ in their words mean
// something else.
int likeness(const Features& a, const Features& b) {
  if (a.kind != b.kind || a.op != b.op) return 0;
  int score = 3;
  if (a.module == b.module)
    score += 2;
  else
    score += a.shapeless == b.shapeless ? 1 : -3;
  if (a.shape == b.shape)
    score += 4;
  else
    score -= a.rank == b.rank ? 1 : 3;
  if (a.kind == TapeNodeKind::op) return score + (a.attributes == b.attributes) + (a.place == b.place);
  if (a.tail != b.tail) score -= 4;
  if (a.name == b.name) score += 1;
  if (a.value && a.value == b.value) score += 6;
  return score;
}

class Matcher {
 public:
  Matcher(const TapeGraph& a, const TapeGraph& b) : nodes_a_(a.nodes), nodes_b_(b.nodes) {
    Numbers numbers;
    for (const TapeNode& node : nodes_a_) a_.push_back(features_of(node, numbers));
    for (const TapeNode& node : nodes_b_) b_.push_back(features_of(node, numbers));
    found_.of_a.assign(a_.size(), -1);
    found_.of_b.assign(b_.size(), -1);
    readers_a_ = readers_of(nodes_a_);
    readers_b_ = readers_of(nodes_b_);
  }

  Matching run() {
    align_range(0, int(a_.size()), 0, int(b_.size()));
    spread(false);
    match_moved();
    spread(false);
    spread(true);
    return std::move(found_);
  }

 private:
  // for each node: its readers, and at which input they read it
  using Readers = std::vector<std::vector<std::pair<int, int>>>;

  static Readers readers_of(const std::vector<TapeNode>& nodes) {
    Readers readers(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      for (size_t k = 0; k < nodes[i].inputs.size(); ++k)
        if (nodes[i].inputs[k] >= 0) readers[size_t(nodes[i].inputs[k])].emplace_back(int(i), int(k));
    return readers;
  }

  bool free(int a, int b) const {
    return a >= 0 && b >= 0 && found_.of_a[size_t(a)] < 0 && found_.of_b[size_t(b)] < 0;
  }
  void pair(int a, int b) {
    found_.of_a[size_t(a)] = b;
    found_.of_b[size_t(b)] = a;
  }

  // Pairs equal nodes at the beginning and the end, which are part of a best alignment. The rest between them
  // is aligned, in pieces if it is too long.
  void align_range(int a0, int a1, int b0, int b1) {
    const auto same = [&](int i, int k) { return a_[size_t(i)].whole() == b_[size_t(k)].whole(); };
    while (a0 < a1 && b0 < b1 && same(a0, b0)) pair(a0++, b0++);
    while (a0 < a1 && b0 < b1 && same(a1 - 1, b1 - 1)) pair(--a1, --b1);
    if (a0 == a1 || b0 == b1) return;
    if (int64_t(a1 - a0) * (b1 - b0) <= kMostCells) {
      align(
          a0, a1, b0, b1, [&](int i, int k) { return likeness(a_[size_t(i)], b_[size_t(k)]); },
          [&](int i, int k) { pair(i, k); });
      return;
    }
    int i = a0, k = b0;
    for (const auto& [next_i, next_k] : anchors(a0, a1, b0, b1)) {
      align_piece(i, next_i, k, next_k);
      pair(next_i, next_k);
      i = next_i + 1, k = next_k + 1;
    }
    align_piece(i, a1, k, b1);
  }

  // Aligns the nodes between two anchors. A range that is still too long is cut into pieces with equal
  // numbers of nodes.
  void align_piece(int a0, int a1, int b0, int b1) {
    constexpr int kLongest = 4096;
    while (a0 < a1 && b0 < b1) {
      const int a2 = std::min(a1, a0 + kLongest), b2 = std::min(b1, b0 + kLongest);
      align_range(a0, a2, b0, b2);
      a0 = a2, b0 = b2;
    }
  }

  // Pairs of nodes that are equal to exactly one node of the other tape, restricted to the longest sequence
  // that has the same order in both tapes (Cohen's patience diff).
  std::vector<std::pair<int, int>> anchors(int a0, int a1, int b0, int b1) const {
    struct Seen {
      int count_a = 0, count_b = 0, a = 0, b = 0;
    };
    std::map<decltype(std::make_tuple(TapeNodeKind(), 0, 0, 0, 0, 0)), Seen> seen;
    for (int i = a0; i < a1; ++i) {
      Seen& s = seen[a_[size_t(i)].whole()];
      ++s.count_a, s.a = i;
    }
    for (int k = b0; k < b1; ++k) {
      Seen& s = seen[b_[size_t(k)].whole()];
      ++s.count_b, s.b = k;
    }
    std::vector<std::pair<int, int>> unique;
    for (const auto& [key, s] : seen)
      if (s.count_a == 1 && s.count_b == 1) unique.emplace_back(s.a, s.b);
    std::sort(unique.begin(), unique.end());
    // The longest increasing subsequence of the second numbers: ends[n] is, of the subsequences with length n
    // + 1, the last pair of the one whose last number is smallest.
    std::vector<size_t> ends, before(unique.size());
    for (size_t i = 0; i < unique.size(); ++i) {
      const auto at = std::lower_bound(ends.begin(), ends.end(), unique[i].second,
                                       [&](size_t end, int value) { return unique[end].second < value; });
      before[i] = at == ends.begin() ? i : *(at - 1);
      if (at == ends.end())
        ends.push_back(i);
      else
        *at = i;
    }
    std::vector<std::pair<int, int>> chain;
    for (size_t i = ends.empty() ? 0 : ends.back(), left = ends.size(); left > 0; --left, i = before[i])
      chain.push_back(unique[i]);
    std::reverse(chain.begin(), chain.end());
    return chain;
  }

  // Pairs nodes that are at another place in the other tape: with the same values, then with the same name
  // and shape, then with the same name.
  void match_moved() {
    const auto by = [&](auto key) {
      std::map<decltype(key(a_[0])), std::vector<int>> waiting;
      for (size_t k = b_.size(); k-- > 0;)
        if (found_.of_b[k] < 0) waiting[key(b_[k])].push_back(int(k));
      for (size_t i = 0; i < a_.size(); ++i) {
        if (found_.of_a[i] >= 0) continue;
        const auto found = waiting.find(key(a_[i]));
        if (found == waiting.end() || found->second.empty()) continue;
        const int k = found->second.back();
        if (likeness(a_[i], b_[size_t(k)]) <= 0) continue;
        found->second.pop_back();
        pair(int(i), k);
      }
    };
    if (a_.empty() || b_.empty()) return;
    by([](const Features& f) {
      return std::tuple(f.kind, f.value, f.value ? 0 : f.name, f.op, f.module, f.shape);
    });
    by([](const Features& f) { return std::tuple(f.kind, f.name, f.op, f.module); });
  }

  // Pairs the neighbours of paired nodes: inputs at the same index, and the only readers. `edited`: also
  // nodes with different ops, if their shape is the same and they lie between pairs.
  void spread(bool edited) {
    std::vector<int> work;
    for (size_t i = 0; i < a_.size(); ++i)
      if (found_.of_a[i] >= 0) work.push_back(int(i));
    const auto meet = [&](int i, int k) {
      if (!free(i, k)) return;
      const Features &a = a_[size_t(i)], &b = b_[size_t(k)];
      if (a.kind != b.kind || (a.kind != TapeNodeKind::op && a.tail != b.tail && a.shape != b.shape)) return;
      if (a.op != b.op && !(edited && a.shape == b.shape && reads_pair(i, k))) return;
      pair(i, k);
      work.push_back(i);
    };
    while (!work.empty()) {
      const int i = work.back(), k = found_.of_a[size_t(i)];
      work.pop_back();
      const std::vector<int>&x = nodes_a_[size_t(i)].inputs, &y = nodes_b_[size_t(k)].inputs;
      for (size_t n = 0; n < std::min(x.size(), y.size()); ++n) meet(x[n], y[n]);
      const std::vector<std::pair<int, int>>&up = readers_a_[size_t(i)], &vp = readers_b_[size_t(k)];
      if (up.size() == 1 && vp.size() == 1 && up[0].second == vp[0].second) meet(up[0].first, vp[0].first);
    }
  }

  // Whether an input of node i is paired with an input of node k.
  bool reads_pair(int i, int k) const {
    for (const int input : nodes_a_[size_t(i)].inputs) {
      if (input < 0 || found_.of_a[size_t(input)] < 0) continue;
      for (const int other : nodes_b_[size_t(k)].inputs)
        if (other == found_.of_a[size_t(input)]) return true;
    }
    return false;
  }

  const std::vector<TapeNode>&nodes_a_, &nodes_b_;
  std::vector<Features> a_, b_;
  Readers readers_a_, readers_b_;
  Matching found_;
};

}  // namespace

Matching match(const TapeGraph& a, const TapeGraph& b) { return Matcher(a, b).run(); }

}  // namespace lunagrad
