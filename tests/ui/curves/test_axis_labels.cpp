#include <doctest/doctest.h>

#include <set>
#include <string>

#include "ui/base/axis_scale.h"
#include "ui/curves/plot.h"

using namespace lunagrad;

TEST_CASE("the labels of an axis differ from each other, on every scale and in every range") {
  for (const AxisScale::Kind kind : {AxisScale::Kind::linear, AxisScale::Kind::log, AxisScale::Kind::symlog})
    for (const double low : {1e-9, 3.1e-4, 0.0211, 0.4, 0.97, 1.0, 812.0})
      for (const double factor : {1.00001, 1.01, 1.2, 2.0, 7.0, 100.0, 1e9})
        for (const int count : {3, 5, 9}) {
          const AxisScale scale{kind, symlog_threshold(low * factor)};
          const std::vector<double> ticks = axis_ticks(scale, low, low * factor, count);
          std::set<std::string> labels;
          for (size_t i = 0; i < ticks.size(); ++i)
            labels.insert(axis_number(ticks[i], tick_distance(scale, ticks, i)));
          CHECK_MESSAGE(labels.size() == ticks.size(), name_of(kind), " from ", low, " to ", low * factor);
        }
}
