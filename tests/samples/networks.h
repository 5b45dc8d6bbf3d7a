#pragma once
// Small networks that use the ops of real ones, each a function of one seed: it makes its parameters and data
// and returns the loss. For tests that look at every node of a step.
#include <string>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad::tests {

struct Network {
  std::string name;
  Tensor (*loss)();
};

std::vector<Network> networks();

}  // namespace lunagrad::tests
