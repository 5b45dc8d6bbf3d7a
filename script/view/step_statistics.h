#pragma once
// What a viewer sees of the numbers in a training step: of each node of the tape a summary of its output and
// of the gradient that reached it, and of each parameter its gradient's histogram, the size of the weights
// and how far the step moved them. Immutable; any thread may read it. No Lua or engine type.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/statistics/summary.h"
#include "script/view/source_place.h"

namespace lunagrad {

struct ParameterStatistics {
  std::string name;  // "fc1.weight"; of a leaf without a name its place
  std::vector<int64_t> shape;
  SourcePlace place;
  uint64_t node = 0;          // of its leaf, which stays the same from step to step
  bool has_gradient = false;  // a backward pass of this step reached it
  Summary gradient;           // as the last backward pass of the step left it, before clipping
  std::vector<double> edges;  // of the gradient's histogram (statistics.h), of at most 16384 elements
  std::vector<int64_t> counts;
  Summary weight;  // at the end of the step
  // Of the difference between the weights at the end of the step and those behind its first backward pass:
  // whatever the optimizer did, weight decay included. NaN when there was no backward pass.
  double update_norm = 0;

  // How much of itself a parameter moved in the step; NaN when that is not known.
  double update_ratio() const;
};

struct NodeStatistics {
  uint64_t node = 0;
  std::string op, module;
  std::string activation;  // within the op, as "relu" of a linear; empty: none
  SourcePlace place;
  bool has_gradient = false;
  Summary output, gradient;  // of its first output; a count of 0: not looked at
};

struct StepStatistics {
  uint64_t number = 0;  // counts them, also from run to run
  int64_t step = 0;
  int64_t every = 1;   // steps since the one that was looked at before
  double cost_ns = 0;  // what looking took
  std::vector<ParameterStatistics> parameters;
  std::vector<NodeStatistics> nodes;  // of the step's last backward pass, in its order: the loss first

  double gradient_norm() const;  // over all parameters
};
using StepStatisticsPtr = std::shared_ptr<const StepStatistics>;

}  // namespace lunagrad
