#pragma once
// The tape: one Node for each recorded call, a concrete record that can be read field by field, and the walk
// that turns the gradient of an output into gradients of what it was made from. Ownership runs one way:
// Tensor -> Node -> (saved storage, nodes of the inputs), so there is no cycle and dropping the last tensor
// frees the graph, iteratively. backward() knows no op.
//
// The gradient of a complex tensor z is dL/dRe z + i dL/dIm z wherever it meets a user (seeds, .grad, hooks,
// results, custom ops, viewers), as in PyTorch. Between nodes its conjugate travels, so that the derivative
// of a holomorphic op is written as that of the real one; a vjp gets and sets the conjugate.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/op.h"

namespace lunagrad {

// An operand as a node remembers it. The storage is held only if the gradient reads the value.
struct Operand {
  LayoutRef layout;  // null: the operand was absent
  int64_t offset = 0;
  DType dtype = DType::f32;
  bool is_number = false;
  uint32_t version = 0;  // of the storage when it was recorded
  uint64_t tensor_id = 0;
  Ref<Storage> saved;   // null: value not saved, or freed
  Ref<Node> node;       // of an input that wants a gradient
  uint32_t output = 0;  // which output of node
};

// Receives a gradient, may return another in its place (undefined keeps it).
using Hook = std::function<Tensor(const Tensor&)>;

class CheckpointRegion;
struct CustomCall;

// What only some nodes have.
struct NodeExtras {
  NodeExtras();
  ~NodeExtras();
  struct Entry {
    uint32_t output;
    uint64_t id;
    Hook hook;
  };
  std::vector<Entry> hooks;
  std::vector<Tensor> retained;  // gradient of each output, kept by retain_grad
  std::vector<bool> retains;
  uint64_t next_hook = 1;
  std::unique_ptr<CustomCall> custom;  // of a custom op (custom.h); null in a checkpoint until it is needed
  Ref<CheckpointRegion> checkpoint;    // makes the saved values again when they are needed (checkpoint.h)
  uint32_t checkpoint_index = 0;       // which of its nodes this is
};

// The parameters and arguments of the recorded call.
struct Attributes : Pooled<Attributes> {
  Values params;
  Arguments args;
};

class Node final : public Counted, public Pooled<Node> {
 public:
  static void destroy(Node*);  // iterative: a chain of a million nodes needs no stack

  const Op* op = nullptr;  // null: a leaf, whose `grad` collects
  uint64_t id = 0;         // grows with time: an input's node has a smaller id
  Small<Operand, 2> in;
  Small<Operand, 1> out;
  Device* device = nullptr;
  std::unique_ptr<Attributes> attributes;  // null: the op has none
  SourceLine line;                         // of the script that made the call
  uint32_t module = 0;                     // interned path of the nn module
  uint64_t forward_ticks = 0;
  uint64_t backward_ticks = 0;
  bool freed = false;         // backward ran and dropped the saved values
  bool requires_grad = true;  // of a leaf: may be switched off
  Tensor grad;                // of a leaf
  uint32_t name = 0;          // of a leaf: interned, given by nn when it collects parameters
  std::unique_ptr<NodeExtras> extras;

  bool is_leaf() const { return op == nullptr; }
  const char* label() const;  // the op's name, or "leaf"
  NodeExtras& extra();

  // Scratch of the walk that is visiting the node.
  uint64_t walk = 0;
  uint32_t slot = 0;
};

// What a vjp works with: the gradients that arrive, the saved values (version-checked when read), and where
// the results go. Un-broadcasting, casting back and accumulating are the tape's: a vjp may set a gradient of
// any shape that broadcasts from the input's.
class Backward {
 public:
  Backward(const Node& node, Small<Tensor, 1>& out_grads, const std::vector<bool>& needs, bool create_graph);

  const Node& node() const { return node_; }
  bool create_graph() const { return create_graph_; }
  bool has_grad(int output) const;    // whether a gradient arrived for that output
  Tensor grad(int output = 0) const;  // zeros when none arrived
  bool needs(int input) const;        // whether the input wants one
  Tensor input(int i) const;          // the saved operand; undefined when it was absent
  Tensor output(int i = 0) const;
  int inputs() const { return int(node_.in.size()); }
  bool has(int i) const { return size_t(i) < node_.in.size() && bool(node_.in[size_t(i)].layout); }
  const Shape& shape(int input) const { return node_.in[size_t(input)].layout->shape; }
  DType dtype(int input) const { return node_.in[size_t(input)].dtype; }
  const Shape& output_shape(int i = 0) const { return node_.out[size_t(i)].layout->shape; }
  Device& device() const { return *node_.device; }

  bool flag(int i) const { return node_.attributes->params[size_t(i)].b; }
  int64_t integer(int i) const { return node_.attributes->params[size_t(i)].i; }
  double real(int i) const { return node_.attributes->params[size_t(i)].f; }
  const Dims& list(int i) const { return node_.attributes->params[size_t(i)].list; }

  const Arguments& args() const { return node_.attributes->args; }

  const CustomCall& custom() const;  // of a custom op
  TensorList custom_values() const;  // what it saved

  void set(int input, Tensor grad);
  std::vector<Tensor>& results() { return results_; }

 private:
  Tensor restore(const Operand&, const char* what, int position, const Ref<Node>& node,
                 uint32_t output) const;
  Ref<Node> self() const;
  const Node& node_;
  Small<Tensor, 1>& out_grads_;
  const std::vector<bool>& needs_;
  std::vector<Tensor> results_;
  bool create_graph_;
};

// A gradient as a user sees it from one that travels between nodes, and back: a complex one is conjugated.
Tensor conjugated(const Tensor& gradient);

// For a vjp under create_graph: differentiates the op's compose() instead. The op's `reads` must name all
// inputs.
void differentiate_composition(Backward&);

// A viewer's eye on backward passes, hung into Context::capture. Called on the context's thread.
class Capture {
 public:
  virtual ~Capture() = default;
  // Before the walk: every node it will visit, in the order of the visits. Saved values are still there.
  virtual void begin(std::span<Node* const> nodes) = 0;
  // The complete gradient of a node's output; for a leaf what is added to .grad.
  virtual void gradient(const Node&, uint32_t output, const Tensor&) = 0;
  virtual bool keep(const Node&) = 0;  // true: the node's saved values are not freed
  virtual void end() = 0;              // also when the walk ended with an error
};

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;  // implies retain_graph
};

// Accumulates into .grad of every leaf that `root` depends on. An undefined seed is 1 for a scalar; Error for
// others.
void backward(const Tensor& root, const Tensor& seed = {}, BackwardOptions = {});

// " (made at train.lua:12)", or "" when the line is unknown: for messages.
std::string made_at(SourceLine);

struct GradOptions : BackwardOptions {
  bool allow_unused = false;  // an input that no output depends on gives an undefined tensor, not an Error
};
// Gradients of `inputs` alone, as values; .grad is not touched.
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& seeds = {},
                GradOptions = {});

// A hook on the gradient of x; returns an id for remove_hook. Error when x does not require grad. A backward
// that frees the graph drops the hooks of what is no leaf: a hook may hold the tensor that it belongs to.
uint64_t register_hook(const Tensor& x, Hook);
void remove_hook(const Tensor& x, uint64_t id);
void retain_grad(const Tensor& x);  // keep .grad of a tensor that is no leaf

// Records the call that has just run. Called by run() alone.
void record(Call&, uint64_t ticks);
// Errors when x may not be written in place (a leaf that requires grad, a view of one, with the tape on).
void check_in_place(const char* op, const Tensor& x);
// After a write in place into x by `call`, whose in[0] is x as it was: x (and its base) gets the new node.
void record_in_place(const Tensor& x, Call& call, uint64_t ticks);

// The nodes that root depends on, root's first; each after every node that uses it.
std::vector<Node*> nodes_of(const Tensor& root);
std::string tape_dot(const Tensor& root);  // Graphviz

}  // namespace lunagrad
