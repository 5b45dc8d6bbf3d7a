#pragma once
// Detection of NaN and Inf; the level is Context::guard. Guard::op checks the result of each op and each
// gradient: the first op that produces such a value raises an Error of kind numeric with its name and line,
// statistics of its operands, the first bad element and the likely cause. An Inf that an operand already had
// (the -Inf of a mask) is not reported. Guard::step checks the loss and the gradients of the leaves in each
// backward pass, with one wait for the device. A FiniteWatch of the thread is called before the Error and
// decides whether it is raised. A RootWatch of the thread sees the tensor that each backward pass starts
// from, whatever the level. For the thread of the tensors.
#include "runtime/tape/node.h"

namespace lunagrad {

// Statistics of a tensor; min, max and mean are those of the finite elements.
struct Contents {
  int64_t count = 0, nans = 0, infs = 0, zeros = 0;
  double min = 0, max = 0, mean = 0;
  int64_t first_bad = -1;  // index in row-major order of the first NaN or Inf; -1: none
  bool finite() const { return nans + infs == 0; }
};
Contents contents_of(const Tensor&);
// "f32 [2, 3] from 0 to 4, mean 1.5, 2 NaN"
std::string describe_contents(const Tensor&, const Contents&);

// Whether all elements of all tensors are finite; waits once for the device, if all are on the same.
bool all_finite(const TensorList&);

// A finding of Guard::op: the text of the Error, and its place.
struct NotFinite {
  std::string message;
  const char* op;
  const Tensor& value;  // the result or gradient that has the NaN or Inf
  SourceLine line;
  const Node* node = nullptr;  // of a gradient: the node whose vjp made it
};
class FiniteWatch {
 public:
  virtual ~FiniteWatch() = default;
  virtual bool raises(const NotFinite&) = 0;  // false: the run goes on
};
// Sets the watch of this thread, which does not own it; null removes it.
void set_finite_watch(FiniteWatch*);

class RootWatch {
 public:
  virtual ~RootWatch() = default;
  virtual void root(const Tensor&) = 0;  // before an outer backward pass; the graph still has its values
};
// As set_finite_watch. Returns the one before.
RootWatch* set_root_watch(RootWatch*);
void tell_root(const Tensor&);

// The message of Guard::op about `value`, a result of the op on these operands. Undefined operands are left
// out, and without all of them there is no likely cause.
std::string explain_result(const Op&, const Operands&, const Tensor& value);

// For Guard::op: runs the call and checks its results.
void run_guarded(Call&);
// For Guard::op, after an in-place write by `call`; `before` are the statistics of operand 0 before it.
void check_written(const Call& call, const Contents& before);
// For Guard::op: checks the gradients that a vjp computed for the inputs that need one. `arrived` are the
// gradients of the outputs. Call it before the node's saved values are freed.
void check_gradients(const Node&, const Small<Tensor, 1>& arrived, const std::vector<bool>& needs,
                     const std::vector<Tensor>& results);

// For Guard::step: checks the tensor that backward starts from, and the leaves that the pass reached.
void check_loss(const Tensor& root);
void check_leaves(const std::vector<Node*>& leaves);

// The facts about a bad value, from which hint() derives the likely cause as a sentence ("" when unknown).
struct Suspect {
  std::string_view op;
  bool backward;
  std::vector<Contents> operands;    // backward: the gradients of the outputs
  Contents result;                   // the bad value
  DType type;                        // of the result
  std::vector<Contents> saved = {};  // backward: inputs, then outputs; count 0 where the value was not saved
};
std::string hint(const Suspect&);

}  // namespace lunagrad
