// Matching the nodes of two tapes: inserted, removed, renamed, reordered, edited and repeated nodes.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "script/tape_diff/compare_graphs.h"
#include "script/tape_diff/match.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

using namespace lunagrad;

namespace {

// Builds a tape as a script would run.
class Script {
 public:
  int leaf(const std::string& name, std::vector<int64_t> shape) {
    TapeNode node;
    node.kind = TapeNode::Kind::leaf;
    node.op = "leaf";
    node.name = name;
    node.shape = std::move(shape);
    return add(std::move(node));
  }
  int op(const std::string& name, const std::string& module, std::vector<int> inputs,
         std::vector<int64_t> shape = {4, 8}, int line = 1) {
    TapeNode node;
    node.op = name;
    node.module = module;
    node.inputs = std::move(inputs);
    node.shape = std::move(shape);
    node.file = "train.lua";
    node.line = line;
    return add(std::move(node));
  }
  int linear(const std::string& module, int x, int64_t from = 8, int64_t to = 8) {
    const int weight = leaf(module + ".weight", {to, from}), bias = leaf(module + ".bias", {to});
    return op("linear", module, {x, weight, bias}, {4, to});
  }
  TapeGraph graph() const { return graph_; }

 private:
  int add(TapeNode node) {
    graph_.nodes.push_back(std::move(node));
    return int(graph_.nodes.size()) - 1;
  }
  TapeGraph graph_;
};

int find(const TapeGraph& graph, const std::string& label) {
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (label_of(graph.nodes[i]) == label) return int(i);
  FAIL("there is no ", label);
  return -1;
}

// The label of the node of B that matches a node of A, "" if there is none.
std::string partner(const TapeGraph& a, const TapeGraph& b, const std::string& label) {
  const int found = match(a, b).of_a[size_t(find(a, label))];
  return found < 0 ? "" : label_of(b.nodes[size_t(found)]);
}

// Names of the layers that a difference reports as removed or added.
std::vector<std::string> names(const TapeDiff& diff, TapeFinding::Kind kind) {
  std::vector<std::string> all;
  for (const TapeFinding& finding : diff.findings)
    if (finding.kind == kind) all.push_back(finding.name);
  return all;
}

using Names = std::vector<std::string>;
constexpr auto kRemoved = TapeFinding::Kind::removed, kAdded = TapeFinding::Kind::added;

// Layers of the given activations, numbered as a Sequential does.
TapeGraph chain(const std::vector<std::string>& activations, int64_t width = 8) {
  Script script;
  int x = script.leaf("x", {4, width}), number = 0;
  for (const std::string& activation : activations) {
    x = script.linear("net." + std::to_string(number++), x, width, width);
    x = script.op(activation, "net." + std::to_string(number++), {x}, {4, width});
  }
  script.op("mean", "", {x}, {});
  return script.graph();
}

TapeGraph blocks(int count, int without = -1) {
  Script script;
  int x = script.leaf("x", {4, 8}), number = 0;
  for (int i = 0; i < count; ++i) {
    if (i == without) continue;
    const std::string module = "blocks." + std::to_string(number++);
    const int before = x;
    x = script.op("layer_norm", module + ".norm", {x, script.leaf(module + ".norm.weight", {8})});
    x = script.linear(module + ".up", x, 8, 32);
    x = script.op("gelu", module, {x}, {4, 32});
    x = script.linear(module + ".down", x, 32, 8);
    x = script.op("add", module, {before, x});
  }
  script.op("mean", "", {x}, {});
  return script.graph();
}

}  // namespace

TEST_CASE("tape match: equal tapes are matched node by node") {
  const TapeGraph a = blocks(24);
  const Matching matching = match(a, a);
  for (size_t i = 0; i < a.nodes.size(); ++i) CHECK(matching.of_a[i] == int(i));
}

TEST_CASE("tape match: a layer in the middle goes although the names behind it shift") {
  const std::vector<std::string> all = {"relu", "tanh", "sigmoid", "gelu"};
  const TapeGraph a = chain(all);
  for (size_t gone = 0; gone < all.size(); ++gone) {
    CAPTURE(gone);
    std::vector<std::string> left = all;
    left.erase(left.begin() + std::ptrdiff_t(gone));
    const TapeGraph b = chain(left);
    for (const auto kind : {kRemoved, kAdded}) {
      const TapeDiff diff = kind == kRemoved ? compare_tapes(a, b, {}) : compare_tapes(b, a, {});
      // The activation, and one of the equal linear layers beside it with its two leaves.
      CHECK(diff.count(kind) == 4);
      CHECK(diff.count(kind == kRemoved ? kAdded : kRemoved) == 0);
      const Names found = names(diff, kind);
      CHECK(std::count(found.begin(), found.end(), "net." + std::to_string(2 * gone + 1)) == 1);
    }
  }
}

TEST_CASE("tape match: one of 24 equal blocks goes as a whole") {
  const TapeDiff diff = compare_tapes(blocks(24), blocks(24, 9), {});
  CHECK(names(diff, kRemoved) == Names{"blocks.23"});
  CHECK(diff.count(kRemoved) == 10);
  CHECK(names(diff, kAdded).empty());
  REQUIRE(!diff.findings.empty());
  CHECK(diff.findings[0].kind == kRemoved);
}

TEST_CASE("tape match: an inserted op, and one with another name in its place") {
  const TapeGraph a = chain({"relu", "relu"});
  Script script;
  const int x = script.leaf("x", {4, 8});
  int h = script.op("relu", "net.1", {script.linear("net.0", x)});
  h = script.op("dropout", "drop", {h});
  h = script.op("tanh", "net.3", {script.linear("net.2", h)});
  script.op("mean", "", {h}, {});
  const TapeDiff diff = compare_tapes(a, script.graph(), {});
  CHECK(names(diff, kAdded) == Names{"drop"});
  CHECK(names(diff, kRemoved).empty());
  const auto changed =
      std::find_if(diff.findings.begin(), diff.findings.end(), [](const TapeFinding& finding) {
        return finding.kind == TapeFinding::Kind::changed && !finding.follows;
      });
  REQUIRE(changed != diff.findings.end());
  CHECK(changed->text == "op relu → tanh");
}

TEST_CASE("tape match: renamed modules, moved lines and another order of branches") {
  const auto branches = [](const std::string& left, const std::string& right, bool swapped, int line) {
    Script script;
    const int x = script.leaf("x", {4, 8});
    int l = -1, r = -1;
    for (const bool first : {true, false}) {
      if (first != swapped)
        l = script.op("tanh", left, {script.linear(left, x)}, {4, 8}, line + 3);
      else
        r = script.op("relu", right, {script.linear(right, x)}, {4, 8}, line + 5);
    }
    script.op("add", "", {l, r}, {4, 8}, line + 9);
    return script.graph();
  };
  const TapeGraph a = branches("left", "right", false, 1);
  const TapeDiff moved = compare_tapes(a, branches("left", "right", true, 40), {});
  CHECK(moved.equal());  // a line says nothing about what is computed
  const TapeGraph renamed = branches("west", "east", false, 1);
  CHECK(partner(a, renamed, "left.weight") == "west.weight");
  CHECK(partner(a, renamed, "tanh left") == "tanh west");
  CHECK(partner(a, renamed, "linear right") == "linear east");
  const TapeDiff diff = compare_tapes(a, renamed, {});
  CHECK(names(diff, kRemoved).empty());
  CHECK(diff.count(TapeFinding::Kind::changed) == 8);
  for (const TapeFinding& finding : diff.findings) CHECK(finding.follows);
}

TEST_CASE("tape match: a wider layer is the same layer, and what reads it follows") {
  const auto net = [](int64_t width) {
    Script script;
    int h = script.linear("net.up", script.leaf("x", {4, 8}), 8, width);
    h = script.op("relu", "net", {h}, {4, width});
    script.op("mean", "", {script.linear("net.down", h, width, 8)}, {});
    return script.graph();
  };
  const TapeDiff diff = compare_tapes(net(16), net(32), {});
  CHECK(diff.count(kRemoved) + diff.count(kAdded) == 0);
  Names causes;
  for (const TapeFinding& finding : diff.findings)
    if (!finding.follows) causes.push_back(finding.name);
  CHECK(causes == Names{"net.up.weight", "net.up.bias"});
}

TEST_CASE("tape match: a weight that is read twice, and a skip that begins elsewhere") {
  const auto net = [](bool other) {
    Script script;
    const int x = script.leaf("x", {4, 8}), w = script.leaf("tied.weight", {8, 8});
    const int first = script.op("linear", "", {x, w}), second = script.op("tanh", "", {first});
    const int third = script.op("linear", "", {second, w});
    script.op("add", "", {other ? first : second, third});
    return script.graph();
  };
  CHECK(compare_tapes(net(false), net(false), {}).equal());
  const TapeDiff diff = compare_tapes(net(false), net(true), {});
  REQUIRE(diff.findings.size() == 1);
  CHECK(diff.findings[0].text == "input 1 tanh → linear");
  CHECK(!diff.findings[0].follows);
}

TEST_CASE("tape match: random edits of a long tape are found, and nothing else") {
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    // Distinct shapes, so that there is one answer.
    Script left, right;
    int x = left.leaf("x", {4, 3}), y = right.leaf("x", {4, 3});
    const int gone = int(random() % 60), fresh = int(random() % 60);
    for (int i = 0; i < 60; ++i) {
      const std::string module = "layers." + std::to_string(i);
      if (i == fresh) y = right.op("softsign", "fresh", {y}, {4, 1000});
      x = left.op("relu", module, {left.linear(module, x, 3, 10 + i)}, {4, 10 + i});
      if (i == gone) continue;
      const std::string shifted = "layers." + std::to_string(i - (i > gone));
      y = right.op("relu", shifted, {right.linear(shifted, y, 3, 10 + i)}, {4, 10 + i});
    }
    const TapeDiff diff = compare_tapes(left.graph(), right.graph(), {});
    CHECK(names(diff, kRemoved) == Names{"layers." + std::to_string(gone)});
    CHECK(names(diff, kAdded) == Names{"fresh"});
  }
}

TEST_CASE("tape match: 5,000 nodes take less than a second, also if little is the same") {
  const TapeGraph a = blocks(500);
  REQUIRE(a.nodes.size() > 5000);
  TapeGraph b = blocks(490, 0);
  for (size_t i = 0; i < b.nodes.size(); i += 3) b.nodes[i].module += ".other";
  std::mt19937 random(5);
  for (TapeNode& node : b.nodes)
    if (random() % 4 == 0) node.shape = {4, int64_t(random() % 50)};
  const double before = tests::thread_seconds();
  const TapeDiff diff = compare_tapes(a, b, {});
  CHECK_TIME(tests::thread_seconds() - before < 1);
  CHECK(!diff.equal());
}
