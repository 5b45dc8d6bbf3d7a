#pragma once
// The quantities that can colour the nodes of a tape. Pure; any thread.
#include <span>
#include <string>
#include <vector>

#include "script/session.h"
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
// True if at least one node has a value.
bool known(const TapeMetric&, const TapeSnapshot&);

// The value of each box of a picture.
std::vector<double> box_values(const TapeMetric&, const TapeSnapshot&, const TapePicture&);
// A logarithmic scale from the smallest positive value to the largest: 0 to 1; 0 for unknown values and 0.
struct HeatScale {
  double least = 0, most = 0;
  explicit HeatScale(const std::vector<double>&);
  float of(double value) const;
};

}  // namespace lunagrad
