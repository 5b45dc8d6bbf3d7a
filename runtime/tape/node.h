#pragma once
// The nodes of the tape: one Node for each recorded call, a plain record whose fields can be read. Ownership
// runs in one direction: Tensor -> Node -> (saved storage, nodes of the inputs). So there is no reference
// cycle, and dropping the last tensor frees the graph, without recursion. A node belongs to the thread that
// recorded it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/op.h"

namespace lunagrad {

// An input or output of a recorded call. Holds the storage only if a gradient reads the value.
struct Operand {
  LayoutRef layout;  // null: the operand was absent
  int64_t offset = 0;
  DType dtype = DType::f32;
  bool is_number = false;
  uint32_t version = 0;  // the storage's version when the call was recorded
  uint64_t tensor_id = 0;
  Ref<Storage> saved;   // null: value not saved, or freed
  Ref<Node> node;       // for an input that needs a gradient
  uint32_t output = 0;  // which output of node
};

// A function of a gradient. It may return a replacement of the same shape; undefined keeps the gradient.
using Hook = std::function<Tensor(const Tensor&)>;

class CustomContext;
struct CustomOp;

// The data of a custom op's node that backward needs (custom.h).
struct CustomCall {
  struct Saved {
    Operand value;
    // index of the value among the node's inputs or outputs; -1: it is not among them
    int input = -1, output = -1;
  };
  std::vector<Saved> saved;
  // Returns one gradient for each input, from the outputs' gradients.
  std::function<TensorList(const CustomContext&, const TensorList& grads)> backward;
  std::function<CustomOp(const TensorList& inputs)> again;  // CustomOp::again
};

// A part of the forward pass whose saved values are dropped and computed again when backward reads the first
// of them (activation checkpointing). The tape calls it; checkpoint.cpp implements it. One thread.
class CheckpointRegion : public Counted {
 public:
  static void destroy(CheckpointRegion* region) { delete region; }
  virtual ~CheckpointRegion() = default;

  // Called when the tape has recorded a node while the region is current (Context::checkpoint).
  virtual void record(Node&) = 0;
  // record() for the values of a custom op. Called after record() of its node.
  virtual void record_custom(Node&, std::unique_ptr<CustomCall>) = 0;
  // Gives the region's nodes their values.
  virtual void recompute(const Node& needed_by) = 0;
  // Called when backward has finished with a node: frees its values. Unless the graph is `retained`,
  // releasing the region's oldest node also frees what recompute() needs.
  virtual void release(Node&, bool retained) = 0;
  virtual void forget(const Node&) = 0;  // called when the node is destroyed
  // Whether the region is being recomputed: running statistics are then not updated again.
  virtual bool recomputing() const = 0;
};

// Fields that only some nodes need.
struct NodeExtras {
  struct Entry {
    uint32_t output;
    uint64_t id;
    Hook hook;
  };
  std::vector<Entry> hooks;
  std::vector<Tensor> retained;  // gradient of each output, kept by retain_grad
  std::vector<bool> retains;
  uint64_t next_hook = 1;
  std::unique_ptr<CustomCall> custom;  // for a custom op; null in a checkpoint until it is recomputed
  Ref<CheckpointRegion> checkpoint;    // null: outside a checkpoint
  uint32_t checkpoint_index = 0;       // position of the node in the region
};

// The parameters and arguments of the recorded call.
struct Attributes : Pooled<Attributes> {
  Values params;
  Arguments args;
};

class Node final : public Counted, public Pooled<Node> {
 public:
  static void destroy(Node*);  // iterative: a chain of a million nodes does not overflow the stack

  const Op* op = nullptr;  // null: a leaf, whose `grad` accumulates
  uint64_t id = 0;         // grows with time: an input's node has a smaller id
  Small<Operand, 2> in;
  Small<Operand, 1> out;
  Device* device = nullptr;
  std::unique_ptr<Attributes> attributes;  // null: the op has none
  SourceLine line;                         // the script line of the call
  uint32_t module = 0;                     // interned path of the nn module
  // The op whose gradient the call computes, for a backward pass with create_graph; null: a call of the
  // script.
  const Op* gradient_of = nullptr;
  uint64_t forward_ticks = 0;  // ticks() that the forward and the backward computation took
  uint64_t backward_ticks = 0;
  bool freed = false;         // backward ran and freed the saved values
  bool requires_grad = true;  // for a leaf: may be switched off
  Tensor grad;                // for a leaf
  uint32_t name = 0;          // for a leaf: interned, set by nn when it collects parameters
  std::unique_ptr<NodeExtras> extras;

  bool is_leaf() const { return op == nullptr; }
  const char* label() const { return op ? op->name : "leaf"; }
  NodeExtras& extra();  // makes the extras when there are none

  // Scratch fields of the backward pass that is visiting the node.
  uint64_t walk = 0;
  uint32_t slot = 0;
};

// For messages: " (made at train.lua:12)", or "" when the line is unknown.
std::string made_at(SourceLine);

// The nodes that root depends on, root's first; each node comes after every node that uses it.
std::vector<Node*> nodes_of(const Tensor& root);

}  // namespace lunagrad
