// The geometry of charts, and the cost of drawing them.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"
#include "ui/curves/plot.h"
#include "ui/curves/plot_frame.h"
#include "ui/window/theme.h"

using namespace lunagrad;

namespace {

using Kind = AxisScale::Kind;

PlotFrame frame_of(double x1, double y0, double y1, Kind y = Kind::linear) {
  return PlotFrame({0, 0}, {800, 400}, {}, 0, x1, {y, 1}, y0, y1);
}

uint64_t noise_state = 1;
double noise() {
  noise_state = noise_state * 6364136223846793005u + 1442695040888963407u;
  return double(noise_state >> 40) / double(1 << 24);
}

}  // namespace

TEST_CASE("a scale's inverse is exact on both sides of 0") {
  for (const Kind kind : {Kind::linear, Kind::symlog})
    for (const double value : {-1e6, -3.0, -1e-4, 0.0, 1e-4, 0.5, 7e5}) {
      const AxisScale scale{kind, 0.01};
      CHECK(scale.inverse(scale.forward(value)) == doctest::Approx(value));
    }
  const AxisScale log{Kind::log, 1};
  CHECK(log.inverse(log.forward(3e-7)) == doctest::Approx(3e-7));
  CHECK_FALSE(log.shows(0));
  CHECK(AxisScale{Kind::symlog, 1}.shows(-5));
  CHECK_FALSE(AxisScale{Kind::symlog, 1}.shows(std::nan("")));
  // log10(1 + 9 / 1) = 1, and -1 for -9.
  CHECK(AxisScale{Kind::symlog, 1}.forward(9) == doctest::Approx(1));
  CHECK(AxisScale{Kind::symlog, 1}.forward(-9) == doctest::Approx(-1));
}

TEST_CASE("symlog ticks are 0 and powers of ten of both signs, in order, and not too many") {
  const auto ticks = symlog_axis_ticks(0.01, -150, 2000, 12);
  CHECK(std::is_sorted(ticks.begin(), ticks.end()));
  CHECK(std::find(ticks.begin(), ticks.end(), 0.0) != ticks.end());
  CHECK(ticks.front() >= -150);
  CHECK(ticks.back() == doctest::Approx(1000));
  CHECK(ticks.size() <= 14);
  for (const double tick : ticks)
    if (tick != 0)
      CHECK(std::abs(std::log10(std::abs(tick)) - std::round(std::log10(std::abs(tick)))) < 1e-9);
  // Near 0 the axis is linear, and so are its ticks.
  CHECK(symlog_axis_ticks(1, -0.5, 0.5, 5) == axis_ticks(-0.5, 0.5, 5));
  CHECK(symlog_axis_ticks(1, 5, 5, 5).empty());
  CHECK(symlog_threshold(300) == doctest::Approx(0.01));
}

TEST_CASE("a linear axis has at least two labels") {
  for (double low = 0.9; low < 1; low += 0.003) CHECK(axis_ticks(low, low + 0.095, 3).size() >= 2);
}

TEST_CASE("ticks end where neighbouring doubles are far apart") {
  const double high = std::nextafter(1e300, INFINITY);
  CHECK(axis_ticks(1e300, high, 6).size() <= 7);
  CHECK(axis_ticks(0, std::numeric_limits<double>::denorm_min(), 6).size() <= 7);
}

TEST_CASE("the polyline of a million points has two points per column and keeps every extreme") {
  Curve curve;
  for (int i = 0; i < 1000000; ++i) curve.append(i, i == 654321 ? 50 : noise());
  const PlotFrame frame = frame_of(999999, 0, 60);
  size_t count = 0;
  float highest = 400;
  trace(curve, frame, [&](const std::vector<ImVec2>& points) {
    count += points.size();
    for (const ImVec2& point : points) highest = std::min(highest, point.y);
  });
  CHECK(count <= 1600);
  CHECK(highest == doctest::Approx(double(frame.py(50))));
}

TEST_CASE("each column of the polyline has the same extremes as a linear scan") {
  Curve curve;
  for (int i = 0; i < 30000; ++i) curve.append(i, noise() + std::sin(i * 1e-3));
  REQUIRE(curve.merged() == 0);
  const PlotFrame frame = frame_of(29999, -2, 3);
  std::vector<float> top(801, 1e9f), bottom(801, -1e9f);
  trace(curve, frame, [&](const std::vector<ImVec2>& points) {
    for (const ImVec2& point : points) {
      const size_t column = size_t(point.x);
      top[column] = std::min(top[column], point.y);
      bottom[column] = std::max(bottom[column], point.y);
    }
  });
  size_t begin = 0, columns = 0;
  for (int px = 0; px < 800; ++px) {
    size_t end = begin;
    CurveRange plain;
    while (end < curve.size() && curve.x(end) < frame.x_at(float(px + 1))) plain.add(curve.y(end++));
    if (end > begin) {
      ++columns;
      CHECK(top[size_t(px)] == doctest::Approx(double(frame.py(plain.max))));
      CHECK(bottom[size_t(px)] == doctest::Approx(double(frame.py(plain.min))).epsilon(0.01));
    }
    begin = end;
  }
  CHECK(columns == 800);
}

TEST_CASE("what is merged draws the extremes of its place, shown as a whole and zoomed in to a few buckets") {
  constexpr int kPoints = 1000000;
  Curve curve;
  std::vector<double> values;
  for (int i = 0; i < kPoints; ++i) {
    values.push_back(0.2 * noise() + 0.2 * std::sin(i * 1e-5) + (i % 5000 == 17 ? 3 : 0));
    curve.append(i, values.back());
  }
  REQUIRE(curve.merged() > 0);
  const double bucket = double(curve.bucket(0).points);
  for (const double span : {double(kPoints - 1), 20 * bucket}) {
    const PlotFrame frame = frame_of(span, -2, 6);
    size_t spikes = 0;
    trace(curve, frame, [&](const std::vector<ImVec2>& points) {
      for (const ImVec2& point : points) {
        // There is a true value at this height, at most a bucket and a pixel away.
        const double at = frame.x_at(point.x), reach = bucket + span / 800;
        if (at < 0 || at > span) continue;
        bool found = false;
        for (int i = std::max(0, int(at - reach)); i < std::min(kPoints, int(at + reach) + 1); ++i)
          found |= std::abs(frame.py(values[size_t(i)]) - point.y) < 1e-3f;
        CHECK(found);
        spikes += point.y < frame.py(2);
      }
    });
    // Each spike is drawn.
    CHECK(spikes >= size_t(span / 5000));
  }
}

TEST_CASE("NaN and Inf break the line: 1, NaN, 2, Inf, 3 are three dots, in a range of 1 to 3") {
  Curve curve;
  for (const double y : {1.0, std::nan(""), 2.0, double(INFINITY), 3.0})
    curve.append(double(curve.size()), y);
  std::vector<size_t> stretches;
  trace(curve, frame_of(4, 0, 4),
        [&](const std::vector<ImVec2>& points) { stretches.push_back(points.size()); });
  CHECK(stretches == std::vector<size_t>{1, 1, 1});
  PlotLine line;
  line.raw = &curve;
  PlotAxis axis;
  axis.low = 0;
  axis.high = 4;
  const PlotRange range = y_range({line}, axis, {});
  CHECK(range.low == doctest::Approx(1 - 0.12));
  CHECK(range.high == doctest::Approx(3 + 0.12));
}

TEST_CASE(
    "points that were not measured one after the other are not joined, unless they are two pixels apart") {
  Curve curve;
  for (const double x : {0., 1., 2., 10., 11., 40., 80., 81.}) curve.append(x, 1);
  std::vector<size_t> stretches;
  const auto count = [&](const std::vector<ImVec2>& points) { stretches.push_back(points.size()); };
  trace(curve, frame_of(81, 0, 4), count, 1);
  CHECK(stretches == std::vector<size_t>{3, 2, 1, 2});
  stretches.clear();
  trace(curve, frame_of(81, 0, 4), count);
  CHECK(stretches == std::vector<size_t>{8});
  // With many points in each pixel only gaps that can be seen are left.
  Curve dense;
  for (int i = 0; i < 30000; ++i)
    if (i < 9000 || i > 12000) dense.append(4 * i, 1);
  stretches.clear();
  trace(dense, frame_of(120000, 0, 4), count, 1);
  CHECK(stretches.size() == 2);
}

TEST_CASE("samples of one rate are joined, also if it varies; a stretch that was not measured is a gap") {
  const auto stretches_of = [](const std::vector<double>& steps) {
    Curve curve;
    for (const double step : steps) curve.append(step, 1);
    std::vector<size_t> stretches;
    trace(
        curve, frame_of(steps.back(), 0, 4),
        [&](const std::vector<ImVec2>& points) { stretches.push_back(points.size()); }, kSampleReach);
    return stretches;
  };
  using Stretches = std::vector<size_t>;
  CHECK(stretches_of({4, 8, 12, 16, 20, 24}) == Stretches{6});
  CHECK(stretches_of({300, 610, 905, 1250, 1540}) == Stretches{5});
  // The step of a pause between two samples.
  CHECK(stretches_of({300, 600, 900, 913, 1200, 1500}) == Stretches{6});
  // Nobody measured from 5,038 to the pause in 7,619, nor from there to 12,000.
  CHECK(stretches_of({5000, 5019, 5038, 7619, 7640, 7660}) == Stretches{3, 3});
  CHECK(stretches_of({5000, 5019, 5038, 7619, 12000, 12020, 12040}) == Stretches{3, 1, 3});
  CHECK(stretches_of({5000, 5019, 5038, 7619}) == Stretches{3, 1});
  // Two samples do not tell what is usual.
  CHECK(stretches_of({10, 500}) == Stretches{1, 1});
  CHECK(stretches_of({10}) == Stretches{1});
}

TEST_CASE("samples have dots of a readable size as long as these do not touch") {
  CHECK(dot_radius(10, 400, 3) == 3);
  CHECK(dot_radius(1, 400, 3) == 3);
  CHECK(dot_radius(0, 400, 3) == 3);
  CHECK(dot_radius(100, 400, 3) == 0);
}

TEST_CASE("a logarithmic axis omits and counts values that are not positive") {
  Curve curve;
  for (const double y : {1.0, 0.0, -2.0, 100.0}) curve.append(double(curve.size()), y);
  CHECK(curve.not_positive_count() == 2);
  size_t shown = 0;
  trace(curve, frame_of(3, 0.5, 200, Kind::log),
        [&](const std::vector<ImVec2>& points) { shown += points.size(); });
  CHECK(shown == 2);
}

TEST_CASE("points after a step can be dropped") {
  Curve curve;
  for (int i = 0; i < 5000; ++i) curve.append(i, i == 4000 ? std::nan("") : i);
  curve.drop_after(299);
  CHECK(curve.size() == 300);
  CHECK(curve.nan_count() == 0);
  CHECK(curve.range(0, 300).max == 299);
  CHECK(curve.append(300, 1));
}

TEST_CASE("an axis fits, follows and begins above 0 when it is logarithmic") {
  PlotAxis axis;
  axis.update(0, 1000, 1);
  CHECK(axis.low == 0);
  CHECK(axis.high == 1000);
  axis.mode = PlotAxis::Mode::follow;
  axis.update(0, 1000, 1);
  CHECK(axis.low == 800);
  axis.mode = PlotAxis::Mode::fit;
  axis.scale.kind = Kind::log;
  axis.update(0, 1000, 1);
  CHECK(axis.low == 1);
}

TEST_CASE("the only point is in the middle, and steps are whole numbers") {
  PlotAxis axis;
  axis.update(10, 10, 10);
  CHECK(axis.ticks(9) == std::vector<double>{9, 10, 11});
  axis.label = "seconds";
  CHECK(axis.ticks(9).size() > 3);
}

TEST_CASE("a mark has the longest label that fits; several marks are counted by kind") {
  const PlotMark lr{1, "edit", "lr 0.05", 0, ""}, reload{2, "reload", "", 0, ""};
  const auto labels = [](std::vector<const PlotMark*> marks) { return mark_labels(marks); };
  CHECK(labels({&lr}) == std::vector<std::string>{"lr 0.05", "edit", "E"});
  CHECK(labels({&reload}) == std::vector<std::string>{"reload", "R"});
  CHECK(labels({&lr, &reload, &lr}) == std::vector<std::string>{"2 edits, 1 reload", "3 marks", "3"});
}

namespace {

// CPU time in milliseconds of the fastest of some frames with so many curves, raw and smoothed: the fastest
// one is the least disturbed by other load.
double fastest_frame(int curves, int points) {
  IMGUI_CHECKVERSION();
  ImGuiContext* context = ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  ImGui::GetIO().BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;  // as in the window
  load_fonts(1);
  set_theme(true);
  unsigned char* pixels = nullptr;
  int width = 0, height = 0;
  ImGui::GetIO().Fonts->GetTexDataAsAlpha8(&pixels, &width, &height);
  ImGui::GetIO().DisplaySize = {1280, 800};
  std::vector<Curve> raw(static_cast<size_t>(curves)), smooth(raw.size());
  std::vector<PlotLine> lines;
  for (size_t k = 0; k < raw.size(); ++k) {
    Smoother smoother(0.9);
    for (int i = 0; i < points; ++i) {
      const double y = std::exp(-i * 3.0 / points) + 0.2 * noise() + 0.1 * double(k);
      raw[k].append(i, y);
      smooth[k].append(i, smoother.next(i, y));
    }
    lines.push_back({.name = "loss " + std::to_string(k),
                     .raw = &raw[k],
                     .smooth = &smooth[k],
                     .color = theme().series[k % theme().series.size()],
                     .dash = int(k + 1) % 4});
  }
  PlotAxis axis;
  PlotState state;
  const PlotColors colors{0, 0, ~0u, ~0u, ~0u, ~0u, 0, ~0u};
  double fastest = INFINITY;
  for (int i = 0; i < 40; ++i) {
    const double begin = tests::thread_seconds();
    ImGui::GetIO().DeltaTime = 1.0f / 60;
    ImGui::NewFrame();
    ImGui::SetNextWindowSize({1200, 760});
    ImGui::Begin("charts");
    axis.update(0, points - 1, 1);
    draw_plot("loss", "loss", lines, {}, true, {1150, 700}, axis, state, colors);
    ImGui::End();
    ImGui::Render();
    fastest = std::min(fastest, 1e3 * (tests::thread_seconds() - begin));
  }
  ImGui::DestroyContext(context);
  return fastest;
}

}  // namespace

TEST_CASE("a frame with a million points takes less than 4 ms, in one curve and in ten") {
  const double one = fastest_frame(1, 1000000), ten = fastest_frame(10, 100000);
  MESSAGE("frame of 1e6 points, raw and smoothed: in one curve " << one << " ms, in ten " << ten << " ms");
  CHECK_TIME(one < 4);
  CHECK_TIME(ten < 4);
}

TEST_CASE("a click beside a peak goes to its step, a click on empty ground to the step under the mouse") {
  ImGuiContext* const context = ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.DisplaySize = {1280, 800};
  io.DeltaTime = 1;  // longer than a double click
  load_fonts(1);
  io.Fonts->Build();
  Curve loss;
  for (int step = 1; step <= 400; ++step) loss.append(step, step == 148 ? 5 : 0.1);
  PlotAxis axis;
  PlotState state;
  const PlotColors colors{0, 0, ~0u, ~0u, ~0u, ~0u, 0, ~0u};
  PlotShown shown;
  const auto draw = [&] {
    ImGui::NewFrame();
    ImGui::SetNextWindowPos({0, 0});
    ImGui::SetNextWindowSize({500, 400});
    ImGui::Begin("charts");
    axis.update(1, 400, 1);
    shown = draw_plot("loss", "loss", {{.name = "loss", .raw = &loss}}, {}, true, {450, 350}, axis, state,
                      colors);
    ImGui::End();
    ImGui::Render();
  };
  const auto clicked = [&](double step, double height, float aside) {
    draw();
    draw();
    const float x = shown.min.x + (shown.max.x - shown.min.x) * float((step - 1) / 399);
    const float y = shown.max.y - (shown.max.y - shown.min.y) * float(height);
    io.MousePos = {x + aside, y};
    std::optional<double> found;
    for (const bool down : {false, true, false, false, false}) {
      io.MouseDown[0] = down;
      draw();
      if (shown.clicked) found = shown.clicked;
    }
    REQUIRE(found);
    return *found;
  };
  // 5 is near the upper edge.
  CHECK(clicked(148, 0.97, 6) == 148);
  CHECK(clicked(148, 0.97, -6) == 148);
  CHECK(std::abs(clicked(160, 0.5, 0) - 160) < 1);
  ImGui::DestroyContext(context);
}
