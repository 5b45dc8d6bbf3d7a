// A long run of deferred steps, with hot reloads and edits of live parameters on the way: the numbers of
// eager calls, and memory that does not grow.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/recorder.h"
#include "tests/support/timing.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using Kind = Event::Kind;

namespace {

// A script with a loop whose length and an evaluation depend on the step. It compares the memory in use some
// time after the last reload, which starts a new script, with the memory at the end: two measurements each,
// since one may include a tensor that waits for the next collection.
const std::string kDeferredTraining = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
lg.set_deferred(true)
lg.manual_seed(3)
local total = lg.run.param("total", 100)
local rate = lg.run.live("rate", 1e-2)
local model = lg.run.state("model", function()
  return nn.Sequential(nn.Linear(64, 128), nn.LayerNorm(128), nn.GELU(), nn.Dropout(0.2), nn.Linear(128, 4))
end)
local optimizer = lg.run.state("optimizer", function() return lg.optim.AdamW(model:parameters(), {lr = rate}) end)
local seen = lg.run.state("seen", function() return {loss = 0.0} end)
local used = {}
for step in lg.run.steps(total) do
  local x, target = lg.randn(96, 64), lg.randint(0, 4, {96})
  for _ = 1, step % 3 do x = (x * 0.5 + 0.1):tanh() end
  local loss = F.cross_entropy(model(x), target)
  optimizer:zero_grad()
  loss:backward()
  optimizer:step()
  lg.run.log{loss = loss}
  if step % 7 == 0 then
    model:eval()
    seen.loss = seen.loss + model(x):square():mean():item()
    model:train()
  end
  if step > total * 95 // 100 and step % 21 == total % 21 then  -- steps alike
    collectgarbage()
    collectgarbage()
    used[#used + 1] = lg.memory().in_use
    if step == total then
      local grew = math.min(used[#used], used[#used - 1]) - math.max(used[1], used[2])
      print(grew <= 65536 and "steady" or ("grew by %d bytes"):format(grew))
    end
  end
end
print(("%a"):format(seen.loss))
for _, p in ipairs(model:parameters()) do print(("%a"):format(p:double():square():sum():item())) end
)";

// The output of the run with a new rate every 1/20 of its steps and a changed script every 1/10.
std::string train(bool deferred, int64_t total) {
  Recorder recorder;
  recorder.also = [&recorder, total, told = int64_t(0)](const Event& event) mutable {
    if (event.kind != Kind::step || event.step <= told) return;
    told = event.step;
    if (told % (total / 20) == 0) recorder.session.set_param("rate", told % (total / 10) ? "0.002" : "0.01");
    if (told % (total / 10) == 0 && told < total)
      recorder.session.reload(kDeferredTraining + "-- after step " + std::to_string(told) + "\n");
  };
  RunOptions options;
  options.eager = !deferred;
  options.set["total"] = std::to_string(total);
  options.seed = 5;
  CHECK(recorder.finish(kDeferredTraining, options) == Outcome::ok);
  CHECK(recorder.error() == "");
  CHECK(recorder.events(Kind::reload).size() == 9);
  return recorder.output();
}

}  // namespace

TEST_CASE("steps that are deferred train the same through reloads and live edits, and memory is steady") {
  const int64_t total = long_run() ? 10'000 : 2'000;
  const std::string expected = train(false, total), got = train(true, total);
  CHECK(got == expected);
  CHECK(expected.rfind("steady\n", 0) == 0);
}
