#pragma once
// Computes the values and gradients of a kept pass again, from its leaves and from the values that no node
// made: bit for bit as the run did, with the random draws that the nodes recorded. Leaves the script's
// gradients, random numbers and listeners unchanged. For the session's thread.
#include <functional>
#include <map>
#include <string>

#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The outputs of a node's call on other operands; records nodes when the tape is on.
TensorList run_again(const KeptNode&, const Values& params, const TensorList& inputs);

struct PassReplay {
  const KeptPass& pass;
  // The value of an input that no node of the pass made, or of a leaf (input -1). Throws Error when it is
  // gone.
  std::function<Tensor(const KeptNode&, int input)> source;
  // They get each value and gradient as it is made. A gradient is a copy if `wants_gradient` says so.
  std::function<void(size_t node, uint32_t output, const Tensor&)> value, gradient;
  std::function<bool(size_t node, uint32_t output)> wants_gradient;
  std::function<void()> check_wanted;  // throws when nobody waits for the results any more
  bool backward = true;

  // Why there is no value for a node, for those that have none.
  std::map<size_t, std::string> run() const;
};

}  // namespace lunagrad
