#pragma once
// The backward pass: computes the gradients of the tensors that an output was computed from. It visits the
// nodes by descending id and has no code for particular ops; each op's vjp sets the gradients of its inputs.
// For the thread that recorded the tape.
//
// The gradient of a complex tensor z is dL/dRe z + i dL/dIm z wherever a user sees it (seeds, .grad, hooks,
// results, custom ops, viewers), as in PyTorch. Between nodes the conjugate is passed, so that the derivative
// of a holomorphic op is written as for the real op; a vjp gets and sets the conjugate.
#include "runtime/tape/node.h"

namespace lunagrad {

class GradStore;

// The argument of a vjp: the gradients of the outputs, the saved values (version-checked when read), and the
// gradients of the inputs, which the vjp sets. The tape sums a gradient over broadcast dims, casts it back
// and accumulates it: a vjp may set a gradient of any shape that broadcasts from the input's.
class Backward {
 public:
  Backward(const Node& node, Small<Tensor, 1>& out_grads, const std::vector<bool>& needs, bool create_graph);

  const Node& node() const { return node_; }
  bool create_graph() const { return create_graph_; }
  bool has_grad(int output) const;    // whether a gradient arrived for that output
  Tensor grad(int output = 0) const;  // zeros when none arrived
  bool needs(int input) const;        // whether the input needs a gradient
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

  const CustomCall& custom() const;  // for a custom op
  TensorList custom_values() const;  // the saved values of a custom op

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

// Converts a gradient between the form that users see and the form that is passed between nodes: conjugates
// complex gradients.
Tensor conjugated(const Tensor& gradient);

// For a vjp under create_graph: differentiates the op's compose() instead. The op's `reads` must name all
// inputs.
void differentiate_composition(Backward&);

// For a vjp that can add its gradient to the sum so far, which saves a temporary tensor: the weights of a
// recurrent network get one matrix product per time step. Returns the sum so far for this input of the node
// whose vjp is running, if it may be written: it is contiguous, of the input's shape and type, not shared,
// and no graph is being recorded. Otherwise undefined. Valid during one backward pass, on its thread.
Tensor running_sum(const Backward&, int input);

// A listener of backward passes: Context::capture. Called on the context's thread.
class Capture {
 public:
  virtual ~Capture() = default;
  // Called before the pass, with every node that it will visit, by descending id. The nodes have their saved
  // values and stay valid until end().
  virtual void begin(std::span<Node* const> nodes) = 0;
  // The complete gradient of an output; for a leaf the part added to .grad. Leaves with functions of after.h
  // come before their turn by id.
  virtual void gradient(const Node&, uint32_t output, const Tensor&) = 0;
  virtual bool keep(const Node&) = 0;  // true: the node's saved values are not freed
  virtual void end() = 0;              // called also when the pass ended with an error
};

struct BackwardOptions {
  bool retain_graph = false;
  bool create_graph = false;  // implies retain_graph
};

// The number of backward passes that this thread has begun.
uint64_t backward_passes();

// Accumulates into .grad of every leaf that `root` depends on. An undefined seed means 1 and is an Error for
// a root that is not a real scalar.
void backward(const Tensor& root, const Tensor& seed = {}, BackwardOptions = {});
// Returns the gradients of leaves and results as a value; .grad does not change (grad_store.h).
GradStore gradients(const Tensor& root, const Tensor& seed = {}, BackwardOptions = {});

struct GradOptions : BackwardOptions {
  bool allow_unused = false;  // an input that no output depends on gives an undefined tensor, not an Error
};
// Gradients of `inputs` only, as values; .grad does not change.
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& seeds = {},
                GradOptions = {});

}  // namespace lunagrad
