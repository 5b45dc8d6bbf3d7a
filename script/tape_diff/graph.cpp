#include "script/tape_diff/graph.h"

#include <algorithm>

#include "runtime/core/error.h"
#include "runtime/core/op_name.h"

namespace lunagrad {

bool TapeGraph::has_values() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const TapeNode& node) { return bool(node.value); });
}

std::string path_of(const TapeNode& node) {
  if (node.kind != TapeNode::Kind::leaf || !node.module.empty()) return node.module;
  const size_t dot = node.name.rfind('.');
  return dot == std::string::npos ? "" : node.name.substr(0, dot);
}

std::string label_of(const TapeNode& node) {
  switch (node.kind) {
    case TapeNode::Kind::leaf:
      return node.name.empty() ? "leaf " + shape_text(node.shape) : node.name;
    case TapeNode::Kind::source:
      return (node.name.empty() ? "source" : node.name) +
             (node.module.empty() ? " " + shape_text(node.shape) : " of " + node.module);
    case TapeNode::Kind::op:
      break;
  }
  const std::string op = public_op_name(node.op);
  return node.module.empty() ? op : op + " " + node.module;
}

std::string shape_text(const std::vector<int64_t>& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out + "]";
}

std::vector<TapeNode> in_order(std::vector<TapeNode> nodes, const std::string& where) {
  enum State : uint8_t { unseen, open, done };
  std::vector<State> states(nodes.size(), unseen);
  std::vector<int> order, place(nodes.size(), -1);
  std::vector<std::pair<size_t, size_t>> walk;  // a node and its next input to visit
  const auto visit = [&](size_t from) {
    if (states[from] != unseen) return;
    states[from] = open;
    walk.emplace_back(from, 0);
    while (!walk.empty()) {
      auto& [node, next] = walk.back();
      if (next == nodes[node].inputs.size()) {
        states[node] = done;
        place[node] = int(order.size());
        order.push_back(int(node));
        walk.pop_back();
        continue;
      }
      const int input = nodes[node].inputs[next++];
      if (input < 0 || states[size_t(input)] == done) continue;
      if (states[size_t(input)] == open)
        fail_as(ErrorKind::file, where, ": node ", input + 1, " depends on itself");
      states[size_t(input)] = open;
      walk.emplace_back(size_t(input), 0);
    }
  };
  // A tape lists its newest node first.
  for (const bool ops : {true, false})
    for (size_t i = nodes.size(); i-- > 0;)
      if ((nodes[i].kind == TapeNode::Kind::op) == ops) visit(i);
  std::vector<TapeNode> sorted;
  sorted.reserve(nodes.size());
  for (const int from : order) {
    TapeNode& node = sorted.emplace_back(std::move(nodes[size_t(from)]));
    for (int& input : node.inputs)
      if (input >= 0) input = place[size_t(input)];
  }
  return sorted;
}

}  // namespace lunagrad
