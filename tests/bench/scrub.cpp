// Times jumps to random steps of a training that has ended, as the window's Time panel makes them, and checks
// what they show: the parameters, their gradients and the tape of each step have the same bits as a replay
// that makes each step once, from the first one on, without keyframes. Each of both replays compares every
// logged number and every keyframe with the run's.
//   lunagrad-scrub SCRIPT [--device D] [--steps N] [--jumps N] [--threads N] [--set NAME=VALUE] [--
//   ARGUMENTS]
// Exit code 1 when a bit differs. `tests/bench/scrub` runs it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <random>
#include <sstream>

#include "runtime/core/error.h"
#include "runtime/cpu/parallel.h"
#include "runtime/io/temporary_folder.h"
#include "script/session.h"
#include "script/time/memory_keyframes.h"
#include "script/time/replay.h"
#include "tests/support/timing.h"
#ifdef LUNAGRAD_HAS_GPU
#include "gpu/gpu.h"
#endif

using namespace lunagrad;

namespace {

constexpr double kOverhead = 0.3;  // seconds that a jump may take besides its steps
constexpr size_t kKeyframes = size_t(256) << 20;

// A number in which each bit of the parameters and of their gradients counts.
const char* const kFingerprint = R"lua(print((function()
  local lg = require "lunagrad"
  local sum = lg.zeros(1, {dtype = "f64", device = "cpu"})
  for _, p in ipairs(model:parameters()) do
    for _, x in ipairs {p:detach(), p.grad or p:detach()} do
      local flat = x:flatten():to("cpu"):double()
      sum = sum + (flat * (lg.arange(1, #flat + 1, {device = "cpu"}):double() * 0.37):sin()):sum()
    end
  end
  return ("%a"):format(sum:item())
end)()))lua";

struct Training {
  std::string script, device;
  int64_t steps = 1000;
  int jumps = 50, threads = 2;
  std::map<std::string, std::string> set;
  std::vector<std::string> arguments;
};

// Wall time, and processor time of all threads of this process, which a busy machine does not lengthen.
struct Seconds {
  double wall = tests::seconds_of(CLOCK_MONOTONIC), processor = tests::process_seconds();
};
Seconds since(const Seconds& start) {
  const Seconds end;
  return {end.wall - start.wall, end.processor - start.processor};
}

// Trains once, with keyframes. Returns the time of a step.
Seconds train(const Training& training, const std::string& folder,
              std::shared_ptr<MemoryKeyframes> keyframes) {
  RunOptions options;
  options.arguments = training.arguments;
  options.set = training.set;
  options.device = training.device;
  options.steps = training.steps;
  options.seed = 0;
  options.run_directory = folder;
  options.keyframe_sink = std::move(keyframes);
  Seconds first, last;
  std::string error;
  Session session([&](const Event& event) {
    if (event.kind == Event::Kind::error) error = event.text;
    if (event.kind != Event::Kind::step) return;
    (event.step == 1 ? first : last) = Seconds();
  });
  session.run_file(training.script, options);
  if (session.wait() != Outcome::ok) fail(training.script, ": ", error);
  const double steps = double(training.steps - 1);
  return {(last.wall - first.wall) / steps, (last.processor - first.processor) / steps};
}

// A replay, its messages, and what it shows at a step.
class Shown {
 public:
  Shown(const std::string& folder, std::shared_ptr<KeyframeSource> keyframes)
      : replay_(folder, options(std::move(keyframes))) {}

  void go_to(int64_t step) { replay_.go_to(step); }
  int steps_made() { return steps_made_.exchange(0); }
  std::optional<Difference> difference() const { return replay_.difference(); }

  // The tape with the figures of each node, and the fingerprint.
  std::string content(int64_t step) {
    std::ostringstream out;
    out << std::hexfloat;
    const auto add = [&](const std::optional<Summary>& figures) {
      if (figures)
        out << " " << figures->count << " " << figures->min << " " << figures->max << " " << figures->mean
            << " " << figures->norm;
    };
    const auto tape = replay_.session().tape(step);
    if (!tape) fail("step ", step, " shows no tape");
    for (const NodeInfo& node : tape->nodes) {
      out << node.op << " " << node.module << " " << node.place.line;
      for (const OperandInfo& input : node.inputs) {
        out << " " << input.name;
        for (const int64_t size : input.shape) out << " " << size;
      }
      add(node.output_summary);
      add(node.gradient_summary);
      out << "\n";
    }
    std::promise<void> done;
    replay_.session().eval(kFingerprint, [&](bool) { done.set_value(); });
    done.get_future().wait();
    return out.str() + output_;
  }

 private:
  ReplayOptions options(std::shared_ptr<KeyframeSource> keyframes) {
    ReplayOptions options;
    options.keyframes = std::move(keyframes);
    options.warn = [](const std::string& fact) { std::fprintf(stderr, "%s\n", fact.c_str()); };
    options.progress = [this](int64_t) { ++steps_made_; };
    options.events = [this](const Event& event) {
      if (event.kind == Event::Kind::output || event.kind == Event::Kind::error) output_ = event.text;
    };
    return options;
  }

  std::atomic<int> steps_made_{0};
  std::string output_;
  Replay replay_;  // last: its thread uses the other members
};

std::vector<int64_t> random_steps(int64_t last, int count) {
  std::mt19937 random(7);
  std::vector<int64_t> steps{1, last};
  while (int(steps.size()) < count) steps.push_back(1 + int64_t(random() % uint64_t(last)));
  return steps;
}

void check_difference(const Shown& shown) {
  if (const auto differs = shown.difference())
    fail("the replay differs from the run at step ", differs->step, ": ", differs->what);
}

int scrub(const Training& training) {
  set_thread_count(training.threads);
  const TemporaryFolder temporary;
  const std::string folder = temporary.path() + "/run";
  const auto keyframes = std::make_shared<MemoryKeyframes>(kKeyframes);
  const Seconds step_time = train(training, folder, keyframes);
  const double share = keyframes->share();
  const std::vector<int64_t> steps = random_steps(training.steps, training.jumps);

  std::map<int64_t, std::string> expected;
  for (const int64_t step : steps) expected[step];
  {
    Shown each_once(folder, nullptr);
    for (auto& [step, content] : expected) {
      each_once.go_to(step);
      content = each_once.content(step);
    }
    check_difference(each_once);
  }

  Shown shown(folder, keyframes);
  std::vector<double> seconds;
  int within = 0, within_processor = 0, different = 0, most_steps = 0;
  double worst_excess = 0;
  for (const int64_t step : steps) {
    shown.steps_made();
    const Seconds start;
    shown.go_to(step);
    const Seconds took = since(start);
    const int made = shown.steps_made();
    seconds.push_back(took.wall);
    const double excess = took.wall - made * step_time.wall;
    within += excess <= kOverhead;
    within_processor += took.processor - made * step_time.processor <= kOverhead;
    worst_excess = std::max(worst_excess, excess);
    most_steps = std::max(most_steps, made);
    different += shown.content(step) != expected[step];
  }
  check_difference(shown);
  std::sort(seconds.begin(), seconds.end());
  std::printf(
      "%s: %lld steps of %.3g ms, %d jumps of at most %d steps: median %.2f s, worst %.2f s; within the time "
      "of their "
      "steps + %.1f s: %d by the clock (worst + %.2f s), %d in processor time; %d differ; %zu keyframes, "
      "%.1f %% of the "
      "time\n",
      std::filesystem::path(training.script).stem().c_str(), static_cast<long long>(training.steps),
      1e3 * step_time.wall, training.jumps, most_steps, seconds[seconds.size() / 2], seconds.back(),
      kOverhead, within, worst_excess, within_processor, different, keyframes->steps().size(), 100 * share);
  return different > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Training training;
  std::vector<std::string> set;
  CLI::App app("times jumps to random steps of a training");
  app.add_option("SCRIPT", training.script)->required();
  app.add_option("--device", training.device);
  app.add_option("--steps", training.steps)->check(CLI::Range(2, 1000000));
  app.add_option("--jumps", training.jumps)->check(CLI::Range(2, 10000));
  app.add_option("--threads", training.threads)->check(CLI::Range(1, 1024));
  app.add_option("--set", set, "NAME=VALUE")->allow_extra_args(false);
  app.add_option("ARGUMENTS", training.arguments);
  CLI11_PARSE(app, argc, argv);
  for (const std::string& one : set)
    training.set[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  try {
#ifdef LUNAGRAD_HAS_GPU
    gpu::install();
#endif
    const int code = scrub(training);
#ifdef LUNAGRAD_HAS_GPU
    gpu::close();
#endif
    return code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "scrub: %s\n", error.what());
    return 2;
  }
}
