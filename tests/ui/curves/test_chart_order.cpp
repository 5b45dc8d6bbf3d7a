// Which chart a metric is in, and the order and sections of the charts.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "ui/curves/chart_sections.h"

using namespace lunagrad;

namespace {

const ChartColors kOrderColors{{1, 2, 3, 4, 5, 6, 7}, 8, 9, 10, 11};

void log(RunCurves& run, const char* name, int points) {
  for (int i = 1; i <= points; ++i) run.metric(name, 0).append(i, i, i);
}

std::string titles(const std::vector<Chart>& charts) {
  std::string all;
  for (const Chart& chart : charts) all += (all.empty() ? "" : " ") + chart.title;
  return all;
}

std::string built(ChartModel& model, RunCurves& run) {
  return titles(model.build({{&run, "run", 0}}, 0, kOrderColors));
}

}  // namespace

TEST_CASE("losses share a chart by their prefix or their last part, other prefixes are sections") {
  for (const char* name :
       {"loss/d", "loss/g", "train/loss/d", "d/loss", "g/loss", "loss/val", "training/loss"}) {
    CAPTURE(name);
    CHECK(chart_place(std::string_view(name)).chart == "loss");
    CHECK(chart_place(std::string_view(name)).section.empty());
  }
  const auto place = [](std::string_view name) {
    const ChartPlace found = chart_place(name);
    return found.section + "|" + found.chart;
  };
  CHECK(place("grad/fc1") == "grad|grad/fc1");
  CHECK(place("grad/encoder/fc1") == "grad|grad/encoder/fc1");
  CHECK(place("val/accuracy") == "|accuracy");
  CHECK(place("accuracy/train") == "|accuracy");
  CHECK(place("head/val_acc") == "head|head/accuracy");
  CHECK(place("/") == "|/");
  CHECK(place("") == "|");
  CHECK(place("train/val") == "|train/val");
  Metric probe("grad/fc1", 0);
  probe.probe = true;
  CHECK(chart_place(probe).section.empty());
  CHECK(chart_place(probe).chart == "grad/fc1");
}

TEST_CASE("two losses of a GAN are lines of one chart") {
  RunCurves run;
  log(run, "loss/d", 5);
  log(run, "loss/g", 5);
  ChartModel model;
  const std::vector<Chart>& charts = model.build({{&run, "run", 0}}, 0, kOrderColors);
  REQUIRE(charts.size() == 1);
  REQUIRE(charts[0].lines.size() == 2);
  CHECK(charts[0].lines[0].name == "loss/d");
  CHECK(charts[0].lines[1].name == "loss/g");
}

TEST_CASE("the loss is first, and charts keep their order while metrics are added and filtered") {
  RunCurves run;
  ChartModel model;
  log(run, "lr", 1);
  CHECK(built(model, run) == "lr");
  // The loss of the first step arrives a frame later.
  log(run, "accuracy", 1);
  log(run, "aux_loss", 1);
  log(run, "loss", 1);
  CHECK(built(model, run) == "loss aux_loss lr accuracy");
  for (int i = 2; i <= 9; ++i)
    for (const char* name : {"lr", "accuracy", "aux_loss", "loss"}) run.metric(name, 0).append(i, i, i);
  CHECK(built(model, run) == "loss aux_loss lr accuracy");
  log(run, "kl_loss", 2);
  log(run, "norm", 2);
  CHECK(built(model, run) == "loss aux_loss lr accuracy kl_loss norm");
  model.metrics.set("lr|norm|kl");
  CHECK(built(model, run) == "lr kl_loss norm");
  model.metrics.set("");
  CHECK(built(model, run) == "loss aux_loss lr accuracy kl_loss norm");
  // A finished run is ordered at once, another script from the start.
  RunCurves other;
  log(other, "reward", 50);
  log(other, "loss", 50);
  CHECK(built(model, other) == "loss reward");
  RunCurves empty;
  CHECK(built(model, empty).empty());
}

TEST_CASE("sections stand below the charts without a prefix and can be collapsed") {
  RunCurves run;
  for (const char* name : {"grad/a", "speed", "grad/b", "mem/peak", "loss", "grad/c"}) log(run, name, 4);
  ChartModel model;
  const std::vector<Chart> charts = model.build({{&run, "run", 0}}, 0, kOrderColors);
  CHECK(titles(charts) == "loss speed grad/a grad/b grad/c mem/peak");
  const std::vector<ChartSection> sections = sections_of(charts, {"grad", ""});
  REQUIRE(sections.size() == 3);
  CHECK(sections[0].name.empty());
  CHECK_FALSE(sections[0].collapsed);
  CHECK(sections[0].rows(2) == 1);
  CHECK(sections[1].name == "grad");
  CHECK(sections[1].collapsed);
  CHECK(sections[1].first == 2);
  CHECK(sections[1].end == 5);
  CHECK(sections[1].rows(2) == 0);
  CHECK_FALSE(sections[2].collapsed);
  CHECK(sections_of(charts, {})[1].rows(2) == 2);
  CHECK(sections_of({}, {}).empty());
}
