#pragma once
// Judges what one node computed on two sides from the same values: tensor by tensor, with the rounding that
// the node may have (rounding.h). Indices that differ are judged by the elements that they select, since
// equal elements may come in any order. For the session's thread, inside an Aside.
#include "script/compare/rounding.h"
#include "script/compare/side.h"

namespace lunagrad {

// The results of one node, or the gradients of its inputs. Lists have one entry for each, undefined: none.
struct NodeResults {
  const KeptNode& node;
  std::vector<std::string> names;
  const CallValues& values;   // what the reference computed them from
  const TensorList expected;  // by the reference
  const TensorList found;     // by the other side; undefined where a gradient is 0
  // What the whole step has there: the reference and the other side, each from its own values.
  const TensorList reference, own;
  // The same computation in f64, and what goes into it.
  Evaluation evaluate;
  TensorList operands;
};

// Appends a tensor to the row: its verdict, and which tensor is the worst, follow.
void add_tensor(TensorError, ComparedNode& row);
// Fills the row's tensors and its verdict.
void judge(const NodeResults&, double factor, ComparedNode& row);

}  // namespace lunagrad
