#pragma once
// Traces a NaN or Inf that a recorded graph led to back to where it came from, without running the script
// again: the values that the graph saved for its gradients are read, and those that follow from them are
// computed again. For the thread of the tensors; the graph must not have been freed by a backward pass.
#include <optional>
#include <string>

#include "runtime/tape/node.h"

namespace lunagrad {

struct Origin {
  enum class Kind {
    op,     // `node` made it from finite operands, or from an Inf that the user asked for
    input,  // an operand of `node` that no recorded op made, such as the data, holds it
    leaf    // the leaf `node` holds it
  } kind = Kind::op;
  const Node* node = nullptr;  // the graph keeps it alive
  size_t operand = 0;          // input: its position
  bool exact = true;           // false: an op before `node`, whose values are gone, may have made it
  std::string explanation;     // as the message of Guard::op; "" when its values are gone
};

// Nothing when the root is finite.
std::optional<Origin> origin_of(const Tensor& root);

}  // namespace lunagrad
