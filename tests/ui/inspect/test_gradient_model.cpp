// The statistics of a run by step: which of them a panel shows for a step, and steps that are measured twice.
#include <doctest/doctest.h>

#include <cmath>

#include "ui/inspect/gradient_model.h"

using namespace lunagrad;

namespace {

StepStatisticsPtr measured(int64_t step, double norm, uint64_t number) {
  auto made = std::make_shared<StepStatistics>();
  made->step = step;
  made->number = number;
  for (const char* name : {"fc1.weight", "fc2.weight"}) {
    ParameterStatistics& p = made->parameters.emplace_back();
    p.name = name;
    p.node = made->parameters.size();
    p.has_gradient = true;
    p.gradient.count = 1;
    p.gradient.norm = norm;
    p.weight.count = 1;
    p.weight.norm = 1;
    p.update_norm = norm * 1e-3;
    p.edges = {0, 1};
    p.counts = {1};
  }
  return made;
}

}  // namespace

TEST_CASE("a step shows the statistics measured at it or before it") {
  GradientModel model;
  CHECK(model.at(3) == nullptr);
  CHECK_FALSE(model.has(3));
  uint64_t number = 0;
  for (const int64_t step : {4, 8, 40}) model.add(measured(step, double(step), ++number));
  CHECK(model.at(1)->step == 4);
  CHECK(model.at(4)->step == 4);
  CHECK(model.at(39)->step == 8);
  CHECK(model.at(1000)->step == 40);
  CHECK(model.has(8));
  CHECK_FALSE(model.has(9));
  const ParameterHistory& second = model.parameters()[1];
  CHECK(GradientModel::of(*model.at(8), second, 1)->gradient.norm == 8);
  CHECK(GradientModel::of(*model.at(8), second, 0)->gradient.norm == 8);
  ParameterHistory unknown;
  unknown.name = "fc3.weight";
  unknown.node = 77;
  CHECK(GradientModel::of(*model.at(8), unknown, 0) == nullptr);
}

TEST_CASE("how often is measured now is no less than the time since the last measured step") {
  GradientModel model;
  CHECK(model.every(100) == 1);
  uint64_t number = 0;
  for (int64_t step = 1; step <= 101; step += 4) model.add(measured(step, 1, ++number));
  CHECK(model.every(103) == 4);
  CHECK(model.every(2701) == 2600);
}

TEST_CASE("a step that is measured again, at the end of a step with a pause, replaces the first figures") {
  GradientModel model;
  model.add(measured(4, 1, 1));
  model.add(measured(9, 2, 2));
  model.add(measured(9, 3, 3));
  REQUIRE(model.steps().size() == 2);
  CHECK(model.at(9)->parameters[0].gradient.norm == 3);
  for (const ParameterHistory& p : model.parameters()) {
    REQUIRE(p.norm.size() == 2);
    CHECK(p.norm.y(1) == 3);
    CHECK(p.ratio.size() == 2);
    REQUIRE(p.spreads.size() == 2);
    CHECK(p.spreads.back().second->gradient.norm == 3);
  }
  CHECK(model.total().size() == 2);
  CHECK(model.total().y(1) == doctest::Approx(3 * std::sqrt(2.0)));
  // A run that goes back drops later steps, as before.
  model.add(measured(6, 5, 4));
  REQUIRE(model.steps().size() == 2);
  CHECK(model.at(9)->step == 6);
}
