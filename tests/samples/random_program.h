#pragma once
// Random programs over all op samples: calls that read each other's results, in several types, with writes in
// place, views, autocast and a backward pass. Every choice follows from the seed, so that a program can run
// again in another mode.
#include <string>
#include <vector>

#include "runtime/core/tensor.h"

namespace lunagrad::tests {

struct ProgramResult {
  TensorList values;                // of the calls, then the gradients of the leaves
  std::vector<std::string> calls;   // of each value: what made it
  std::vector<std::string> errors;  // of the calls that raised one
};

// Runs 5 to 60 calls on the device.
ProgramResult run_random_program(unsigned seed, Device&);

}  // namespace lunagrad::tests
