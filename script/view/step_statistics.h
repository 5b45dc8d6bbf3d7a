#pragma once
// Statistics of a training step: for each node of the tape a summary of its output and its gradient; for each
// parameter the histogram of its gradient, the norm of the weights and of their update. Immutable; any thread
// may read it. No Lua or engine type.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/statistics/summary.h"
#include "script/view/source_place.h"

namespace lunagrad {

struct ParameterStatistics {
  std::string name;  // "fc1.weight"; for a leaf without a name, its source line
  std::vector<int64_t> shape;
  SourcePlace place;
  uint64_t node = 0;          // id of its leaf node, which is the same in every step
  bool has_gradient = false;  // a backward pass of this step reached it
  bool optimized = false;     // an optimizer updated it in this step
  SourcePlace updated_at;     // the line that called the optimizer; line 0: none did
  Summary gradient;           // after the last backward pass of the step, before clipping
  std::vector<double> edges;  // histogram of the gradient (statistics.h), over at most 16384 elements
  std::vector<int64_t> counts;
  Summary weight;  // weights at the end of the step
  // Norm of the difference between the weights at the end of the step and after its first backward pass: the
  // optimizer's update, weight decay included. NaN when there was no backward pass.
  double update_norm = 0;

  // The norm of the update divided by the norm of the weights; NaN when unknown.
  double update_ratio() const;
};

struct NodeStatistics {
  uint64_t node = 0;
  std::string op, module;
  std::string activation;  // fused into the op, such as "relu" of a linear; empty: none
  SourcePlace place;
  bool has_gradient = false;
  Summary output, gradient;  // of the first output; a count of 0: not measured
};

struct StepStatistics {
  // The latest steps stay, within both limits: without the limit of bytes, the statistics of a model of many
  // parameters would grow for an hour.
  static constexpr size_t kMostSteps = 2000, kMostBytes = size_t(32) << 20;

  uint64_t number = 0;  // grows by one per measured step, also across runs
  int64_t step = 0;
  int64_t every = 1;   // steps since the previous measured one
  double cost_ns = 0;  // time spent on measuring
  std::vector<ParameterStatistics> parameters;
  std::vector<NodeStatistics> nodes;  // in the order of the step's last backward pass: the loss first

  double gradient_norm() const;  // over all parameters
  size_t bytes() const;          // of memory
};
using StepStatisticsPtr = std::shared_ptr<const StepStatistics>;

}  // namespace lunagrad
