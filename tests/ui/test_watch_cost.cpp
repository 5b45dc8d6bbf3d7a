// What an open window costs the training, for tests/ui/watch_cost.cmake, which counts the instructions of the
// session's thread. Skipped in the suite: alone it checks nothing.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "runtime/cpu/parallel.h"
#include "tests/ui/null_host.h"

using namespace lunagrad;

// The classifier of MNIST's digits, on noise of their size.
constexpr const char* kTraining = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
local adam = lg.optim.Adam(net:parameters(), {lr = 1e-3})
local x, y = lg.randn(64, 784), lg.randint(0, 10, 64)
for step in lg.run.steps(110) do
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
end
)";

TEST_CASE("watch cost" * doctest::skip()) {
  const char* wish = std::getenv("LUNAGRAD_WATCHED");
  const bool watched = wish && std::string_view(wish) == "1";
  set_thread_count(1);
  if (!watched) {
    Session session([](const Event&) {});
    session.run_text(kTraining, "=training", {.write_run = false});
    REQUIRE(session.wait() == Outcome::ok);
    return;
  }
  const tests::NullHost host;
  std::atomic<bool> ended = false;
  PanelHost panels({.font = host.font(), .on_event = [&](const Event& event) {
                      if (event.kind == Event::Kind::ended) ended = true;
                    }});
  panels.run_text(kTraining, "=training", {.write_run = false});
  // More frames for each step than there would be without callgrind, which slows the steps.
  for (; !ended; std::this_thread::sleep_for(std::chrono::milliseconds(100)))
    host.frame(panels, {"Curves", "Console", "Tape", "Inspector"});
  REQUIRE(panels.session().wait() == Outcome::ok);
}
