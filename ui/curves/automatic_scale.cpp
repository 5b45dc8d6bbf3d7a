#include "ui/curves/automatic_scale.h"

namespace lunagrad {

AxisScale::Kind automatic_scale(const CurveRange& of_loss, AxisScale::Kind before) {
  using Kind = AxisScale::Kind;
  constexpr double kTurns = 100, kStays = 30;  // ratios of the largest to the least positive value
  if (of_loss.empty() || of_loss.min < 0) return Kind::linear;
  const double least = before == Kind::linear ? kTurns : kStays;
  if (!(of_loss.max >= least * of_loss.least_positive)) return Kind::linear;
  return of_loss.min > 0 ? Kind::log : Kind::symlog;
}

void choose_scale(const Chart& chart, std::optional<AxisScale::Kind> chosen, PlotState& state) {
  if (!is_loss(chart.title)) {
    state.automatic_y = AxisScale::Kind::linear;
  } else if (!state.y_fixed) {
    CurveRange values;
    for (const PlotLine& line : chart.lines) values.add(line.raw->range(0, line.raw->size()));
    state.automatic_y = automatic_scale(values, state.automatic_y);
  }
  state.automatic = !chosen;
  state.y = chosen.value_or(state.automatic_y);
}

}  // namespace lunagrad
