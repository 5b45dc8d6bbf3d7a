// Parallel coordinates of runs.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ui/runs/parallel.h"

using namespace lunagrad;

namespace {

RunSummary run_of(const char* lr, const char* optimizer, double loss) {
  RunSummary run;
  run.name = run.folder = std::string(lr) + optimizer;
  run.config = {{"lr", lr}, {"optimizer", optimizer}, {"batch", "32"}};
  run.metrics["loss"] = {loss, loss, loss};
  run.metrics["accuracy"] = {1 - loss, 1 - loss, 1 - loss};
  return run;
}

}  // namespace

TEST_CASE("parallel coordinates have an axis for each setting in which runs differ, and the metric's") {
  std::vector<RunSummary> runs{run_of("0.001", "sgd", 0.1), run_of("0.1", "adam", 0.3),
                               run_of("0.01", "lion", 0.2)};
  const ParallelPlot plot = parallel_plot(runs, {0, 1, 2}, "loss");
  REQUIRE(plot.axes.size() == 3);
  CHECK(plot.axes[0].name == "lr");
  CHECK(plot.axes[0].about == "logarithmic");  // a factor of 100
  CHECK(plot.axes[1].name == "optimizer");
  CHECK(plot.axes[2].name == "loss");
  CHECK(plot.axes[2].about.empty());
  CHECK(plot.lines[2].places[0] == doctest::Approx(0.5));
  CHECK(plot.lines[0].places[1] == 1);  // adam, lion, sgd
  CHECK(plot.lines[1].places[1] == 0);
  CHECK(plot.lines[0].shade == 0);
  CHECK(plot.lines[1].shade == 1);
  CHECK(plot.lines[2].shade == doctest::Approx(0.5));
  CHECK(plot.axes[0].ticks[0].label == "0.1");
  CHECK(plot.axes[0].ticks[1].label == "0.001");
  // More is better.
  CHECK(parallel_plot(runs, {0, 1, 2}, "accuracy").lines[0].shade == 0);
  // A sweep says itself which is better.
  runs[0].ranked = "loss";
  runs[0].maximize = true;
  CHECK(parallel_plot(runs, {0, 1, 2}, "loss").lines[0].shade == 1);
  // Of the rows alone: lr has a factor of 10, unless a sweep drew its logarithm.
  CHECK(parallel_plot(runs, {1, 2}, "loss").axes[0].about.empty());
  CHECK(parallel_plot(runs, {1, 2}, "loss").lines[0].source == 1);
  runs[1].logarithmic = {"lr"};
  CHECK(parallel_plot(runs, {1, 2}, "loss").axes[0].about == "logarithmic");
}

TEST_CASE("parallel coordinates leave out what is missing") {
  std::vector<RunSummary> runs{run_of("1", "sgd", NAN), run_of("1", "sgd", 0.5), run_of("2", "sgd", 0.7), {}};
  runs[1].config.erase("lr");
  runs[3].problem = "it cannot be read";
  const ParallelPlot plot = parallel_plot(runs, {0, 1, 2, 3}, "loss");
  REQUIRE(plot.lines.size() == 3);
  REQUIRE(plot.axes.size() == 2);
  CHECK(std::isnan(plot.lines[1].places[0]));
  CHECK(std::isnan(plot.lines[0].places[1]));
  CHECK(std::isnan(plot.lines[0].shade));
  CHECK(parallel_plot(runs, {1, 1}, "loss").axes.size() == 1);  // no setting differs
  CHECK(parallel_plot(runs, {}, "").axes.empty());
}
