#include "runtime/io/tape_dot.h"

#include "runtime/core/error.h"
#include "runtime/core/memory_limit.h"
#include "runtime/io/graphviz.h"
#include "runtime/tape/node.h"

namespace lunagrad {

std::string tape_dot(const Tensor& root) {
  std::vector<DotNode> shown;
  const std::vector<Node*> nodes = nodes_of(root);
  check_room(nodes.size(), 8 * sizeof(DotNode));  // for the nodes' texts and the whole text
  for (const Node* node : nodes) {
    DotNode dot;
    dot.id = text('n', node->id);
    const std::string& name = interned(node->name);
    dot.lines = {name.empty() ? node->label() : name,
                 text(node->out[0].layout->shape, ' ', node->out[0].dtype)};
    if (node->line.known()) dot.lines.push_back(to_string(node->line));
    dot.leaf = node->is_leaf();
    for (const Operand& operand : node->in)
      if (operand.node) dot.inputs.push_back(text('n', operand.node->id));
    shown.push_back(std::move(dot));
  }
  return dot_text(shown);
}

}  // namespace lunagrad
