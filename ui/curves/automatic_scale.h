#pragma once
// The scale that the y axis of a chart has while the user has not chosen one. Pure functions.
#include <optional>

#include "ui/curves/chart_model.h"
#include "ui/curves/plot_data.h"

namespace lunagrad {

// Logarithmic if the values of a loss, none of them negative, span at least two decades; symlog if some are
// 0, so that the axis hides no value; otherwise linear. `before` is the answer for the values so far: an axis
// that is no longer linear stays so down to a decade and a half, so that values near the limit do not make
// the chart change again and again.
AxisScale::Kind automatic_scale(const CurveRange& of_loss, AxisScale::Kind before);

// Sets the scale of a chart's y axis: the chosen one, or else the automatic one. While the user has zoomed y,
// the automatic scale stays. The values of hidden lines and of steps out of sight count, so that neither
// hiding a line nor zooming x changes the scale.
void choose_scale(const Chart&, std::optional<AxisScale::Kind> chosen, PlotState&);

}  // namespace lunagrad
