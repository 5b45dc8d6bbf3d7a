// What a step keeps of the call at which the run stands still.
#include <functional>
#include <map>
#include <vector>

#include "script/inspect/step_values.h"

namespace lunagrad {

size_t StepValues::add_graph_to(const Call& call) {
  std::map<uint64_t, Node*, std::greater<>> nodes;  // newest first
  const auto add = [&](const Tensor& x) {
    if (!x.defined() || !x.node() || !x.requires_grad()) return;
    for (Node* const node : nodes_of(x)) nodes.emplace(node->id, node);
  };
  add(newest_);
  for (const Tensor& x : call.in) add(x);
  for (const Tensor& x : call.out) add(x);
  std::vector<Node*> all;
  for (const auto& [id, node] : nodes) all.push_back(node);
  return add_graph(all);
}

uint64_t StepValues::note(const NotedCall& noted) {
  const Call& call = noted.call;
  for (const Operands* const side : {&call.in, &call.out})
    for (const Tensor& x : *side)
      if (x.defined()) keep(x);
  for (const Tensor& x : call.out)
    if (x.defined() && x.requires_grad() && !x.is_leaf()) return x.node()->id;
  return untaped_.note(call, noted.line, noted.module);
}

}  // namespace lunagrad
