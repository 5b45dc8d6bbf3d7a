#include "script/session/viewers.h"

#include "runtime/tape/finite.h"

namespace lunagrad {
namespace {

int64_t begun_step(const Run& run) { return run.in_steps() ? run.step() : run.done() + 1; }

// A run's folder gets the tapes of steps 1, 10, 100, … and of the last step: few in a run of any length.
bool keeps_tape(const Run& run) {
  const int64_t step = begun_step(run);
  int64_t power = 1;
  while (power < step && power <= INT64_MAX / 10) power *= 10;
  return step == power || step == run.total();
}

// It also gets the first tape of a resumed run, or of a run whose folder was made later. After this many
// steps without a backward pass no more are tried.
constexpr int kTries = 10;

}  // namespace

Viewers::Viewers(Context& context, const RunControl& control, Events& events, BreakpointPauses& breakpoints,
                 std::function<void(const FiniteSentry::Found&)> not_finite)
    : context_(context),
      control_(control),
      events_(events),
      breakpoints_(breakpoints),
      sentry_(std::move(not_finite), [this] { return control_.task_running(); }) {
  tape_.set_statistics(&statistics_);
}

void Viewers::begin_script(bool goes_on, Guard guard) {
  if (!goes_on) tape_.clear();
  recorder_.begin_run();
  recorder_.begin_step(false);
  tries_ = kTries;
  context_.guard = asked_guard_ = guard;
}

void Viewers::begin_step(const Run& run) {
  breakpoints_.take_over();
  breakpoints_.watch().begin_step(run.step());
  sentry_.begin_step(run.step());
  leaks_.begin_step(begun_step(run));
  tape_.begin_step({.step = run.step(),
                    .number = run.done() + 1,
                    .values = control_.pause_is_near(),
                    .in_steps = run.awaits_boundary(),
                    .careful = run.total() == run.step() || breakpoints_.watch().any()});
  statistics_.begin_step(tape_.captures());
  const bool in_folder = run.folder() && run.awaits_boundary();
  recorder_.begin_step((in_folder && (tries_ > 0 || keeps_tape(run))) || run.asks_for_tape(begun_step(run)));
  if (in_folder && tries_ > 0) --tries_;
  profile_.begin_step(run.step(), !run.awaits_boundary(), *context_.device);
  ranks_.begin_step(run.awaits_boundary() ? run.step() : 0);
  listen();
}

void Viewers::end_step(Run& run) {
  ranks_.end_step();
  tape_.step_over();
  statistics_.end_step(run.done());
  end_script(run);
}

void Viewers::end_script(Run& run) {
  if (!recorder_.recording()) return;
  const int64_t step = std::max<int64_t>(run.step(), 1);
  const std::string tape = recorder_.end_step(step);
  if (tape.empty()) return;
  tries_ = 0;
  run.log_tape(step, tape);
}

void Viewers::listen() {
  BreakpointWatch& breakpoints = breakpoints_.watch();
  Captures::Viewers& viewers = captures_.renew();
  if (statistics_.watching()) viewers.push_back(&statistics_);  // before the tape, which copies its numbers
  if (tape_.watching()) viewers.push_back(&tape_);
  if (breakpoints.wants_gradients()) viewers.push_back(&breakpoints);
  if (profile_.measuring()) viewers.push_back(&profile_);
  if (recorder_.recording()) viewers.push_back(&recorder_);
  if (sentry_.looks_at_gradients()) viewers.push_back(&sentry_);
  context_.capture = captures_.empty() ? nullptr : &captures_;
  sees_calls_ = notes_calls_ || tape_.times_calls() || statistics_.looking() || breakpoints.wants_ops() ||
                profile_.measuring() || recorder_.recording();
  context_.trace = sees_calls_ || tape_.keeps_step() || !context_.device->is_cpu() ? this : nullptr;
  set_root_watch(this);
  set_finite_watch(breakpoints.wants_finite() ? &breakpoints : nullptr);
  context_.guard = breakpoints.wants_finite() ? Guard::op : asked_guard_;
  breakpoints.set_raises(asked_guard_ == Guard::op);
}

void Viewers::ask_guard(Guard level) {
  asked_guard_ = level;
  listen();
}

void Viewers::note_calls(bool on) {
  if (on == std::exchange(notes_calls_, on)) return;
  forget_noted();
  listen();
}

void Viewers::forget_noted() {
  noted_call_.reset();
  noted_root_ = {};
}

void Viewers::close_state() {
  forget_noted();
  notes_calls_ = false;
  tape_.end_script();
  statistics_.clear(false);
  breakpoints_.watch().close_state();
  profile_.begin_run();
  ranks_.begin_run();
  batch_.clear();
}

// Called after an op. Ops of tasks go only to the tape and the profile. In most steps only the tape looks at
// ops.
void Viewers::ran(const Call& call, uint64_t length) {
  if (profile_.measuring()) profile_.ran(call, length);
  tape_.ran(call);
  if (!sees_calls_ || control_.task_running()) return;
  statistics_.ran(call);
  recorder_.ran(call);
  breakpoints_.watch().ran(call);
  if (!notes_calls_ || context_.differentiating || tape_.in_pass() || breakpoints_.watch().busy()) return;
  noted_call_ = note_of(call);
  noted_root_ = {};
}

void Viewers::root(const Tensor& x) {
  if (control_.task_running()) return;
  if (notes_calls_) {
    noted_call_.reset();
    noted_root_ = x.node();
  }
  sentry_.root(x);
  growth_.root(x);
  leaks_.root(x);
}

void Viewers::waited(uint64_t length) {
  if (profile_.measuring()) profile_.waited(length);
}

void Viewers::fell_back(const Call& call, const char* reason) {
  if (profile_.measuring()) profile_.fell_back(call, reason);
  if (!reported_.insert(call.op).second) return;
  events_.warn(text(call.op->name + (call.op->hidden() ? 1 : 0), " runs on the CPU: ", reason));
}

}  // namespace lunagrad
