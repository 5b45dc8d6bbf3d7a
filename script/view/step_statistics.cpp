#include "script/view/step_statistics.h"

#include <cmath>

namespace lunagrad {

double ParameterStatistics::update_ratio() const {
  if (!weight.finite()) return std::nan("");
  return weight.norm > 0 ? update_norm / weight.norm : std::nan("");
}

double StepStatistics::gradient_norm() const {
  double squares = 0;
  for (const ParameterStatistics& p : parameters)
    if (p.has_gradient) squares += p.gradient.finite() ? p.gradient.norm * p.gradient.norm : std::nan("");
  return std::sqrt(squares);
}

size_t StepStatistics::bytes() const {
  size_t bytes = sizeof *this + nodes.size() * sizeof(NodeStatistics);
  for (const ParameterStatistics& p : parameters)
    bytes += sizeof p + p.edges.capacity() * sizeof(double) + p.counts.capacity() * sizeof(int64_t);
  return bytes;
}

}  // namespace lunagrad
