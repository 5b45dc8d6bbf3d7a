#pragma once
// The record of one backward pass: its nodes without their values and without the graph, its leaves as the
// pass read them, and the gradients that came from outside. Together with the values that no node made, this
// is enough to recompute every value and gradient of the pass (recompute.h). For the session's thread.
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/tape/custom.h"
#include "runtime/tape/tape.h"
#include "script/view/tape.h"

namespace lunagrad {

struct KeptOperand {
  LayoutRef layout;  // null: the operand was absent
  int64_t offset = 0;
  DType dtype = DType::f32;
  bool is_number = false;
  bool saved = false;  // the gradient reads it
  uint32_t version = 0, version_now = 0;
  uint64_t tensor = 0;  // id
  uint64_t maker = 0;   // the node that made an input which requires a gradient
  uint32_t output = 0;  // which output of that node
};

struct KeptNode {
  uint64_t id = 0;
  const Op* op = nullptr;  // null: a leaf
  Device* device = nullptr;
  SourceLine line;
  uint32_t module = 0, name = 0;
  const Op* gradient_of = nullptr;
  uint64_t forward_ticks = 0, backward_ticks = 0;
  bool has_params = false;
  bool reached = false;  // a gradient reached it
  Values params;
  Arguments args{};
  Small<KeptOperand, 3> in;  // a linear layer has three
  Small<KeptOperand, 1> out;
  std::unique_ptr<CustomCall> custom;

  // For a leaf:
  Ref<Node> leaf;
  Tensor value;  // a copy; undefined: only the live value exists
  uint32_t value_version = 0;
  const Storage* copied_from = nullptr;
  bool had_gradient = false;  // its .grad existed when the pass began
  // The .grad that the pass left (tensor and version), to see whether it was changed since.
  const void* gradient_left = nullptr;
  uint32_t gradient_version = 0;

  const char* label() const { return op ? op->name : "leaf"; }
};

struct KeptPass {
  // A gradient that cannot be recomputed: a root's gradient, or one returned by a hook of the script.
  struct Given {
    size_t node;
    uint32_t output;
    Tensor gradient;
  };
  uint32_t number = 0;          // number in its step, from 1
  uint64_t key = 0;             // equal for passes from the same line and op, in any step
  std::vector<KeptNode> nodes;  // newest first
  std::vector<Given> given;
  bool create_graph = false;
  uint64_t made_from = 0,
           made_to = 0;  // with create_graph: the ids of the nodes that the pass made lie between these
  bool ended = false;
  bool accumulates = false;   // adds to the .grad of a leaf
  bool forward_only = false;  // not a pass: a part of the graph without a backward pass

  int find(uint64_t node) const;  // position, -1: not in the pass
};

// Records the nodes while their saved values still exist. Leaves get no value yet.
std::unique_ptr<KeptPass> keep_pass(std::span<Node* const>);
NodeInfo describe(const KeptPass&, size_t node);
// The same for a node of no pass. `leaf_name`: the name of the leaf with this id; 0: there is none, or it has
// no name.
NodeInfo describe(const KeptNode&, const std::function<uint32_t(uint64_t node)>& leaf_name);
// The pass that a viewer shows first, which is the pass of the outer loss: the last pass that no later pass
// goes through and that adds to gradients of leaves, else the last pass. -1: no pass has ended.
int outer_pass(std::span<const std::unique_ptr<KeptPass>>);
// Whether a later pass goes through this pass's graph, as when a loss is computed from gradients.
bool is_inner(std::span<const std::unique_ptr<KeptPass>>, size_t pass);

}  // namespace lunagrad
