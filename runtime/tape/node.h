#pragma once
// The nodes of the tape: one Node for each recorded call, a plain record whose fields can be read. Ownership
// runs in one direction: Tensor -> Node -> (saved storage, nodes of the inputs). So there is no reference
// cycle, and dropping the last tensor frees the graph, without recursion. A node belongs to the thread that
// recorded it.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

// An input or output of a recorded call. Holds the storage only if a gradient reads the value.
struct Operand {
  LayoutRef layout;  // null: the operand was absent
  int64_t offset = 0;
  DType dtype = DType::f32;
  bool is_number = false;
  uint32_t version = 0;  // of the storage when the call was recorded
  uint64_t tensor_id = 0;
  Ref<Storage> saved;   // null: value not saved, or freed
  Ref<Node> node;       // of an input that wants a gradient
  uint32_t output = 0;  // which output of node
};

// Gets a gradient and may return a replacement of the same shape; undefined keeps the gradient.
using Hook = std::function<Tensor(const Tensor&)>;

class CustomContext;
struct CustomOp;

// The part of a custom op's node that backward needs (custom.h).
struct CustomCall {
  struct Saved {
    Operand value;
    int input = -1, output = -1;  // which input or output of the node the value is; -1: neither
  };
  std::vector<Saved> saved;
  // One gradient for each input, from the gradients of the outputs.
  std::function<TensorList(const CustomContext&, const TensorList& grads)> backward;
  std::function<CustomOp(const TensorList& inputs)> again;  // CustomOp::again
};

// A part of the forward pass whose saved values are dropped and computed again when backward reads the first
// of them (activation checkpointing). checkpoint.cpp implements it; the tape calls it. One thread.
class CheckpointRegion : public Counted {
 public:
  static void destroy(CheckpointRegion* region) { delete region; }
  virtual ~CheckpointRegion() = default;

  // The tape recorded a node while the region was current (Context::checkpoint).
  virtual void record(Node&) = 0;
  // The same for the values of a custom op. Called after record() of its node.
  virtual void record_custom(Node&, std::unique_ptr<CustomCall>) = 0;
  // Gives the region's nodes their values.
  virtual void recompute(const Node& needed_by) = 0;
  // Backward has finished with a node: frees its values. Unless the graph is `retained`, the oldest node of
  // the region also frees what recompute() needs.
  virtual void release(Node&, bool retained) = 0;
  virtual void forget(const Node&) = 0;  // the node is being destroyed
  // Whether the region is being recomputed: running statistics were updated by the first run.
  virtual bool replaying() const = 0;
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
  std::unique_ptr<CustomCall> custom;  // of a custom op; null in a checkpoint until it is recomputed
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
  static void destroy(Node*);  // iterative: a chain of a million nodes needs no stack

  const Op* op = nullptr;  // null: a leaf, whose `grad` accumulates
  uint64_t id = 0;         // grows with time: an input's node has a smaller id
  Small<Operand, 2> in;
  Small<Operand, 1> out;
  Device* device = nullptr;
  std::unique_ptr<Attributes> attributes;  // null: the op has none
  SourceLine line;                         // of the script that made the call
  uint32_t module = 0;                     // interned path of the nn module
  uint64_t forward_ticks = 0;              // ticks() that the forward and the backward computation took
  uint64_t backward_ticks = 0;
  bool freed = false;         // backward ran and freed the saved values
  bool requires_grad = true;  // of a leaf: may be switched off
  Tensor grad;                // of a leaf
  uint32_t name = 0;          // of a leaf: interned, set by nn when it collects parameters
  std::unique_ptr<NodeExtras> extras;

  bool is_leaf() const { return op == nullptr; }
  const char* label() const { return op ? op->name : "leaf"; }
  NodeExtras& extra();  // makes the extras at the first call

  // Scratch fields of the backward pass that is visiting the node.
  uint64_t walk = 0;
  uint32_t slot = 0;
};

// " (made at train.lua:12)", or "" when the line is unknown: for messages.
std::string made_at(SourceLine);

// The nodes that root depends on, root's first; each node comes after every node that uses it.
std::vector<Node*> nodes_of(const Tensor& root);

}  // namespace lunagrad
