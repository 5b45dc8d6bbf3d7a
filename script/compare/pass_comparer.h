#pragma once
// Compares one backward pass of a kept step, node by node, on two sides: first the calls in the order in
// which they ran, then the gradients in the order of the pass. The other side computes each node from the
// reference's values. It also computes the whole pass from its own values, for the inherited error. For the
// session's thread, inside a WithoutListeners.
#include <functional>
#include <map>
#include <unordered_set>

#include "script/compare/judge.h"
#include "script/inspect/step_values.h"

namespace lunagrad {

struct PassQuery {
  StepValues& values;
  size_t pass;  // position in values.passes()
  Side other;
  bool narrows;                        // the other side rounds values: both sides compute with rounded values
  double factor;                       // factor on the allowed rounding error
  std::function<void()> check_wanted;  // throws when the result is no longer wanted
  std::function<void(const ComparedNode&)> begins;  // called before each node; the node has no results yet
};

class PassComparer {
 public:
  explicit PassComparer(const PassQuery&);
  // Appends a row for each call that is not in `seen`, adds these calls to `seen`, and appends a row for each
  // gradient.
  void run(std::unordered_set<uint64_t>& seen, std::vector<ComparedNode>& rows);

 private:
  using Place = std::pair<size_t, uint32_t>;  // an output of a node
  // The gradients of an output so far, one from each node that reads it.
  struct Parts {
    TensorList reference;  // kept only when there are several readers
    TensorList own;        // the other side's, from its own values
  };

  ComparedNode begin_row(size_t node, bool backward) const;
  Tensor value(size_t node, bool input, size_t index) const;
  CallValues values_of(size_t node) const;
  CallValues rounded(const CallValues&) const;
  TensorList own_inputs(size_t node, const CallValues&) const;
  bool is_sole_reader(size_t node, size_t input) const;
  TensorList recorded_gradients(size_t node, const CallValues&) const;
  void forward(size_t node, ComparedNode&);
  void backward(size_t node, ComparedNode&);
  void end_at_leaf(size_t node, ComparedNode&);
  Tensor own_gradient(Place) const;
  TensorList own_seeds(size_t node, const CallValues&) const;
  void pass_on(size_t node, const TensorList& reference, const TensorList& own);
  void compare_sums(size_t node, ComparedNode&);
  TensorList brought(const TensorList&, size_t node) const;

  const PassQuery& query_;
  const KeptPass& pass_;
  const std::vector<KeptNode>& nodes_;
  const Side reference_;
  std::vector<TensorList> own_;  // the results of each node on the other side, from its own values
  std::vector<char> one_node_;   // Computed::one_node of these results
  std::map<Place, Parts> parts_;
  std::map<Place, int> readers_;
  std::map<Place, Tensor> given_;
};

}  // namespace lunagrad
