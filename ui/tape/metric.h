#pragma once
// The quantities by which the nodes of a tape can be coloured. Pure; any thread.
#include <span>
#include <string>
#include <vector>

#include "script/session.h"
#include "ui/tape/picture.h"

namespace lunagrad {

struct TapeMetric {
  const char* name;
  const char* help;
  double (*of)(const NodeInfo&);  // not a number: not known
  std::string (*text)(double);
  bool summed;  // over the nodes of a closed module; otherwise its largest
};
std::span<const TapeMetric> tape_metrics();
// Known of one node at least.
bool known(const TapeMetric&, const TapeSnapshot&);

// Of each box of a picture.
std::vector<double> box_values(const TapeMetric&, const TapeSnapshot&, const TapePicture&);
// From the least positive value to the largest, on a logarithmic scale: 0 to 1; what is not known or 0 is 0.
struct HeatScale {
  double least = 0, most = 0;
  explicit HeatScale(const std::vector<double>&);
  float of(double value) const;
};

}  // namespace lunagrad
