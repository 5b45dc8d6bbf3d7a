#pragma once
// The quantities that can colour the nodes of a tape. Pure; any thread.
#include <span>
#include <string>
#include <vector>

#include "script/view/tape.h"
#include "ui/tape/picture.h"

namespace lunagrad {

struct TapeMetric {
  const char* name;
  const char* help;
  double (*of)(const NodeInfo&);  // NaN: unknown
  std::string (*text)(double);
  bool summed;  // a closed module shows the sum over its nodes; otherwise the maximum
};
std::span<const TapeMetric> tape_metrics();
// Returns true if at least one node has a value.
bool known(const TapeMetric&, const TapeSnapshot&);

// The value of each box of a picture.
std::vector<double> box_values(const TapeMetric&, const TapeSnapshot&, const TapePicture&);
// A logarithmic scale from the smallest positive value (0) to the largest (1). Values that are unknown or 0
// map to 0.
struct HeatScale {
  double least = 0, most = 0;
  explicit HeatScale(const std::vector<double>&);
  float of(double value) const;
};

}  // namespace lunagrad
