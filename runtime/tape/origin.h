#pragma once
// Traces a NaN or Inf in the result of a recorded graph back to its origin, without running the script again.
// It reads the values that the graph saved for its gradients, and recomputes the values that follow from
// them. For the thread of the tensors; the graph must not have been freed by a backward pass.
#include <optional>
#include <string>

#include "runtime/tape/node.h"

namespace lunagrad {

struct Origin {
  enum class Kind {
    op,     // `node` made it from finite operands, or from an intended Inf
    input,  // an operand of `node` that no recorded op made has it, for example the data
    leaf    // the leaf `node` has it
  } kind = Kind::op;
  const Node* node = nullptr;  // the graph keeps it alive
  size_t operand = 0;          // for `input`: the operand's index
  bool exact = true;           // false: an earlier op, whose values are gone, may have made it
  std::string explanation;     // as in the message of Guard::op; "" when its values are gone
};

// Returns nullopt when the root is finite.
std::optional<Origin> origin_of(const Tensor& root);

}  // namespace lunagrad
