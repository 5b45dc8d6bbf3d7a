// From logged values to charts and files: axes, means, marks, filters, CSV, SVG.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <sstream>

#include "tests/support/files.h"
#include "ui/curves/chart_export.h"
#include "ui/curves/chart_model.h"
#include "ui/runs/journal.h"

using namespace lunagrad;

namespace {

RunCurves run_of(const char* name, const char* group, double offset) {
  RunCurves run;
  run.name = run.folder = name;
  run.group = group;
  for (int i = 1; i <= 10; ++i) run.metric("loss", 0).append(i, i * 0.5, offset + i);
  return run;
}

const ChartColors kColors{{1, 2, 3, 4, 5, 6, 7}, 8, 9, 10, 11};

Event param(const char* name, const char* value, int64_t step) {
  Event made{};
  made.kind = Event::Kind::param;
  made.text = value;
  made.step = step;
  made.metrics = {{name, std::nan("")}};
  return made;
}

// True for a text with only nested elements, quoted attributes and known entities: well-formed XML as our SVG
// uses it.
bool well_formed(const std::string& text) {
  std::vector<std::string> open;
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 && c != '\n') return false;
    if (c == '&') {
      const std::string rest = text.substr(i, 6);
      if (!rest.starts_with("&amp;") && !rest.starts_with("&lt;") && !rest.starts_with("&gt;") &&
          !rest.starts_with("&quot;"))
        return false;
    }
    if (c == '>') return false;  // outside of a tag: tags are skipped as a whole below
    if (c != '<') continue;
    size_t end = i + 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return false;
    }
    if (end == text.size() || quoted) return false;
    const std::string tag = text.substr(i + 1, end - i - 1), name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.starts_with("/")) {
      if (open.empty() || open.back() != tag.substr(1)) return false;
      open.pop_back();
    } else if (!tag.ends_with("/")) {
      open.push_back(name);
    }
    i = end;
  }
  return open.empty() && !text.empty();
}

}  // namespace

TEST_CASE("the well-formedness check rejects malformed XML") {
  CHECK(well_formed("<a b=\"c\"><d/>x &lt; y</a>"));
  for (const char* wrong :
       {"<a>", "<a></b>", "<a>&</a>", "<a b=\"<\"/>", "a > b", "<a b=\"c/>", "<a>\x01</a>", ""})
    CHECK_FALSE(well_formed(wrong));
}

TEST_CASE("a metric is shown over steps, seconds or samples, with the smoothing of its steps") {
  Metric loss("loss", 0.9);
  Curve samples;
  for (int i = 1; i <= 4; ++i) {
    loss.append(i * 10, i * 2.5, i);
    if (i < 4) samples.append(i * 10, i * 640);
  }
  CHECK(loss.over(XAxis::step, nullptr).raw->x(3) == 40);
  const Metric::Pair time = loss.over(XAxis::time, nullptr);
  CHECK(time.raw->x(3) == 10);
  CHECK(time.smooth->y(3) == loss.smooth.y(3));
  // The last point waits until the samples of its step are known.
  CHECK(loss.over(XAxis::samples, &samples).raw->size() == 3);
  CHECK(loss.over(XAxis::samples, &samples).raw->x(2) == 1920);
  samples.append(50, 3200);
  REQUIRE(loss.over(XAxis::samples, &samples).raw->size() == 4);
  CHECK(loss.over(XAxis::samples, &samples).raw->x(3) == doctest::Approx(2560));
  // More points are added to the axis that is shown.
  loss.append(50, 12, 5);
  CHECK(loss.over(XAxis::samples, &samples).raw->x(4) == 3200);
  CHECK_FALSE(loss.over(XAxis::time, nullptr).raw->size() == 4);
}

TEST_CASE(
    "a million values of a metric take bounded memory, and each axis and smoothing keeps them together") {
  Metric loss("loss", 0.9), samples("samples", 0.9);
  size_t most = 0;
  for (int64_t i = 1; i <= 1000000; ++i) {
    loss.append(i, double(i) / 500, i == 300000 ? 9 : double(i % 2));
    samples.append(i, double(i) / 500, double(i) * 64);
    if (i % 1000 == 0) loss.over(i < 500000 ? XAxis::time : XAxis::samples, &samples.raw);
    if (i <= 500000) most = std::max(most, loss.bytes());
  }
  MESSAGE("bytes ", loss.bytes());
  CHECK(loss.bytes() < 8 << 20);
  CHECK(loss.bytes() <= most + most / 4);
  REQUIRE(loss.smooth.size() == loss.raw.size());
  for (size_t i = 0; i < loss.raw.size(); ++i) {
    REQUIRE(loss.smooth.x(i) == loss.raw.x(i));
    REQUIRE(loss.time(i) == loss.raw.x(i) / 500);
  }
  for (const XAxis axis : {XAxis::time, XAxis::samples}) {
    const Metric::Pair over = loss.over(axis, &samples.raw);
    REQUIRE(over.raw->size() == loss.raw.size());
    CHECK(over.raw->points() == 1000000);
    CHECK(over.raw->merged() == loss.raw.merged());
    CHECK(over.raw->range(0, over.raw->size()).max == 9);
    const double scale = axis == XAxis::time ? 1.0 / 500 : 64;
    for (size_t i = 0; i < over.raw->size(); ++i)
      REQUIRE(over.raw->x(i) == doctest::Approx(loss.raw.x(i) * scale));
    CHECK(over.raw->first_x(1) == doctest::Approx(loss.raw.first_x(1) * scale).epsilon(1e-3));
  }
  // A new smoothing begins with the means of the merged points; their mean is the mean of all values.
  loss.set_smoothing(0.999);
  REQUIRE(loss.smooth.size() == loss.raw.size());
  for (size_t i = 1000; i < loss.smooth.size(); i += 100)
    if (std::abs(loss.raw.x(i) - 300000) > 20000)
      CHECK(loss.smooth.y(i) == doctest::Approx(0.5).epsilon(0.01));
  loss.drop_after(999000);
  CHECK(loss.raw.x(loss.raw.size() - 1) == 999000);
  CHECK(loss.time(loss.raw.size() - 1) == 999000.0 / 500);
  CHECK(loss.smooth.size() == loss.raw.size());
}

TEST_CASE("CSV of a long run has the points of its folder in the place of merged ones") {
  const tests::Folder folder;
  RunCurves run;
  run.name = "long";
  run.folder = folder.file(".");
  std::ofstream rows(folder.file("metrics.jsonl"));
  Metric& loss = run.metric("loss", 0.9);
  Smoother smoother(0.9);
  std::vector<double> smoothed;
  constexpr int kPoints = 100000;
  for (int i = 1; i <= kPoints; ++i) {
    loss.append(i, i * 0.5, 1.0 / i);
    smoothed.push_back(smoother.next(i, 1.0 / i));
    // The latest rows have yet to be written.
    if (i < kPoints - 100)
      rows << "{\"step\":" << i << ",\"time\":" << i * 0.5
           << ",\"metrics\":{\"loss\":" << std::setprecision(17) << 1.0 / i << "}}\n";
  }
  rows.close();
  std::vector<CsvSeries> all = {{run, loss}};
  REQUIRE(all[0].merged > 0);
  CHECK(complete(all));
  REQUIRE(all[0].steps.size() == kPoints);
  for (int i = 0; i < kPoints; ++i) {
    REQUIRE(all[0].steps[size_t(i)] == i + 1);
    REQUIRE(all[0].values[size_t(i)] == 1.0 / (i + 1));
    REQUIRE(all[0].smoothed[size_t(i)] == smoothed[size_t(i)]);
  }
  run.folder.clear();
  std::vector<CsvSeries> merged = {{run, loss}};
  CHECK_FALSE(complete(merged));
  CHECK(merged[0].steps.size() == loss.raw.size());
}

TEST_CASE("rows that a reload invalidated are dropped") {
  Metric loss("loss", 0.5);
  for (int i = 1; i <= 6; ++i) loss.append(i, i, i);
  loss.over(XAxis::time, nullptr);
  loss.drop_after(3);
  loss.append(4, 9, 40);
  CHECK(loss.raw.size() == 4);
  CHECK(loss.raw.y(3) == 40);
  CHECK(loss.time(3) == 9);
  CHECK(loss.over(XAxis::time, nullptr).raw->x(3) == 9);
  Metric same("loss", 0.5);
  for (const double y : {1.0, 2.0, 3.0}) same.append(int64_t(y), y, y);
  same.append(4, 9, 40);
  CHECK(loss.smooth.y(3) == same.smooth.y(3));
}

TEST_CASE("the mean and spread of runs, also where their steps differ") {
  Curve a, b, c;
  for (int i = 0; i <= 4; ++i) a.append(i, 1), b.append(i, 3);
  c.append(1, 5);
  c.append(3, 5);
  const MeanCurves mean = mean_of({&a, &b, &c});
  REQUIRE(mean.mean.size() == 5);
  CHECK(mean.mean.y(0) == 2);
  CHECK(mean.mean.y(2) == 3);  // c has 5 there, by interpolation
  CHECK(mean.high.y(2) - mean.mean.y(2) == doctest::Approx(2));
  CHECK(mean.low.y(0) == doctest::Approx(2 - std::sqrt(2.0)));
  CHECK(mean_of({}).mean.size() == 0);
  // Thinned to about the requested number, with the last point.
  Curve longer;
  for (int i = 0; i < 10000; ++i) longer.append(i, i);
  const MeanCurves thin = mean_of({&longer}, 100);
  CHECK(thin.mean.size() <= 102);
  CHECK(thin.mean.x(thin.mean.size() - 1) == 9999);
  CHECK(thin.mean.y(50) == thin.mean.x(50));
}

TEST_CASE("several runs: filters by name, a mean for each configuration") {
  RunCurves a = run_of("run-a", "lr=1", 0), b = run_of("run-b", "lr=1", 2), c = run_of("other", "lr=2", 7);
  a.metric("val_loss", 0).append(1, 1, 1);
  const std::vector<ChartSource> sources{{&a, "a", 1}, {&b, "b", 2}, {&c, "c", 3}};
  ChartModel model;
  REQUIRE(model.build(sources, 0, kColors).size() == 1);
  CHECK(model.build(sources, 0, kColors)[0].lines.size() == 4);
  CHECK(model.first() == 1);
  CHECK(model.last() == 10);
  model.runs.set("^run");
  CHECK(model.build(sources, 0, kColors)[0].lines.size() == 3);
  model.metrics.set("^VAL");
  CHECK(model.build(sources, 0, kColors)[0].lines.size() == 1);
  model.metrics.set("nothing");
  CHECK(model.build(sources, 0, kColors).empty());
  CHECK_FALSE(model.any());
  model.metrics.set("^loss$");
  model.runs.set("");
  model.mean = true;
  const std::vector<Chart>& charts = model.build(sources, 0, kColors);
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].lines.size() == 2);
  CHECK(charts[0].lines[0].band_low != nullptr);
  CHECK(charts[0].lines[0].raw->y(0) == 2);  // mean of 1 and 3
  CHECK(charts[0].lines[1].band_low == nullptr);
  CHECK(charts[0].series.size() == 3);
  // A run that grew is counted again.
  b.metric("loss", 0).append(11, 5, 100);
  CHECK(model.build(sources, 0, kColors)[0].lines[0].raw->y(10) == 100);
}

TEST_CASE("lines of one chart differ in colour and dash") {
  RunCurves a = run_of("a", "", 0), b = run_of("b", "", 1);
  for (RunCurves* run : {&a, &b}) run->metric("val_loss", 0).append(1, 1, 1);
  ChartModel model;
  const std::vector<Chart> charts = model.build({{&a, "a", 0}, {&b, "b", 1}}, 0, kColors);
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].lines.size() == 4);
  for (size_t i = 0; i < 4; ++i)
    for (size_t k = 0; k < i; ++k) {
      const PlotLine &x = charts[0].lines[i], &y = charts[0].lines[k];
      CHECK((x.color != y.color || x.dash != y.dash));
      CHECK(x.name != y.name);
    }
}

TEST_CASE("an invalid regular expression shows everything and reports its error") {
  NameFilter filter;
  filter.set("lo(ss");
  CHECK(filter.problem().find("a ( has no )") != std::string::npos);
  CHECK(filter.matches("anything"));
  for (const char* wrong : {"[a", "*a", "a{3", "\\1", "[z-a]"}) {
    filter.set(wrong);
    CHECK_MESSAGE(!filter.problem().empty(), wrong);
  }
  filter.set("^(loss|acc)$");
  CHECK(filter.problem().empty());
  CHECK(filter.matches("loss"));
  CHECK(filter.matches("ACC"));
  CHECK_FALSE(filter.matches("val_loss"));
  // A pattern that takes exponential time in other engines.
  filter.set("(a*)*(a*)*b");
  CHECK_FALSE(filter.matches(std::string(2000, 'a')));
}

TEST_CASE(
    "edits after the first value, reloads and checkpoints become marks, and a reload drops later steps") {
  Journal journal;
  Event running{};
  running.kind = Event::Kind::state;
  running.state = SessionState::running;
  journal.push(running);
  journal.push(param("lr", "0.1", 0));
  journal.push(param("lr", "0.1", 0));  // as a reloaded script declares it
  Event row{};
  row.kind = Event::Kind::metrics;
  for (int i = 1; i <= 5; ++i) {
    row.step = i;
    row.time = i * 0.1;
    row.metrics = {{"loss", 1.0 / i}};
    journal.push(row);
  }
  journal.push(param("lr", "0.02", 3));
  Event reload{};
  reload.kind = Event::Kind::reload;
  reload.step = 3;
  reload.text = "kept model";
  journal.push(reload);
  journal.update();
  const RunCurves& run = journal.curves();
  REQUIRE(run.marks.size() == 2);
  CHECK(run.marks[0].text == "lr: 0.1 to 0.02");
  CHECK(run.marks[0].step == 3);
  CHECK(run.marks[1].kind == RunMark::Kind::reload);
  REQUIRE(run.metrics.size() == 1);
  CHECK(run.metrics[0].raw.size() == 3);
  CHECK(run.metrics[0].time(2) == doctest::Approx(0.3));
  ChartModel model;
  model.build({{&journal.curves(), "this run", 0}}, 0, kColors);
  REQUIRE(model.plot_marks().size() == 2);
  CHECK(model.plot_marks()[0].kind == "edit");
  CHECK(model.plot_marks()[0].brief == "lr 0.02");
  CHECK(model.plot_marks()[0].x == 3);
}

TEST_CASE("CSV holds every value exactly, raw and smoothed") {
  RunCurves run;
  run.name = "run 1";
  Metric loss("a,\"b", 0.9);
  loss.append(1, 0.1, 1.0 / 3);
  loss.append(7, 1e-300, std::nan(""));
  loss.append(8, 2, -INFINITY);
  const std::string csv = charts_as_csv({{run, loss}});
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  CHECK(line == "run,metric,step,time,value,smoothed");
  std::getline(lines, line);
  const std::string head = "run 1,\"a,\"\"b\",1,0.1,";
  REQUIRE(line.starts_with(head));
  char* end = nullptr;
  CHECK(std::strtod(line.c_str() + head.size(), &end) == 1.0 / 3);
  CHECK(std::strtod(end + 1, nullptr) == loss.smooth.y(0));
  std::getline(lines, line);
  CHECK(line == "run 1,\"a,\"\"b\",7,1e-300,nan,nan");
  std::getline(lines, line);
  CHECK(line == "run 1,\"a,\"\"b\",8,2,-inf,-inf");
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("SVG is well-formed for any names, and draws lines, bands, marks, NaN and infinities") {
  Curve raw, smooth, low, high;
  for (int i = 0; i < 3000; ++i) {
    const double y = i == 10 ? std::nan("") : std::sin(i * 0.01);
    raw.append(i, y);
    smooth.append(i, y);
    low.append(i, y - 1);
    high.append(i, y + 1);
  }
  PlotLine line;
  line.name = "a<b>&\"c\"\x01\xff";
  line.raw = &raw;
  line.smooth = &smooth;
  line.band_low = &low;
  line.band_high = &high;
  line.color = IM_COL32(1, 2, 3, 255);
  line.dash = 2;
  PlotAxis axis;
  axis.update(0, 2999, 1);
  const std::string svg =
      charts_as_svg({{"l<ss", {line}, {{100, "edit", "lr 0.05", 0, "lr"}}, y_range({line}, axis, {})},
                     {"empty", {}, {}, {{}, 0, 1}}},
                    axis, 960, 360, true);
  CHECK(well_formed(svg));
  for (const char* part : {"<polyline", "<polygon", "stroke-dasharray=\"2 4 2 4\"", "#010203", "l&lt;ss",
                           "\xc3\x97", ">lr 0.05</text>", "1 NaN"})
    CHECK_MESSAGE(svg.find(part) != std::string::npos, part);
  CHECK(svg.size() < 200000);  // two per pixel column, not every point
}
