#pragma once
// Detection of NaN and Inf; the level is Context::guard. Guard::op checks the result of each op and each
// gradient. The first op that makes a NaN or Inf raises an Error of kind numeric with its name and line,
// statistics of its operands, the first bad element and the likely cause. An Inf that an operand already had
// (the -Inf of a mask) is not reported. Guard::step checks the loss and the gradients of the leaves in each
// backward pass, with one wait for the device. The thread's FiniteWatch is called before the Error and
// decides whether it is raised. The thread's RootWatch sees the tensor from which each backward pass starts,
// at every level. For the thread of the tensors.
#include "runtime/tape/node.h"

namespace lunagrad {

// Statistics of a tensor; min, max and mean are taken over the finite elements.
struct Contents {
  int64_t count = 0, nans = 0, infs = 0, zeros = 0;
  int64_t negative_infs = 0;  // of `infs`
  double min = 0, max = 0, mean = 0;
  int64_t first_bad = -1;  // index in row-major order of the first NaN or Inf; -1: none
  bool finite() const { return nans + infs == 0; }
};
Contents contents_of(const Tensor&);
// "f32 [2, 3] from 0 to 4, mean 1.5, 2 NaN and 1 -Inf"
std::string describe_contents(const Tensor&, const Contents&);

// Whether all elements of all tensors are finite; waits once for the device, if all are on one device.
bool all_finite(const TensorList&);

// A finding of Guard::op: the text of the Error, and the op and line.
struct NotFinite {
  std::string message;
  const char* op;
  const Tensor& value;  // the result or gradient that has the NaN or Inf
  SourceLine line;
  const Node* node = nullptr;  // for a gradient: the node whose vjp made it
  const Call* call = nullptr;  // for a result: the call that made it
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
  // called before an outermost backward pass, while the graph has its values
  virtual void root(const Tensor&) = 0;
};
// Sets the root watch of this thread, as set_finite_watch does. Returns the previous watch.
RootWatch* set_root_watch(RootWatch*);
void tell_root(const Tensor&);

// The message of Guard::op about `value`, a result of the op on these operands. Undefined operands are left
// out; the likely cause is given only when all operands are defined.
std::string explain_result(const Op&, const Operands&, const Tensor& value);

// For Guard::op: runs the call and checks its results.
void run_guarded(Call&);
// For Guard::op, after an in-place write by `call`; `before` are the statistics of operand 0 before the
// write.
void check_written(const Call& call, const Contents& before);
// For Guard::op: checks the gradients that a vjp computed for the inputs that need one. `arrived` are the
// outputs' gradients. Call it before the node's saved values are freed.
void check_gradients(const Node&, const Small<Tensor, 1>& arrived, const std::vector<bool>& needs,
                     const std::vector<Tensor>& results);

// For Guard::step: checks the tensor from which backward starts, and the leaves that the pass reached.
void check_loss(const Tensor& root);
void check_leaves(const std::vector<Node*>& leaves);

// The facts about a bad value. hint() derives the likely cause from them, as a sentence ("" when unknown).
struct Suspect {
  std::string_view op;
  bool backward;
  std::vector<Contents> operands;  // in backward: the outputs' gradients
  Contents result;                 // the bad value
  DType type;                      // of the result
  // in backward: inputs, then outputs; count 0 where the value was not saved
  std::vector<Contents> saved = {};
};
std::string hint(const Suspect&);

}  // namespace lunagrad
