// A variable whose graph grows from step to step is named, once; accumulation that ends is not.
#include <doctest/doctest.h>

#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;

namespace {

std::vector<Event> grown(const std::string& before, const std::string& in_step, int steps = 120) {
  Recorder recorder;
  const Outcome outcome = recorder.finish(
      "local lg = require 'lunagrad'\nlocal nn, F = lg.nn, lg.nn.functional\n"
      "local model = nn.Linear(4, 1)\nlocal opt = lg.optim.SGD(model:parameters(), {lr = 0.01})\n" +
      before + "\nfor step in lg.run.steps(" + std::to_string(steps) +
      ") do\nopt:zero_grad()\nlocal loss = F.mse_loss(model(lg.randn(8, 4)), lg.zeros(8, "
      "1))\nloss:backward()\n"
      "opt:step()\n" +
      in_step + "\nend");
  CHECK(recorder.error() == "");
  CHECK(outcome == Outcome::ok);
  return recorder.events(Kind::growth);
}

}  // namespace

TEST_CASE("a loss summed as a tensor over the steps is an alarm that names the variable") {
  struct Case {
    const char *before, *in_step, *name;
  };
  const Case cases[] = {
      {"local total = lg.tensor(0.)", "total = total + loss", "total"},
      {"local stats = {loss = 0}", "stats.loss = stats.loss + loss", "stats.loss"},
      {"local losses = {}", "losses[#losses + 1] = loss", "losses"},
      {"running = 0", "running = 0.9 * running + 0.1 * loss", "running"},
      {"local mean = lg.tensor(0.) local function add(x) mean = mean + x end", "add(loss)", "mean"},
      {"local state = lg.zeros(8, 1)", "state = (state + model(lg.ones(8, 4))):tanh()", "state"},
  };
  for (const Case& one : cases) {
    CAPTURE(one.in_step);
    const std::vector<Event> found = grown(one.before, one.in_step);
    REQUIRE(found.size() == 1);
    CHECK(found[0].subject == one.name);
    CHECK(found[0].step == 50);
    CHECK(found[0].text.find("loss:item()") != std::string::npos);
  }
}

TEST_CASE("numbers, detached tensors and sums that end are no alarm") {
  const std::pair<const char*, const char*> cases[] = {
      {"local total = 0", "total = total + loss:item()"},
      {"local total = lg.tensor(0.)", "total = total + loss:detach()"},
      {"local last", "last = loss"},
      {"local sum = lg.tensor(0.)",
       "sum = sum + model(lg.ones(8, 4)):mean() if step % 25 == 0 then sum = lg.tensor(0.) end"},
      {"local losses = {}", "losses[#losses + 1] = loss if #losses == 30 then losses = {} end"},
      {"local fixed = (model.weight * 2):sum()", ""},
      {"local average = model.weight:detach():clone()",
       "average:mul_(0.9):add_(model.weight:detach() * 0.1)"},
  };
  for (const auto& [before, in_step] : cases) {
    CAPTURE(in_step);
    CHECK(grown(before, in_step, 220).empty());
  }
}
