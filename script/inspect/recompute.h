#pragma once
// Recomputes the values and gradients of a kept pass, from its leaves and from the values that no node made:
// bit for bit as in the run, with the random draws that the nodes recorded. Leaves the script's gradients,
// random numbers and listeners unchanged. For the session's thread.
#include <functional>
#include <map>
#include <string>

#include "script/inspect/kept_pass.h"

namespace lunagrad {

// The outputs of a node's call on other operands; records nodes when the tape is on.
TensorList run_again(const KeptNode&, const Values& params, const TensorList& inputs);

struct PassRecomputation {
  const KeptPass& pass;
  // Returns the value of an input that no node of the pass made, or of a leaf (input -1). Throws Error when
  // the value no longer exists.
  std::function<Tensor(const KeptNode&, int input)> source;
  // Called with each value and each gradient as it is computed. The gradient is a copy, passed if
  // `wants_gradient` returns true.
  std::function<void(size_t node, uint32_t output, const Tensor&)> value, gradient;
  std::function<bool(size_t node, uint32_t output)> wants_gradient;
  std::function<void()> check_wanted;  // throws when the results are no longer wanted
  bool backward = true;

  // Returns the nodes without a value, each with the reason.
  std::map<size_t, std::string> run() const;
};

}  // namespace lunagrad
