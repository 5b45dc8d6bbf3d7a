#include "script/time/replay.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "runtime/core/error.h"
#include "script/run/used_files.h"
#include "script/time/keyframe_folder.h"
#include "script/trust/marks.h"

namespace lunagrad {

ReplayLimits limits_of(const RunOptions& run) {
  ReplayLimits limits;
  limits.sandbox = run.sandbox;
  limits.memory = run.memory;
  limits.disk = run.disk;
  limits.timeout = run.timeout;
  limits.stand_ins = run.stand_ins;
  return limits;
}

// A sandboxed script may have written into its own folder: then the folder cannot be trusted more than a
// folder of another user.
static bool is_confined(const std::string& folder, const ReplayLimits& limits) {
  return limits.confined || (limits.sandbox && !origin_of_run(folder).own);
}

Replay::Replay(const std::string& folder, ReplayOptions options)
    : timeline_(read_timeline(folder, is_confined(folder, options.limits))), options_(std::move(options)) {
  timeline_.steps = std::max(timeline_.steps, options_.steps);
  if (const std::string damage = damage_of(run()); !damage.empty()) tell(damage);
  if (!options_.keyframes)
    options_.keyframes =
        std::make_shared<KeyframeReader>(folder, [this](const std::string& why) { tell(why); });
}

Replay::~Replay() = default;

void Replay::tell(const std::string& fact) {
  if (options_.warn) options_.warn(fact);
}

// Why a replay may differ: changed data that the run read, or else something that a run does not record.
std::string Replay::cause() const {
  std::string names;
  const std::vector<std::string> changed = changed_data(used_files(run().folder).files);
  for (const std::string& name : changed) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty())
    return names + (changed.size() == 1 ? " has" : " have") + " changed since the run read " +
           (changed.size() == 1 ? "it" : "them");
  return "the script depends on something that the run did not record, such as its input or environment, the "
         "time, math.random, the order of pairs, or threads";
}

std::optional<Difference> Replay::difference() const {
  std::optional<Difference> found = check_ ? check_->first() : std::nullopt;
  if (found) found->cause = cause();
  return found;
}

void Replay::require_same() const {
  if (const std::optional<Difference> differs = difference())
    fail(run().folder, ": the replay differs from the run at step ", differs->step, ": ", differs->what, "; ",
         differs->cause);
}

void Replay::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  changed_.notify_all();
}

// The last keyframe, or beginning of a span, from which the end of `step` can be reached. A fork begins with
// a keyframe of its parent.
Replay::Start Replay::nearest(int64_t step) const {
  const std::vector<ReloadSpan>& spans = timeline_.spans;
  const int64_t fork = timeline_.record.parent.empty() ? -1 : timeline_.record.parent_step;
  Start start;
  std::error_code ignored;
  for (size_t i = 0; i < spans.size() && spans[i].step <= step; ++i)
    if (!spans[i].checkpoint.empty() && std::filesystem::exists(spans[i].checkpoint, ignored))
      start = {nullptr, i, spans[i].step};
  const int64_t last = keyframes_hold_all_ ? step : std::min(step, fork);
  start.keyframe =
      last < start.step ? nullptr : options_.keyframes->latest(start.step + (start.span > 0), last);
  if (!start.keyframe) {
    if (fork > 0 && start.span == 0)
      fail_as(ErrorKind::file, timeline_.record.folder, "/keyframes: the keyframe of step ", fork,
              " is missing, with which this fork of ", timeline_.record.parent, " began");
    return start;
  }
  start.step = start.keyframe->step;
  while (start.span + 1 < spans.size() && spans[start.span + 1].step <= start.step) ++start.span;
  return start;
}

void Replay::start(const Start& start, int64_t pause_at, const std::function<void(Session&)>& prepare) {
  const std::vector<ReloadSpan>& spans = timeline_.spans;
  RunOptions options = options_behind(timeline_, spans[start.span], start.keyframe);
  check_ = std::make_shared<ReplayCheck>(timeline_.record, *options_.keyframes);
  check_->keep(kept_step_);
  options.keyframe_sink = check_;
  options.files_aside = true;
  options.sandbox |= options_.limits.sandbox;
  options.memory = options_.limits.memory;
  options.disk = options_.limits.disk;
  options.stand_ins = options_.limits.stand_ins;
  if (tape_step_ > 0) {
    options.tape_step = tape_step_;
    options.on_tape = [this](const std::string& line) { tape_line_ = line; };
  }
  session_.reset();
  {
    const std::lock_guard lock(mutex_);
    reloads_.assign(spans.rbegin(), spans.rend() - std::ptrdiff_t(start.span) - 1);
    pause_at_ = pause_at;
    pauses_ = waited_ = 0;
    ended_ = false;
    error_.clear();
    reached_ = start.step;
  }
  began_at_ = start.step;
  session_ = std::make_unique<Session>([this](const Event& event) { handle(event); });
  prepare(*session_);
  session_->run_file(timeline_.script_to_run(), std::move(options));
}

// On the session's thread.
void Replay::handle(const Event& event) {
  using Kind = Event::Kind;
  if (options_.events) options_.events(event);
  if (event.kind == Kind::metrics) check_->see(event);
  std::optional<ReloadSpan> reload;
  {
    const std::lock_guard lock(mutex_);
    switch (event.kind) {
      case Kind::step:
        reached_ = event.step;
        if (!reloads_.empty() && reloads_.back().step == event.step && event.step <= cross_to_) {
          reload = std::move(reloads_.back());
          reloads_.pop_back();
        } else if (event.step == pause_at_) {
          session_->pause();
        }
        break;
      case Kind::state:
        pauses_ += event.state == SessionState::paused;
        break;
      case Kind::error:
        error_ = event.text;
        break;
      case Kind::ended:
        ended_ = true;
        break;
      default:
        return;
    }
  }
  changed_.notify_all();
  if (event.kind == Kind::step && options_.progress) options_.progress(event.step);
  if (reload) session_->reload(timeline_.script_of(*reload), reload->modules);
}

void Replay::wait_for_pause(int64_t step) {
  std::unique_lock lock(mutex_);
  const auto is_over = [this] { return ended_ || cancelled_ || pauses_ > waited_; };
  bool in_time = true;
  if (options_.limits.timeout > 0)
    in_time = changed_.wait_until(lock, time_ends_, is_over);
  else
    changed_.wait(lock, is_over);
  if (std::exchange(cancelled_, false) || !in_time) {
    at_ = -1;
    const int64_t reached = reached_;
    lock.unlock();
    session_->interrupt();
    if (in_time) fail_as(ErrorKind::cancelled, "the replay was stopped");
    fail_as(ErrorKind::cancelled, "time limit reached: the replay was stopped after ",
            options_.limits.timeout, " s, after step ", reached);
  }
  if (pauses_ > waited_) {
    ++waited_;
    at_ = step;
    return;
  }
  at_ = -1;
  const std::string line = error_.substr(0, error_.find('\n'));
  fail(timeline_.record.folder, ": the replay ended after step ", reached_, ", before step ", step,
       line.empty() ? std::string() : ": " + line);
}

// A keyframe does not contain what is not registered with lg.run.state. If the script needs it, the replay
// begins again with the first step.
void Replay::attempt(int64_t from, const std::function<void(const Start&)>& make) {
  const Start begin = nearest(from);
  if (keyframes_hold_all_ && !begin.keyframe && from > 0 && begin.step == 0 &&
      !std::exchange(reported_beginning_, true))
    tell(text("there is no keyframe up to step ", from,
              ": the replay begins with step 1 (lunagrad run --keyframes keeps some, of what lg.run.state "
              "registers)"));
  const bool may_retry = begin.keyframe && keyframes_hold_all_ && repeats_itself_;
  std::string problem;
  try {
    make(begin);
  } catch (const Error& error) {
    // Without a check no session was started, because the script cannot be read.
    if (!may_retry || !check_ || error.kind() == ErrorKind::cancelled) throw;
    problem = error.what();
  }
  if (const std::optional<Difference> differs = check_->first())
    problem = text("step ", differs->step, " differs (", differs->what, ")");
  if (!may_retry || problem.empty()) return;
  keyframes_hold_all_ = false;
  try {
    attempt(from, make);
  } catch (const Error&) {
    keyframes_hold_all_ = true;
    throw;
  }
  repeats_itself_ = !check_->first();
  keyframes_hold_all_ = !repeats_itself_;  // otherwise it differs from any start
  if (repeats_itself_)
    tell(text("after the keyframe of step ", begin.step, ", ", problem,
              ": lg.run.state does not register all that the run needs to go on, so replays begin with step ",
              first_step()));
}

void Replay::begin_time() {
  time_ends_ =
      std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                             std::chrono::duration<double>(options_.limits.timeout));
}

void Replay::go_to(int64_t step) {
  check_steps(step, step);
  if (at_ == step) return;
  begin_time();
  const auto watch = [](Session& session) {
    session.watch_tape(true);
    session.watch_statistics(true, 1);
    session.capture_values();
  };
  const auto make_last = [&] {
    watch(*session_);
    session_->step();
    wait_for_pause(step);
  };
  const bool goes_on = can_go_on_to(step);
  {
    const std::lock_guard lock(mutex_);
    pause_at_ = cross_to_ = step - 1;
  }
  if (goes_on) {
    const bool knew = check_->first().has_value();
    try {
      if (at_ < step - 1) {
        session_->watch_tape(false);
        session_->watch_statistics(false);
        session_->resume();
        wait_for_pause(step - 1);
      }
      make_last();
      if (knew || !check_->first()) return;
    } catch (const Error& error) {
      if (knew || error.kind() == ErrorKind::cancelled) throw;
    }
  } else if (step == 1) {  // a script without lg.run.steps has no end of step 0
    start(nearest(0), -1, watch);
    session_->step();
    return wait_for_pause(1);
  }
  attempt(step - 1, [&](const Start& begin) {
    start(begin, step - 1, [](Session&) {});
    wait_for_pause(step - 1);
    make_last();
  });
}

void Replay::run_through(int64_t first, int64_t last, const std::function<void(Session&)>& prepare) {
  check_steps(first, last);
  begin_time();
  {
    const std::lock_guard lock(mutex_);
    cross_to_ = last - 1;
  }
  attempt(first - 1, [&](const Start& begin) {
    start(begin, last, prepare);
    wait_for_pause(last);
  });
}

std::string Replay::recorded_tape(int64_t step) {
  tape_step_ = step;
  tape_line_.clear();
  run_through(step, step, [](Session&) {});
  tape_step_ = -1;
  return std::move(tape_line_);
}

KeyframePtr Replay::keyframe_at(int64_t step) {
  check_steps(step, step);
  if (const KeyframePtr there = options_.keyframes->latest(step, step); there && keyframes_hold_all_)
    return there;
  kept_step_ = step;
  run_through(step, step, [](Session&) {});
  kept_step_ = -1;
  return check_->kept();
}

// False if a reload follows the step of the pause, or if a keyframe is nearer.
bool Replay::can_go_on_to(int64_t step) const {
  if (at_ < 1 || at_ >= step || at_ < nearest(step - 1).step) return false;
  return std::none_of(timeline_.spans.begin() + 1, timeline_.spans.end(),
                      [&](const ReloadSpan& span) { return span.step == at_; });
}

void Replay::check_steps(int64_t first, int64_t last) const {
  if (first >= first_step() && last <= steps() && first <= last) return;
  const std::string asked = first == last ? text("step ", first) : text("steps ", first, " to ", last);
  fail(asked, ": the run ", timeline_.record.folder, " has ",
       steps() < first_step() ? std::string("no steps") : text("the steps ", first_step(), " to ", steps()));
}

}  // namespace lunagrad
