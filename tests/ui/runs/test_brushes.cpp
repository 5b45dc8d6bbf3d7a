// Brushes on parallel coordinates, and a sweep's settings and metric in the table of runs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ui/runs/brushes.h"
#include "ui/runs/parallel.h"

using namespace lunagrad;

namespace {

RunSummary trial(const char* name, const char* lr, const char* optimizer, double loss, double accuracy) {
  RunSummary run;
  run.name = run.folder = name;
  run.sweep = "sweep";
  run.ranked = "accuracy";
  run.maximize = true;
  run.config = {{"lr", lr}, {"optimizer", optimizer}, {"batch", "32"}};
  run.metrics["loss"] = {loss, loss, loss};
  run.metrics["accuracy"] = {accuracy, accuracy, accuracy};
  return run;
}

std::vector<RunSummary> trials() {
  return {trial("a", "0.001", "sgd", 0.1, 0.5), trial("b", "0.1", "adam", 0.3, 0.9),
          trial("c", "0.01", "lion", 0.2, NAN), trial("d", "1", "adam", 0.4, 0.7)};
}

std::string selected(const std::vector<RunSummary>& runs, const RunBrushes& brushes, const char* metric) {
  std::string names;
  for (const RunSummary& run : runs)
    if (brushes.selects(run, metric)) names += run.name;
  return names;
}

}  // namespace

TEST_CASE("a brush selects numbers by value, words by place, and combines with others") {
  std::vector<RunSummary> runs = trials();
  const ParallelPlot plot = parallel_plot(runs, {0, 1, 2, 3}, "accuracy");
  REQUIRE(plot.axes.size() == 3);
  REQUIRE(plot.axes[0].about == "logarithmic");  // 0.001, 0.01, 0.1, 1 are at 0, 1/3, 2/3, 1
  RunBrushes brushes;
  CHECK_FALSE(brushes.any());
  CHECK(selected(runs, brushes, "accuracy") == "abcd");
  brushes.settings["lr"] = range_between(plot.axes[0], 0.3, 0.7);
  CHECK(selected(runs, brushes, "accuracy") == "bc");
  brushes.settings["optimizer"] = range_between(plot.axes[1], 0, 0.2);  // adam, lion, sgd
  CHECK(selected(runs, brushes, "accuracy") == "b");
  brushes.settings.erase("lr");
  CHECK(selected(runs, brushes, "accuracy") == "bd");
  brushes.settings["optimizer"] = range_between(plot.axes[1], 0.1, 0.4);
  CHECK(selected(runs, brushes, "accuracy").empty());
  brushes.settings.clear();
  brushes.metric = range_between(plot.axes[2], 0.4, 1);
  CHECK(selected(runs, brushes, "accuracy") == "bd");  // c has no accuracy
  // The end of an axis is no limit: a better trial that comes later is selected, too.
  runs.push_back(trial("e", "0.1", "adam", 0.1, 0.99));
  CHECK(selected(runs, brushes, "accuracy") == "bde");
  runs[1].problem = "it cannot be read";
  CHECK(selected(runs, brushes, "accuracy") == "de");
  runs[3].config.erase("lr");
  brushes.settings["lr"] = range_between(plot.axes[0], 0, 1);
  CHECK(selected(runs, brushes, "accuracy") == "e");
}

TEST_CASE("a brush keeps its values when the axis grows") {
  std::vector<RunSummary> runs = trials();
  const ParallelPlot plot = parallel_plot(runs, {0, 1, 2, 3}, "loss");
  const AxisRange rates = range_between(plot.axes[0], 0.3, 0.7), words = range_between(plot.axes[1], 0.9, 1);
  CHECK(places_of(plot.axes[0], rates)->first == doctest::Approx(0.3));
  CHECK(places_of(plot.axes[0], rates)->second == doctest::Approx(0.7));
  CHECK(places_of(plot.axes[1], words)->first == 1);
  runs.push_back(trial("e", "1000", "zeta", 0.4, 0.7));
  const ParallelPlot more = parallel_plot(runs, {0, 1, 2, 3, 4}, "loss");
  CHECK(places_of(more.axes[0], rates)->first == doctest::Approx(0.15));
  CHECK(places_of(more.axes[0], rates)->second == doctest::Approx(0.35));
  CHECK(places_of(more.axes[1], words)->first == doctest::Approx(2 / 3.0));
  CHECK(places_of(plot.axes[0], range_between(plot.axes[0], 0, 1)) == std::pair(0.0, 1.0));
  CHECK_FALSE(places_of(plot.axes[1], range_between(plot.axes[1], 0.1, 0.2)));
  // The only number of an axis is in its middle.
  ParallelAxis single;
  single.least = single.most = 5;
  CHECK(range_between(single, 0.2, 0.8).selects(5.0));
  CHECK_FALSE(range_between(single, 0.6, 0.8).selects(5.0));
}

TEST_CASE("a line outside of the brushes cannot be picked") {
  ParallelPlot plot;
  plot.axes.resize(2);
  plot.lines = {{0, "a", {0.5, 0.5}}, {1, "b", {0.5, 0.6}}};
  CHECK(nearest_line(plot, 0.5, 0.5, 100, 100, 20) == 0);
  plot.lines[0].out = true;
  CHECK(nearest_line(plot, 0.5, 0.5, 100, 100, 20) == 1);
}

TEST_CASE("the best runs by a metric come first, those without a value last") {
  const std::vector<RunSummary> runs = trials();
  CHECK(best_of_runs(runs, {0, 1, 2, 3}, "accuracy", 9) == std::vector<size_t>{1, 3, 0, 2});
  CHECK(best_of_runs(runs, {0, 1, 2, 3}, "loss", 2) == std::vector<size_t>{0, 2});
  CHECK(best_of_runs(runs, {}, "loss", 2).empty());
}

TEST_CASE("the settings in which trials differ are columns that keep their order") {
  std::vector<RunSummary> runs = trials();
  runs.push_back(trial("other", "5", "sgd", 1, 1));
  runs.back().sweep = "another";
  CHECK(sweep_settings(runs, "", {}, 9).empty());
  CHECK(sweep_settings(runs, "another", {}, 9).empty());
  CHECK(sweep_settings(runs, "sweep", {}, 9) == std::vector<std::string>{"lr", "optimizer"});
  CHECK(sweep_settings(runs, "sweep", {"optimizer", "gone"}, 9) ==
        std::vector<std::string>{"optimizer", "lr"});
  runs[0].config["batch"] = "64";
  runs[1].config["clip"] = "1";  // of one trial alone
  CHECK(sweep_settings(runs, "sweep", {"lr", "optimizer"}, 9) ==
        std::vector<std::string>{"lr", "optimizer", "batch", "clip"});
  CHECK(sweep_settings(runs, "sweep", {"lr", "optimizer"}, 3).size() == 3);
}

TEST_CASE("runs are sorted by a setting: numbers by size, words behind them, missing values last") {
  std::vector<RunSummary> runs = trials();
  runs[2].config["lr"] = "auto";
  runs[3].config["lr"] = "1e-5";
  runs.push_back(trial("e", "1", "sgd", 0, 0));
  runs.back().config.erase("lr");
  const auto order = [&](bool descending) {
    RunOrder wanted{RunColumn::setting, descending, "loss", "", "sweep", "lr"};
    std::string names;
    for (const size_t row : arrange(runs, std::vector<std::string>(runs.size()), wanted))
      names += runs[row].name;
    return names;
  };
  CHECK(order(false) == "dabce");
  CHECK(order(true) == "cbade");
}

TEST_CASE("a sweep names the metric that it optimises, and its direction") {
  std::vector<RunSummary> runs = trials();
  CHECK(ranked_metric(runs, "sweep") == "accuracy");
  CHECK(ranked_metric(runs, "").empty());
  CHECK(ranked_metric(runs, "another").empty());
  CHECK(higher_is_better(runs, "sweep", "accuracy"));
  for (RunSummary& run : runs) run.ranked = "loss";
  CHECK(higher_is_better(runs, "sweep", "loss"));  // it maximises, whatever the name says
  CHECK_FALSE(higher_is_better(runs, "", "loss"));
  for (RunSummary& run : runs) run.metrics.erase("loss");
  CHECK(ranked_metric(runs, "sweep").empty());  // nothing was logged yet
}
