#include "runtime/tape/node.h"

#include <algorithm>
#include <atomic>
#include <unordered_set>

namespace lunagrad {
namespace {

// Each thread takes ids in blocks, so that threads do not contend for one counter.
uint64_t next_tensor_id() {
  constexpr uint64_t kBlock = 1 << 16;
  static std::atomic<uint64_t> next_block{0};
  thread_local uint64_t next = 0, end = 0;
  if (next == end) {
    next = next_block.fetch_add(1, std::memory_order_relaxed) * kBlock + 1;
    end = next + kBlock;
  }
  return next++;
}

}  // namespace

Tensor::Tensor(Ref<Storage> storage, LayoutRef layout, int64_t offset, DType dtype) : body_(new TensorBody) {
  body_->storage = std::move(storage);
  body_->layout = std::move(layout);
  body_->offset = offset;
  body_->dtype = dtype;
  body_->id = next_tensor_id();
}

void TensorBody::destroy(TensorBody* body) { delete body; }

// Frees nodes from a list instead of by recursion: destroying a node drops its inputs, which appends them to
// the list. The list is linked through `walk`, since no pass visits such a node: it needs no memory, which
// may be short when nodes are dropped.
void Node::destroy(Node* node) {
  thread_local Node* doomed = nullptr;
  thread_local bool draining = false;
  node->walk = reinterpret_cast<uintptr_t>(doomed);
  doomed = node;
  if (draining) return;
  draining = true;
  while (doomed) {
    Node* const next = doomed;
    doomed = reinterpret_cast<Node*>(uintptr_t(next->walk));
    if (next->extras && next->extras->checkpoint) next->extras->checkpoint->forget(*next);
    delete next;
  }
  draining = false;
}

NodeExtras& Node::extra() {
  if (!extras) extras = std::make_unique<NodeExtras>();
  return *extras;
}

std::string made_at(SourceLine line) {
  return line.known() ? " (made at " + to_string(line) + ")" : std::string();
}

std::vector<Node*> nodes_of(const Tensor& root) {
  if (!root.defined() || !root.node()) return {};
  std::vector<Node*> nodes{root.node().get()};
  std::unordered_set<const Node*> seen{nodes[0]};
  for (size_t next = 0; next < nodes.size(); ++next)
    for (const Operand& operand : nodes[next]->in)
      if (operand.node && seen.insert(operand.node.get()).second) nodes.push_back(operand.node.get());
  std::sort(nodes.begin(), nodes.end(), [](const Node* a, const Node* b) { return a->id > b->id; });
  return nodes;
}

}  // namespace lunagrad
