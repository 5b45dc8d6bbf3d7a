// What a chart may not do to the values: show places where no value can be, or move, cut or overshoot a peak.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ui/curves/automatic_scale.h"
#include "ui/curves/plot_frame.h"
#include "ui/runs/journal.h"
#include "ui/runs/library.h"

using namespace lunagrad;

namespace {

using Kind = AxisScale::Kind;

CurveRange range_of(std::vector<double> values) {
  CurveRange range;
  for (const double value : values) range.add(value);
  return range;
}

}  // namespace

TEST_CASE("the margin of an axis crosses neither 0 for values of one sign nor 1 or 100 for shares") {
  const auto span = [](std::vector<double> values, size_t points = 100, Kind kind = Kind::linear) {
    return with_margin(range_of(std::move(values)), {kind, 1e-4}, points);
  };
  for (const size_t points : {size_t(1), size_t(100)}) {
    CHECK(span({0, 1}, points).low == 0);
    CHECK(span({0, 1}, points).high == 1);
    CHECK(span({0.97, 0.999}, points).high == 1);
    CHECK(span({1}, points).high == 1);
    CHECK(span({1}, points).low < 1);
    CHECK(span({0}, points).low == 0);
    CHECK(span({0}, points).high > 0);
    CHECK(span({-3, -0.01}, points).high == 0);
  }
  CHECK(span({12, 100}).high == 100);
  CHECK(span({0.01, 2.3}).low == 0);
  CHECK(span({0.01, 2.3}).high > 2.3);
  CHECK(span({-1, 2}).low < -1);
  CHECK(span({-0.2, 1}).high > 1);  // no share
  CHECK(span({0, 1}, 100, Kind::symlog).low == 0);
  CHECK(span({0.001, 1}, 100, Kind::log).high == 1);
  CHECK(span({0.001, 1}, 100, Kind::log).low < 0.001);
  CHECK(with_margin({}, {}, 0).low == 0);
}

TEST_CASE("the band of a mean accuracy ends at 1, of a mean loss at 0") {
  Curve high, low;
  for (int i = 0; i < 4; ++i) high.append(i, 1), low.append(i, 0.2);
  const MeanCurves accuracy = mean_of({&high, &low});
  CHECK(accuracy.mean.y(2) == doctest::Approx(0.6));
  CHECK(accuracy.high.y(2) == 1);
  CHECK(accuracy.low.y(2) == doctest::Approx(0.6 - 0.4 * std::sqrt(2.0)));
  Curve large, small;
  for (int i = 0; i < 4; ++i) large.append(i, 9), small.append(i, 0.1);
  CHECK(mean_of({&large, &small}).low.y(1) == 0);
  CHECK(mean_of({&large, &small}).high.y(1) > 9);
}

TEST_CASE("sharp tips are cut flat at their height, other corners stay") {
  const std::vector<ImVec2> line{{0, 50}, {10, 48}, {12, 5}, {14, 47}, {14, 20}, {15, 49}, {30, 49}};
  std::vector<ImVec2> made;
  flatten_tips(line, made);
  const auto top = [](const std::vector<ImVec2>& points) {
    return std::min_element(points.begin(), points.end(), [](ImVec2 a, ImVec2 b) { return a.y < b.y; })->y;
  };
  CHECK(top(made) == top(line));
  CHECK(std::count_if(made.begin(), made.end(), [](ImVec2 at) { return at.y == 5; }) == 2);
  CHECK(made.front().x == 0);
  CHECK(made.back().x == 30);
  CHECK(made[1].y == 48);
  for (size_t i = 1; i + 1 < made.size(); ++i) {
    const ImVec2 in{made[i].x - made[i - 1].x, made[i].y - made[i - 1].y},
        out{made[i + 1].x - made[i].x, made[i + 1].y - made[i].y};
    CHECK(in.x >= 0);
    CHECK(in.x * out.x + in.y * out.y >= 0);  // no corner sharper than a right angle is left
  }
  for (const std::vector<ImVec2>& few :
       {std::vector<ImVec2>{}, std::vector<ImVec2>{{1, 2}}, std::vector<ImVec2>{{1, 2}, {1, 9}}}) {
    flatten_tips(few, made);
    CHECK(made.size() == few.size());
  }
}

TEST_CASE("a loss that spans two decades gets a logarithmic axis, and keeps it near the limit") {
  CHECK(automatic_scale(range_of({0.1, 9.9}), Kind::linear) == Kind::linear);
  CHECK(automatic_scale(range_of({0.1, 10}), Kind::linear) == Kind::log);
  CHECK(automatic_scale(range_of({0.1, 4}), Kind::log) == Kind::log);
  CHECK(automatic_scale(range_of({0.1, 2}), Kind::log) == Kind::linear);
  CHECK(automatic_scale(range_of({0, 0.1, 90}), Kind::linear) == Kind::symlog);
  CHECK(automatic_scale(range_of({0, 0.1, 1}), Kind::linear) == Kind::linear);
  CHECK(automatic_scale(range_of({-0.1, 90}), Kind::log) == Kind::linear);
  CHECK(automatic_scale(range_of({0}), Kind::linear) == Kind::linear);
  CHECK(automatic_scale({}, Kind::log) == Kind::linear);
}

TEST_CASE("the automatic scale belongs to losses, yields to the user's, and waits while y is zoomed") {
  Curve curve;
  for (const double y : {50.0, 2.0, 0.01}) curve.append(double(curve.size()), y);
  Chart chart;
  chart.title = "loss";
  PlotLine line;
  line.raw = &curve;
  chart.lines.push_back(line);
  PlotState state;
  choose_scale(chart, {}, state);
  CHECK(state.y == Kind::log);
  CHECK(state.automatic);
  choose_scale(chart, Kind::linear, state);
  CHECK(state.y == Kind::linear);
  CHECK_FALSE(state.automatic);
  chart.title = "lr";
  choose_scale(chart, {}, state);
  CHECK(state.y == Kind::linear);
  chart.title = "loss";
  PlotState zoomed;
  zoomed.y_fixed = true;
  choose_scale(chart, {}, zoomed);
  CHECK(zoomed.y == Kind::linear);
  zoomed.y_fixed = false;
  choose_scale(chart, {}, zoomed);
  CHECK(zoomed.y == Kind::log);
  chart.lines.clear();
  choose_scale(chart, {}, zoomed);
  CHECK(zoomed.y == Kind::linear);
}

TEST_CASE("the default smoothing leaves a peak of one step near its step and visible") {
  CHECK(Journal().smoothing() == kDefaultSmoothing);
  Metric loss("loss", kDefaultSmoothing);
  for (int step = 1; step <= 100; ++step) loss.append(step, step, step == 49 ? 10.44 : 1);
  size_t highest = 0;
  for (size_t i = 0; i < loss.smooth.size(); ++i)
    if (loss.smooth.y(i) > loss.smooth.y(highest)) highest = i;
  CHECK(loss.smooth.x(highest) == 49);
  CHECK(loss.smooth.y(highest) > 4);
  CHECK(loss.raw.range(0, loss.raw.size()).max == 10.44);
  // Each pixel column of a long run shows its largest value.
  Curve run;
  for (int step = 0; step < 100000; ++step) run.append(step, step == 4900 ? 10.44 : 1);
  const PlotFrame frame({0, 0}, {800, 400}, {}, 0, 99999, {}, 0, 11);
  float top = 400, at = 0;
  trace(run, frame, [&](const std::vector<ImVec2>& points) {
    for (const ImVec2& point : points)
      if (point.y < top) top = point.y, at = point.x;
  });
  CHECK(top == doctest::Approx(double(frame.py(10.44))));
  CHECK(std::abs(at - frame.px(4900)) <= 1);
}
