#include "script/session/run_control.h"

#include <utility>

namespace lunagrad {
namespace {

using Clock = Pausing::Clock;

// A stop waits this long for the end of the step, then raises a Lua error.
constexpr std::chrono::seconds kStopGrace{10};

}  // namespace

// ---- requests, from any thread

void RunControl::start(Script script) {
  {
    const std::lock_guard lock(mutex_);
    begin_to_wait();
    if (script.options.begin_paused) {
      pause_first_ = true;
      step_first_ = StepTo::nothing;
    }
    next_ = std::move(script);
    next_stopped_ = false;
    has_run_ = true;
    if (running_) {
      interrupt_ = true;
      stop_requested_.store(true);
    }
    raise_attention();
  }
  changed_.notify_all();
}

void RunControl::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    raise_attention();
  }
  changed_.notify_all();
}

void RunControl::reload(Reload asked) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_run_) return;
    if (next_) {  // not begun yet: it will read its file when it begins
      if (asked.source) next_->options.source = std::move(asked.source);
      if (asked.modules) next_->options.modules = std::move(*asked.modules);
      return;
    }
    reload_ = std::move(asked);
    raise_attention();
  }
  changed_.notify_all();
}

void RunControl::pause() {
  const std::lock_guard lock(mutex_);
  if (!running_ || next_) {  // the running script ends for next_
    pause_first_ = true;
    step_first_ = StepTo::nothing;
    return;
  }
  begin_to_wait();
  pausing_.ask();
  raise_attention();
}

void RunControl::let_step_end() {
  const std::lock_guard lock(mutex_);
  if (pausing_.asked() && state_.load() == SessionState::running) pausing_.let_step_end(Clock::now());
}

void RunControl::go_on(StepTo to) {
  {
    const std::lock_guard lock(mutex_);
    ask_to_go_on(to);
  }
  changed_.notify_all();
}

void RunControl::ask_to_go_on(StepTo to) {
  if (!running_ || next_) {
    pause_first_ = false;
    step_first_ = next_ || reload_ ? to : StepTo::nothing;
    return;
  }
  pausing_.go_on(to, state_.load() == SessionState::paused);
  raise_attention();
}

void RunControl::stop() {
  {
    const std::lock_guard lock(mutex_);
    begin_to_wait();
    stop_what_waits();
    if (running_) {
      if (!stop_) stop_since_ = Clock::now();
      stop_ = true;
      if (!in_steps_.load()) stop_requested_.store(true);
      raise_attention();
    }
  }
  changed_.notify_all();
}

void RunControl::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    begin_to_wait();
    stop_what_waits();
    if (task_running_) {
      interrupt_task_ = true;
    } else if (running_) {
      interrupt_ = true;
    }
    stop_requested_.store(task_running_ || running_);
    raise_attention();
  }
  changed_.notify_all();
}

void RunControl::close() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    awaited_since_ = Clock::now();
    if (running_ || task_running_) stop_requested_.store(true);
    raise_attention();
  }
  changed_.notify_all();
}

Outcome RunControl::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return idle(); });
  return outcome_;
}

template <class Over>
bool RunControl::wait_until(std::unique_lock<std::mutex>& lock, double seconds, const Over& over) {
  constexpr double kLongest = 1e9;  // clocks cannot count much further
  if (seconds < kLongest)
    return changed_.wait_for(lock, std::chrono::duration<double>(seconds > 0 ? seconds : 0), over);
  changed_.wait(lock, over);
  return true;
}

std::optional<Outcome> RunControl::wait_for(double seconds) {
  std::unique_lock lock(mutex_);
  if (!wait_until(lock, seconds, [this] { return idle(); })) return std::nullopt;
  return outcome_;
}

StepEnd RunControl::step_and_wait(double seconds) {
  std::unique_lock lock(mutex_);
  if (idle()) return StepEnd::ended;
  ask_to_go_on(StepTo::step_end);
  changed_.notify_all();
  const uint64_t before = pauses_;
  if (!wait_until(lock, seconds, [&] { return idle() || pauses_ != before; })) return StepEnd::timed_out;
  if (pauses_ == before) return StepEnd::ended;
  return pause_ended_step_ ? StepEnd::stepped : StepEnd::paused;
}

bool RunControl::awaited() const {
  if (task_running_) return interrupt_task_;
  return running_ && (stop_ || interrupt_ || pausing_.asked() || next_) &&
         state_.load() != SessionState::paused;
}

void RunControl::stop_what_waits() {
  if (next_) next_stopped_ = true;
  pause_first_ = false;
  step_first_ = StepTo::nothing;
  forget_reloads();
}

void RunControl::begin_to_wait() {
  if (!awaited()) awaited_since_ = Clock::now();
}

std::optional<double> RunControl::waited() const {
  const std::lock_guard lock(mutex_);
  if (!awaited()) return std::nullopt;
  return std::chrono::duration<double>(Clock::now() - awaited_since_).count();
}

double RunControl::closing_for() const {
  const std::lock_guard lock(mutex_);
  return std::chrono::duration<double>(Clock::now() - awaited_since_).count();
}

bool RunControl::ending() const {
  const std::lock_guard lock(mutex_);
  return closing_ || stop_ || interrupt_ || interrupt_task_ || next_;
}

bool RunControl::resumed() const {
  const std::lock_guard lock(mutex_);
  return running_ && state_.load() == SessionState::paused && !pausing_.asked();
}

void RunControl::viewers_changed() {
  const std::lock_guard lock(mutex_);
  viewers_changed_ = true;
  raise_attention();
}

// ---- the session's thread, between scripts

RunControl::Work RunControl::await_work(std::optional<Script>& script) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closing_ || next_ || reload_ || successor_ || !tasks_.empty(); });
  if (closing_) return Work::close;
  if (!tasks_.empty()) return Work::task;
  script = std::exchange(next_, std::nullopt);
  running_ = true;
  // Requests between the previous script's end and now were meant for the previous script.
  interrupt_ = std::exchange(next_stopped_, false);
  stop_ = false;
  stop_requested_.store(false);
  pausing_.clear();
  if (std::exchange(pause_first_, false)) pausing_.ask();
  if (step_first_ != StepTo::nothing) pausing_.go_on(std::exchange(step_first_, StepTo::nothing), false);
  loading_ = true;
  awaited_since_ = Clock::now();
  if (script) forget_reloads();
  return Work::script;
}

void RunControl::drop_tasks() {
  std::deque<std::function<void()>> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  dropped.swap(tasks_);
  tasks_due_ = 0;
}

void RunControl::scripts_ended() {
  const std::lock_guard lock(mutex_);
  running_ = false;
  pausing_.clear();
  changed_.notify_all();
}

std::optional<RunControl::Reload> RunControl::take_reload() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reload_, std::nullopt);
}

std::optional<Script> RunControl::take_successor() {
  const std::lock_guard lock(mutex_);
  return std::exchange(successor_, std::nullopt);
}

void RunControl::set_successor(std::optional<Script> script) {
  const std::lock_guard lock(mutex_);
  successor_ = std::move(script);
}

void RunControl::forget_reloads() {
  reload_.reset();
  successor_.reset();
}

// ---- around a task

std::function<void()> RunControl::begin_task() {
  const std::lock_guard lock(mutex_);
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  if (tasks_due_ > 0) --tasks_due_;
  task_running_ = true;
  return task;
}

void RunControl::begin_own_task() {
  const std::lock_guard lock(mutex_);
  task_running_ = true;
}

void RunControl::end_task() {
  const std::lock_guard lock(mutex_);
  task_running_ = false;
  if (std::exchange(interrupt_task_, false)) stop_requested_.store(interrupt_ || closing_);
}

// ---- while a script runs

bool RunControl::begin_first_line() {
  const std::lock_guard lock(mutex_);
  loading_ = false;
  if (pausing_.near()) raise_attention();
  return pausing_.asked() || pausing_.step_to() == StepTo::line;
}

bool RunControl::set_state(SessionState state) {
  {
    const std::lock_guard lock(mutex_);
    if (state_.exchange(state) == state) return false;
    if (state == SessionState::paused) {
      ++pauses_;
      pause_ended_step_ = pausing_.ended() == StepTo::step_end;
    }
  }
  changed_.notify_all();
  return true;
}

bool RunControl::take_viewers_changed() {
  const std::lock_guard lock(mutex_);
  return std::exchange(viewers_changed_, false);
}

void RunControl::pause_at_once() {
  const std::lock_guard lock(mutex_);
  pausing_.ask_at_once();
  raise_attention();
}

void RunControl::interrupt_script() {
  const std::lock_guard lock(mutex_);
  if (running_) interrupt_ = true;
}

bool RunControl::pause_is_near() const {
  const std::lock_guard lock(mutex_);
  return pausing_.near();
}

void RunControl::begin_last_checkpoint() {
  const std::lock_guard lock(mutex_);
  stop_ = false;
  checkpointed_ = true;
  pausing_.clear();
  forget_reloads();
}

void RunControl::script_ended(Outcome outcome) {
  const std::lock_guard lock(mutex_);
  if (stop_ || interrupt_ || checkpointed_) forget_reloads();
  stop_ = interrupt_ = checkpointed_ = writing_ = loading_ = false;
  pausing_.clear();
  in_steps_.store(false);
  outcome_ = outcome;
  stop_requested_.store(closing_);
  attention_.store(false);
}

bool RunControl::wants_unwinding(const Place& at) const {
  if (closing_) return true;
  if (task_running_) return interrupt_task_;
  if (interrupt_) return true;
  if (!stop_) return false;
  return at.place == SafePlace::step_end || state_.load() == SessionState::paused || !at.in_loop ||
         Clock::now() - stop_since_ > kStopGrace;
}

void RunControl::reached(SafePlace place) {
  const std::lock_guard lock(mutex_);
  awaited_since_ = Clock::now();
  if (at_own_work()) return;
  if (!loading_) pausing_.reached(place);
  tasks_due_ = tasks_.size();
}

RunControl::Step RunControl::next(const Place& at) {
  const std::lock_guard lock(mutex_);
  if (wants_unwinding(at)) {
    const bool at_step_end = at.place == SafePlace::step_end && stop_ && !closing_ && !interrupt_;
    return {at_step_end ? Next::last_checkpoint : Next::unwind};
  }
  if (at_own_work()) return {Next::back_to_task};
  if (tasks_due_ > 0) return {Next::task};
  if (reload_) return {Next::read_reload};
  if (successor_) {
    pausing_.finish_step_first();
    if (at.may_be_replaced) return {Next::hand_over};
  }
  if (!loading_ && pausing_.granted_at(at.place, in_steps_.load(), at.whole_step, Clock::now())) {
    pausing_.begin(at.place, in_steps_.load(), at.whole_step);
    return {Next::pause, pausing_.ended()};
  }
  attention_.store(pausing_.near() || stop_ || successor_ || viewers_changed_ || !tasks_.empty());
  return {Next::go_on, pausing_.step_to(), stop_};
}

void RunControl::wait_while_paused() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] {
    return closing_ || interrupt_ || stop_ || reload_ || !pausing_.asked() || !tasks_.empty();
  });
  tasks_due_ = tasks_.size();
}

}  // namespace lunagrad
