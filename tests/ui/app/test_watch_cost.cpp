// The cost of an open window for the training: the CPU time of the session's thread for the same steps, alone
// and with panels drawn at 60 frames a second, alternately.
#include <doctest/doctest.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "tests/support/timing.h"
#include "tests/ui/null_host.h"

using namespace lunagrad;

// The MNIST classifier, on noise of the same size.
constexpr const char* kTraining = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10))
local adam = lg.optim.Adam(net:parameters(), {lr = 1e-3})
local x, y = lg.randn(64, 784), lg.randint(0, 10, 64)
for step in lg.run.steps(500) do
  local loss = F.cross_entropy(net(x), y)
  adam:zero_grad(); loss:backward(); adam:step()
  lg.run.log {loss = loss}
end
)";

// CPU time of the session's thread, which receives the events, from the first step to the end.
class TrainingTime {
 public:
  void operator()(const Event& event) {
    if (event.kind == Event::Kind::step && begin_ == 0) begin_ = now();
    if (event.kind != Event::Kind::ended) return;
    seconds_ = now() - begin_;
    ended_ = true;
  }
  bool ended() const { return ended_; }
  double seconds() const { return seconds_; }

 private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
  }
  double begin_ = 0, seconds_ = 0;
  std::atomic<bool> ended_ = false;
};

static double alone() {
  TrainingTime time;
  Session session([&](const Event& event) { time(event); });
  session.run_text(kTraining, "=training", {.write_run = false});
  REQUIRE(session.wait() == Outcome::ok);
  return time.seconds();
}

static double watched() {
  const tests::NullHost host;
  TrainingTime time;
  PanelHost panels({.font = host.font(), .on_event = [&](const Event& event) { time(event); }});
  panels.run_text(kTraining, "=training", {.write_run = false});
  for (; !time.ended(); std::this_thread::sleep_for(std::chrono::milliseconds(16)))
    host.frame(panels, {"Curves", "Console", "Tape", "Inspector"});
  REQUIRE(panels.session().wait() == Outcome::ok);
  return time.seconds();
}

TEST_CASE("watch cost" * doctest::skip(!tests::long_run())) {
  set_thread_count(1);
  // Ratios of neighbouring measurements, since the speed of the machine drifts.
  std::vector<double> ratios;
  for (int round = 0; round < 15; ++round) {
    const double before = alone(), under = watched(), after = alone();
    ratios.push_back(2 * under / (before + after));
  }
  std::sort(ratios.begin(), ratios.end());
  const double more = ratios[ratios.size() / 2] - 1;
  MESSAGE("500 steps under a window, against those alone before and after: "
          << 100 * more << " % more, median of " << ratios.size() << ", from " << 100 * (ratios.front() - 1)
          << " to " << 100 * (ratios.back() - 1));
  CHECK_TIME(more < 0.05);
}
