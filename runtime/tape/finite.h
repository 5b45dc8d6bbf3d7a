#pragma once
// The search for NaN and Inf. With Guard::op each op is looked at as it runs and each gradient as it is
// computed: the first op that makes such a value is an Error of kind numeric that names it, its line, what
// its operands held and the first bad element, with a sentence on the likely cause. An Inf that was there
// before (a mask's -Inf) is passed on in silence. With Guard::step the loss and the gradients of the leaves
// are looked at in each backward pass, with one wait for the device. The level is Context::guard. One thread.
// A FiniteWatch of the thread is told instead, and decides whether the Error is raised.
#include "runtime/tape/tape.h"

namespace lunagrad {

// What a tensor holds; the figures are those of the finite elements.
struct Contents {
  int64_t count = 0, nans = 0, infs = 0, zeros = 0;
  double min = 0, max = 0, mean = 0;
  int64_t first_bad = -1;  // in row-major order
  bool finite() const { return nans + infs == 0; }
};
Contents contents_of(const Tensor&);
// "f32 [2, 3] in 0 … 4, mean 1.5, 2 NaN"
std::string describe_contents(const Tensor&, const Contents&);

// Whether all elements of all tensors are finite; waits once for the device.
bool all_finite(const TensorList&);

// What Guard::op found: the text of the Error, and where.
struct NotFinite {
  std::string message;
  const char* op;
  const Tensor& value;  // the result or gradient that holds it
  SourceLine line;
  const Node* node = nullptr;  // of a gradient: the node whose vjp made it
};
class FiniteWatch {
 public:
  virtual ~FiniteWatch() = default;
  virtual bool raises(const NotFinite&) = 0;  // false: the run goes on
};
// Who is told on this thread from now on; null for nobody.
void set_finite_watch(FiniteWatch*);

// Guard::op. Runs the call, which may be any, and looks at what it made.
void run_guarded(Call&);
// After a write in place by `call`, whose operand 0 held `before`.
void check_written(const Call& call, const Contents& before);
// The gradients that a vjp computed, before the node's values are freed.
void check_gradients(const Node&, const Backward&, const Small<Tensor, 1>& arrived,
                     const std::vector<Tensor>& results);

// Guard::step. The tensor that backward starts from; the leaves that the pass reached.
void check_loss(const Tensor& root);
void check_leaves(const std::vector<Node*>& leaves);

// What is known of a bad value, and the likely cause in a sentence ("" when none is known).
struct Suspect {
  std::string_view op;
  bool backward;
  std::vector<Contents> operands;    // backward: the gradients that arrived
  Contents result;                   // the bad one
  DType type;                        // of the result
  std::vector<Contents> saved = {};  // backward: inputs, then outputs; count 0 where the value was not kept
};
std::string hint(const Suspect&);

}  // namespace lunagrad
