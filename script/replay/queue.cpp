#include "script/replay/queue.h"

#include <iostream>

#include "runtime/deferral/explain.h"

namespace lunagrad {
namespace {

// The model of a step's gain, in ns. A result that stays in a group is neither written nor read again.
constexpr double kPutOff = 600;                                   // of a call
constexpr double kByteOnCpu = 2 / 10.0, kByteOnGpu = 2 / 2000.0;  // 10 and 2000 GB/s
constexpr double kLaunchOnCpu = 100, kLaunchOnGpu = 2000;         // of a call that joined a group
constexpr int kStepsBetweenTrials = 200;

void show_plan(Edge& state) {
  state.plans_to_show = 0;
  std::cerr << "Plan of a step: " << explain(*state.queue->calls.report()) << std::flush;
}

}  // namespace

bool StepQueue::wants_step() {
  if (eager_steps_ == 0) return true;
  --eager_steps_;
  return false;
}

void StepQueue::judge(bool on_cpu) {
  const QueueReport& report = *calls.report();
  if (report.calls.empty()) return;
  const double joined = double(report.calls.size()) - report.units;
  const double gain = double(report.bytes_saved) * (on_cpu ? kByteOnCpu : kByteOnGpu) +
                      joined * (on_cpu ? kLaunchOnCpu : kLaunchOnGpu);
  if (gain < kPutOff * double(report.calls.size())) eager_steps_ = kStepsBetweenTrials;
}

StepQueue& queue_of(Edge& state) {
  if (!state.queue) {
    state.queue = std::make_shared<StepQueue>();
    state.queue->calls.free_memory_with([alive = state.alive] {
      if (Edge* const open = *alive) collect_everything(open->main);
    });
    state.queue->calls.drop_garbage_with([alive = state.alive] {
      if (Edge* const open = *alive) collect_under_pressure(open->main, *open);
    });
  }
  return *state.queue;
}

void compute_queue(lua_State* L, CallQueue& queue) {
  Edge& state = edge(L);
  if (queue.promised() >= state.pressure.most_bytes) collect_under_pressure(L, state);
  queue.compute();
}

void leave_step(lua_State* L) {
  Edge& state = edge(L);
  if (!state.queue || context().queue != &state.queue->calls) return;
  context().queue = nullptr;
  compute_queue(L, state.queue->calls);
  state.queue->judge(context().device->is_cpu());
  if (state.plans_to_show > 0 && --state.plans_to_show == 0) show_plan(state);
}

void end_steps(lua_State* L) {
  Edge& state = edge(L);
  if (state.queue && state.plans_to_show > 0) show_plan(state);
}

void enter_step(lua_State* L) {
  Edge& state = edge(L);
  if (state.replay == Replay::off) return;
  StepQueue& queue = queue_of(state);
  if (state.replay != Replay::always && !queue.wants_step()) return;
  queue.calls.begin_report();
  context().queue = &queue.calls;
}

}  // namespace lunagrad
