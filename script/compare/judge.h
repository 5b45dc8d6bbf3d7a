#pragma once
// Judges the results of one node that two sides computed from the same values: tensor by tensor, with the
// rounding error that the node may have (rounding.h). Indices that differ are judged by the elements that
// they select, since equal elements may come in any order. For the session's thread, inside an
// WithoutListeners.
#include "script/compare/rounding.h"
#include "script/compare/side.h"

namespace lunagrad {

// The results of one node, or the gradients of its inputs. Each list has one entry per tensor; undefined:
// none.
struct NodeResults {
  const KeptNode& node;
  std::vector<std::string> names;
  const CallValues& values;   // the values from which the reference computed them
  const TensorList expected;  // by the reference
  const TensorList found;     // by the other side; undefined where a gradient is 0
  // The same tensors in the whole step, where the reference and the other side each compute from their own
  // values.
  const TensorList reference, own;
  // The same computation in f64, and its operands.
  Evaluation evaluate;
  TensorList operands;
};

// Appends a tensor to the row, and updates the row's verdict and worst tensor.
void add_tensor(TensorError, ComparedNode& row);
// Fills the row's tensors and its verdict.
void judge(const NodeResults&, double factor, ComparedNode& row);

}  // namespace lunagrad
