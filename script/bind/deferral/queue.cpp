#include "script/bind/deferral/queue.h"

#include <iostream>

#include "runtime/deferral/explain.h"
#include "script/lua/garbage.h"

namespace lunagrad {
namespace {

// The model of a step's gain, in ns. A result that stays in a group is neither written nor read again. On the
// CPU preparing a group takes longer than preparing a call. On a GPU the calls are planned, and their group's
// shader is looked up, while the device waits for them.
constexpr double kPlan = 900;                                  // per step
constexpr double kDeferredOnCpu = 150, kDeferredOnGpu = 1000;  // per deferred call
constexpr uint64_t kCached = 512 << 10;                        // bytes of results that stay in a CPU's caches
constexpr double kByteInCache = 0.02, kByteInMemory = 0.1, kByteOnGpu = 0.001;
constexpr double kJoinOnCpu = -150, kJoinOnGpu = 2000;  // per call that joined a group
constexpr int kStepsBetweenTrials = 200;

void show_plan(BindingState& state) {
  state.plans_to_show = 0;
  std::cerr << "Plan of a step: " << explain(*state.queue->calls.report()) << std::flush;
}

}  // namespace

bool Trials::wants_step() {
  if (eager_ == 0) return true;
  --eager_;
  return false;
}

void Trials::judge(const QueueReport& report, bool on_cpu) {
  if (report.calls.size() == report.at_once) return;
  double gain = (double(report.calls.size()) - report.units) * (on_cpu ? kJoinOnCpu : kJoinOnGpu);
  for (const QueueReport::Done& call : report.calls)
    if (!call.stored)
      gain += double(call.bytes) * (!on_cpu                 ? kByteOnGpu
                                    : call.bytes <= kCached ? kByteInCache
                                                            : kByteInMemory);
  const double deferred = double(report.calls.size() - report.at_once);
  if (gain < kPlan + deferred * (on_cpu ? kDeferredOnCpu : kDeferredOnGpu)) eager_ = kStepsBetweenTrials;
}

StepQueue& queue_of(BindingState& state) {
  if (!state.queue) {
    state.queue = std::make_shared<StepQueue>();
    state.queue->calls.free_memory_with([alive = state.alive] {
      if (BindingState* const open = *alive) collect_everything(open->main);
    });
    state.queue->calls.drop_garbage_with([alive = state.alive] {
      if (BindingState* const open = *alive) collect_under_pressure(open->main, *open);
    });
  }
  return *state.queue;
}

void compute_queue(lua_State* L, CallQueue& queue) {
  BindingState& state = binding_state(L);
  const uint64_t pending = queue.pending_bytes();
  if (pending >= state.pressure.most_bytes && !collect_dropped(L, state, pending))
    collect_under_pressure(L, state);
  queue.compute();
}

std::shared_ptr<const QueueReport> leave_step(lua_State* L) {
  BindingState& state = binding_state(L);
  if (!state.queue) return nullptr;
  CallQueue& calls = state.queue->calls;
  if (context().queue == &calls) {
    context().queue = nullptr;
    compute_queue(L, calls);
    state.queue->trials.judge(*calls.report(), context().device->is_cpu());
    if (state.plans_to_show > 0 && --state.plans_to_show == 0) show_plan(state);
  }
  return calls.report();
}

bool defers_steps(lua_State* L) {
  const BindingState& state = binding_state(L);
  return state.deferral == Deferral::always ||
         (state.deferral == Deferral::automatic && state.queue && state.queue->trials.gains());
}

void end_steps(lua_State* L) {
  BindingState& state = binding_state(L);
  if (state.queue && state.plans_to_show > 0) show_plan(state);
}

void enter_step(lua_State* L) {
  BindingState& state = binding_state(L);
  if (state.deferral == Deferral::off) return;
  StepQueue& queue = queue_of(state);
  if (state.deferral != Deferral::always && !queue.trials.wants_step()) return;
  queue.calls.begin_report();
  context().queue = &queue.calls;
}

}  // namespace lunagrad
