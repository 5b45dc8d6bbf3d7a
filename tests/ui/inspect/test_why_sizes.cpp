// Why?: NaN and Inf, small and large gradients, steps that are too large or too small.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/ui/measured_tape.h"
#include "ui/inspect/why.h"

using namespace lunagrad;
using namespace lunagrad::test;

TEST_CASE("NaN and Inf: the op that made it, with the figures of its operands") {
  struct Case {
    const char* op;
    Summary first, second;
    Summary result;
    const char* words;
  };
  const std::vector<Case> cases = {
      {"log", between(0, 1, 3), {}, broken(0, 3), "logarithm of 0"},
      {"log", between(-1, 1), {}, broken(3, 0), "logarithm of a negative number"},
      {"sqrt", between(-1, 1), {}, broken(3, 0), "root of a negative number"},
      {"div", kHealthy, between(0, 1, 2), broken(0, 2), "divides by 0"},
      {"div", all_zeros(), between(0, 1, 2), broken(2, 0), "divides 0 by 0"},
      {"exp", between(0, 120), {}, broken(0, 2), "exponential overflows"},
      {"pow", between(-2, 2), kHealthy, broken(1, 0), "fractional power"},
      {"rsqrt", between(0, 2, 1), {}, broken(0, 1), "divides by 0"},
      {"matmul", between(-1e19, 1e19), between(-1e20, 1e20), broken(0, 5), "the training has diverged"},
      {"softmax", kHealthy, {}, broken(8, 0), "all -Inf"},
  };
  for (const Case& one : cases) {
    CAPTURE(std::string(one.words));
    MeasuredTape made;
    const uint64_t x = made.leaf("x", broken(64, 0)), y = made.leaf("y", broken(64, 0));
    const uint64_t a = made.call("neg", {x}, {"input"}, one.first, broken(64, 0), {}, 6);
    const uint64_t b = made.call("neg", {y}, {"input"}, one.second, broken(64, 0), {}, 7);
    const uint64_t makes = made.call(one.op, {a, b}, {"input", "other"}, one.result, broken(64, 0), {}, 8);
    const uint64_t loss = made.call("sum", {makes}, {"input"}, broken(1, 0), single(1), {}, 9, {});
    const WhyTrail trail = made.why_node(loss);
    expect_in_order(trail, {"makes the first", one.words, "Its operand 'input'"});
    CHECK(link_with(trail, "makes the first").node == makes);
  }
}

TEST_CASE("a gradient that only backward makes NaN names the derivative") {
  MeasuredTape made;
  const uint64_t x = made.leaf("x", broken(0, 2));
  const uint64_t squares = made.call("square", {x}, {"input"}, between(0, 4, 2), broken(0, 2), {}, 7);
  const uint64_t root = made.call("sqrt", {squares}, {"input"}, between(0, 2, 2), kHealthy, {}, 8);
  made.call("sum", {root}, {"input"}, single(2), single(1), {}, 9, {});
  const WhyTrail trail = made.why_node(x);
  expect_in_order(trail, {"The gradient of x is Inf", "sqrt at train.lua:8 gets a finite gradient",
                          "derivative at 0 is infinite", "with 2 zeros"});
  CHECK(link_with(trail, "gets a finite gradient").node == root);
}

TEST_CASE("weights that grew from step to step until they overflowed") {
  WhyFacts facts;
  double norm = 1;
  for (int64_t i = 1; i <= 8; ++i, norm *= 20) {
    Summary weight = between(-1, 1);
    weight.norm = norm;
    facts.steps.push_back(sampled(i, {measured("w", 1, weight, kHealthy, norm)}));
  }
  facts.steps.push_back(sampled(9, {measured("w", 1, broken(64, 0), broken(64, 0), std::nan(""))}));
  facts.not_finite = WhyNotFinite{true,
                                  9,
                                  "NaN since step 9: linear at model.lua:8",
                                  "linear: its result of shape [8, 8]: 64 NaN\n  weight: f32",
                                  {"model.lua", 8},
                                  0};
  Alarm alarm{};
  alarm.kind = AlarmKind::nan;
  alarm.found = true;
  alarm.subject = "linear at model.lua:8";
  const WhyTrail trail = why(facts, {.alarm = alarm});
  expect_in_order(trail, {"NaN since step 9", "64 NaN", "of w are not finite since step 9", "it grew",
                          "The training diverged", "update of step 8 at model.lua:14"});
  CHECK(trail.links.front().place == SourcePlace{"model.lua", 8});
  CHECK(why(facts, {.parameter = "w"}).links.size() >= 3);
}

TEST_CASE("vanishing and exploding: the ops that change the gradient most") {
  const auto sized = [](double size) {
    Summary s = between(-size, size);
    s.norm = 8 * size;
    return s;
  };
  // Six sigmoids shrink it together, one product by itself.
  MeasuredTape made;
  double size = 1e-9;
  const uint64_t w = made.leaf("w", sized(size));
  uint64_t x = w;
  for (int i = 0; i < 6; ++i)
    x = made.call("sigmoid", {x}, {"input"}, between(0, 1), sized(size *= 10), {}, 20 + i);
  x = made.call("mul", {x, 0}, {"input", "other"}, kHealthy, sized(size *= 500), {}, 30);
  made.call("sum", {x}, {"input"}, single(1), single(1), {}, 31, {});
  const TapeSnapshot tape = made.snapshot();
  WhyFacts facts;
  facts.tape = &tape;
  Alarm alarm = alarm_about(AlarmKind::vanishing, "w", w);
  const WhyTrail small = why(facts, {.alarm = alarm});
  expect_in_order(small,
                  {"The gradient of w is small", "6 ops sigmoid", "factor of 1e+06", "mul at train.lua:30"});

  MeasuredTape large;
  const uint64_t v = large.leaf("v", sized(1e4));
  const uint64_t product = large.call("mul", {v, 0}, {"input", "other"}, kHealthy, sized(1), {}, 30);
  large.call("sum", {product}, {"input"}, single(1), single(1), {}, 31, {});
  const TapeSnapshot second = large.snapshot();
  facts.tape = &second;
  facts.steps = {sampled(10, {measured("v", v, kHealthy, sized(1), 0.01)}),
                 sampled(20, {measured("v", v, kHealthy, sized(1e4), 0.01)})};
  facts.changes = {{15, "lr: 0.1 to 9", {}}};
  alarm.kind = AlarmKind::exploding;
  alarm.subject = "v";
  alarm.node = v;
  expect_in_order(why(facts, {.alarm = alarm}), {"The gradient of v is large", "enlarges it by a factor of",
                                                 "between steps 10 and 20", "lr: 0.1 to 9"});
}

TEST_CASE("a loss that does not move: nothing moves it, steps are tiny, or gradients are 0") {
  MeasuredTape made;
  const uint64_t w = made.leaf("w", kHealthy);
  const uint64_t product = made.call("mul", {w, 0}, {"input", "other"}, kHealthy, kHealthy);
  const uint64_t loss = made.call("sum", {product}, {"input"}, single(2.5), single(1), {}, 31, {});
  const TapeSnapshot tape = made.snapshot();
  NodeStatistics root;
  root.op = "sum";
  root.output = single(2.5);
  WhyFacts facts;
  facts.tape = &tape;
  expect_in_order(why(facts, {.node = loss}), {"Whether it moves is not known"});
  for (const auto& [update, words] :
       {std::pair{0.0, "learning rate is 0"}, std::pair{1e-9, "learning rate is too small"},
        std::pair{0.1, "Labels and data need no gradient"}}) {
    CAPTURE(std::string(words));
    facts.steps.clear();
    for (int64_t i = 1; i <= 4; ++i)
      facts.steps.push_back(sampled(i, {measured("w", w, kHealthy, kHealthy, update)}, {root}));
    expect_in_order(why(facts, {.node = loss}),
                    {"is the root of the backward pass", "the same value", words});
  }
  // An optimizer that does not hold the parameter.
  facts.steps.clear();
  ParameterStatistics alone = measured("w", w, kHealthy, kHealthy, 0);
  alone.optimized = false;
  for (int64_t i = 1; i <= 4; ++i) facts.steps.push_back(sampled(i, {alone}, {root}));
  expect_in_order(why(facts, {.node = loss}), {"no optimizer made a step with it"});
  // It moves.
  facts.steps.clear();
  for (int64_t i = 1; i <= 4; ++i) {
    root.output = single(double(i));
    facts.steps.push_back(sampled(i, {measured("w", w, kHealthy, kHealthy, 0.1)}, {root}));
  }
  expect_in_order(why(facts, {.node = loss}), {"It moves"});
}

TEST_CASE("steps that are too large name the optimizer's line and the factor to the gradient") {
  WhyFacts facts;
  facts.steps = {sampled(1, {measured("w", 1, kHealthy, kHealthy, 0.01)}),
                 sampled(2, {measured("w", 1, kHealthy, kHealthy, 8)})};
  const Alarm alarm = alarm_about(AlarmKind::large_steps, "w");
  expect_in_order(
      why(facts, {.alarm = alarm}),
      {"moved w by 1 of its size", "update of step 2 at model.lua:14", "times its gradient", "since step 2"});
}
