#include "script/session/session_thread.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "runtime/dist/world.h"
#include "runtime/io/disk_limit.h"
#include "runtime/system/folders.h"
#include "runtime/tape/autocast.h"
#include "script/chunk/mistakes.h"
#include "script/guard/guard.h"
#include "script/guard/run_limits.h"
#include "script/lua/binding_state.h"
#include "script/lua/script_line.h"
#include "script/lua/source.h"
#include "script/run/order.h"
#include "script/session/console.h"
#include "script/session/findings.h"
#include "script/session/run_bindings.h"

namespace lunagrad {
namespace {

// The script's line in another rank's message: "rank 1: train.lua:15: …".
SourcePlace place_in(const std::string& reason) {
  const size_t begin = reason.find(": ") + 2;
  const size_t colon = reason.find(':', begin), end = reason.find_first_not_of("0123456789", colon + 1);
  if (colon == reason.npos || end == colon + 1 || end == reason.npos || reason[end] != ':') return {};
  return {reason.substr(begin, colon - begin), std::atoi(reason.c_str() + colon + 1)};
}

}  // namespace

SessionThread::SessionThread(EventSink sink, SessionOptions options)
    : control_(context_.stop_requested),
      events_(std::move(sink), run_, calls_),
      script_(context_, hook),
      breakpoints_(control_, events_, script_, [this] { safe_point(nullptr, SafePlace::midst); }),
      viewers_(
          context_, control_, events_, breakpoints_,
          [this](const FiniteSentry::Found& found) {
            viewers_.statistics().measure_next();  // so that the norms shown are of the step with the NaN
            events_.emit(event_of(found));
          }),
      tasks_(context_, control_, events_, script_, viewers_),
      reloads_(control_, run_, events_, script_, viewers_, handover_, tasks_),
      globals_(std::move(options), calls_, control_, run_, events_, script_),
      keyframes_(Handover::read, [this](const std::string& message) { events_.warn(message); }) {
  context_.safe_point = [](void* self) {
    static_cast<SessionThread*>(self)->safe_point(nullptr, SafePlace::midst);
  };
  context_.owner = this;
  viewers_.tape().on_reached([this] { control_.interrupt(); });
  if (dist::leads())
    dist::on_words([this](const std::string& words) {
      control_.post([this, words] {
        Event event{};
        event.kind = Event::Kind::output;
        event.text = words;
        events_.emit(std::move(event));
      });
    });
  begin();
}

void SessionThread::pause_for_viewer() {
  control_.pause();
  if (!viewers_.tape().watching()) return;
  control_.let_step_end();
}

std::optional<Silence> SessionThread::silence() const {
  const std::optional<double> waited = control_.waited();
  if (!waited) return std::nullopt;
  const auto [call, line] = globals_.native_calls().current();
  return Silence{*waited, call, {interned(line.file), line.line}};
}

// ---- the session's thread

std::optional<Script> SessionThread::run_script(Script script) {
  close_state();
  context_.grad_enabled = true;
  context_.autocast = nullptr;
  context_.checkpoint = nullptr;
  context_.strict_device = script.options.strict_device;
  context_.device = &cpu_device();
  context_.generator.seed(script.options.seed.value_or(0));
  context_.line = {};
  context_.module = 0;
  found_.reset();
  const bool goes_on = run_goes_on_ = bool(handover_);
  began_step_ = false;
  const std::shared_ptr<const Keyframe> start = std::exchange(script.options.start, nullptr);
  if (!goes_on) warned_.clear();
  if (!goes_on) set_disk_limit(disk_of(script.options));
  if (!goes_on) typed_lines_.begin_script(script.options.console);
  viewers_.begin_script(goes_on, Guard(int(script.options.guard)));
  script_.begin_script();

  ScriptError error;
  Outcome outcome = Outcome::ok;
  try {
    std::shared_ptr<Run> former = run_.share();
    run_.set_script(script);
    begin_run(script);
    set_state(SessionState::running);
    if (needs_thread(script.options) && !script.options.unguarded.empty() && !goes_on)
      events_.warn(unguarded_sentence(script.options.unguarded));
    if (script.options.source) {
      script.source = *script.options.source;
    } else if (!script.path.empty()) {
      script.source = read_script(script.path);
    }
    run_->set_source(script.source);
    if (dist::leads()) dist::set_order(order_text(script));
    if (former && goes_on) run_->take_over(*former, handover_.step());
    run_->tell_source(goes_on ? handover_.step() : start ? start->step : 0);
    viewers_.sentry().begin_run(goes_on ? handover_.step() : start ? start->step : 0);
    viewers_.sentry().set_on(!script.options.on_test);
    viewers_.growth().begin_run();
    viewers_.leaks().begin_run(script.options.leaks);
    if (!goes_on) handover_.forget_kept_step();
    next_checkpoint_ = std::chrono::steady_clock::now() +
                       std::chrono::milliseconds(int64_t(1000 * script.options.checkpoint_every));
    viewers_.statistics().clear(!goes_on);
    if (!goes_on) breakpoints_.watch().begin_run();
    if (!goes_on) probes_.begin_run();
    former.reset();
    if (const std::string& asked = script.options.device; !asked.empty()) {
      std::vector<std::string> names;
      if (dist::launched_size() > 1)
        for (const auto& device : devices()) names.emplace_back(device->name());
      context_.device = &require_device(dist::device_of_rank(asked, dist::launched_local_rank(), names));
    }
    run_.set_device(context_.device);
    if (script.options.sandbox && script.options.resume.empty() && !goes_on) open_limited_folder();
    if (start) begin_at(*start, script.options.start_changed);
    if (control_.ending()) fail_as(ErrorKind::cancelled, "stopped before the first line");
    keyframes_.begin_run(script.options);
    const std::string& folder = script.options.folder;
    open_state(folder.empty() ? std::filesystem::path(script.path).parent_path().string() : folder,
               script.options);
    begin_step();
    outcome = script_.load(script, error);
    if (outcome == Outcome::ok) {
      for (std::string& warning : mistake_warnings(script_.lua(), script.source,
                                                   chunk_name(script.name.c_str()), !script.path.empty()))
        events_.warn(std::move(warning));
      if (control_.ending()) {
        outcome = Outcome::stopped;
      } else {
        if (script.options.on_test) globals_.open_testing(script_.lua(), script.options.test_filter);
        context_.line = {};
        if (control_.begin_first_line()) script_.watch_lines(nullptr);
        outcome = script_.call(script, error);
      }
    }
    if (outcome == Outcome::ok) {
      context_.device->sync();  // reports errors that a device found late, such as an index out of range
      run_->flush();
      read_for_viewers();
      if (const std::string unknown = run_->unknown_param(); !unknown.empty()) throw UsageError(unknown);
      dist::end_run();
    }
  } catch (const UsageError& failure) {
    outcome = Outcome::usage;
    error = {failure.what()};
  } catch (const Error& failure) {
    const bool stopped = script_.unwinding();  // while it loaded the library
    outcome = stopped ? Outcome::stopped : outcome_of(failure.kind());
    error = {failure.what()};
  } catch (const std::exception& failure) {
    outcome = Outcome::memory;
    error = {failure.what()};
  }
  if (std::optional<Script> successor = reloads_.take_successor()) return successor;
  end_script(outcome, error);
  return std::nullopt;
}

void SessionThread::warn_once(lua_State* L, const char* message) {
  if (warned_.insert(message).second) events_.warn(position(L) + message);
}

// Reads what viewers still need from the device at the end of a script. Throws errors of earlier calls that
// were not reported yet.
void SessionThread::read_for_viewers() {
  viewers_.end_script(*run_);
  viewers_.sentry().end_run();
}

void SessionThread::end_script(Outcome outcome, const ScriptError& error) {
  if (script_.lua()) {
    script_.arm(script_.lua());
    script_.stop_unwinding();
  }
  viewers_.profile().end_run();
  viewers_.ranks().end_run();
  viewers_.leaks().end_run();
  try {
    if (run_) read_for_viewers();    // null if there was no memory for it
  } catch (const std::exception&) {  // the script has already failed
  }
  const std::optional<int> exit_code = script_.exit_code();
  std::string message = error.message;
  SourcePlace place{error.file, error.line};
  if (!error.traceback.empty() && outcome != Outcome::usage) message += "\n" + error.traceback;
  if (message.ends_with('\n')) message.pop_back();
  if (const std::string reason = dist::failed_rank(); !reason.empty()) {
    message = reason;
    place = place_in(reason);
  }
  const bool failed = outcome != Outcome::ok && outcome != Outcome::stopped;
  PausePosition at;
  if (failed) at = failure_position(error, place, message);
  viewers_.tape().settle(failed);
  if (failed && at.node == 0) find_failed_node(at, message);
  try {
    host_.exchange(run_ ? run_->done() : 0);
  } catch (const std::exception& failure) {
    events_.warn(text("lg.host keeps an older value: ", failure.what()));
  }
  if (failed && !exit_code) {
    std::string report = message;
    if (handover_)
      report += text("\nthe state of step ", handover_.step(), " is kept; a reload goes on from it");
    events_.fail(std::move(report), std::move(place), outcome,
                 std::make_shared<const PausePosition>(std::move(at)));
  }
  int code = exit_code.value_or(int(outcome));
  try {
    if (code == 0 && outcome != Outcome::ok) dist::end_run();  // os.exit(0)
  } catch (const std::exception& failure) {
    events_.warn(failure.what());
    dist::fail_run(failure.what());
  }
  if (code != 0) dist::fail_run(message);
  const std::string incomplete = run_ ? run_->finish(outcome, code) : std::string();
  if (!incomplete.empty() && code == 0) {
    outcome = Outcome::file;
    code = int(outcome);
    events_.fail(incomplete, {}, outcome);
  }
  Event event{};
  event.kind = Event::Kind::ended;
  event.text = incomplete;
  event.outcome = outcome;
  event.exit_code = code;
  emit(std::move(event));
  control_.script_ended(outcome);
  set_state(SessionState::idle);
}

void SessionThread::open_state(const std::string& directory, const RunOptions& options) {
  const SafePoint safe_point = [](lua_State* L, void* self) {
    static_cast<SessionThread*>(self)->look_up(L, SafePlace::op);
  };
  script_.open(directory, options, run_, safe_point, this);
  globals_.open(script_.lua(), options);
}

// Opens the folder of a sandboxed run at its start, if the folder can be written: it was made before the
// kernel's limits applied, and must not stay empty.
void SessionThread::open_limited_folder() {
  std::error_code none;
  std::filesystem::path made = run_->options().run_directory;
  while (!made.empty() && !std::filesystem::exists(made, none)) made = made.parent_path();
  if (!made.empty() && is_writable(made.string())) run_->open_folder();
}

void SessionThread::close_state() {
  viewers_.close_state();
  context_.autocast = nullptr;
  script_.close();
}

lua_State* SessionThread::state_for_tasks() {
  if (!script_.lua()) {
    begin_run(Script{"", "=session", "", RunOptions{.write_run = false}});
    open_state("", {});
    begin_step();
  }
  return script_.lua();
}

void SessionThread::begin_run(const Script& script) {
  run_.begin(script, [this](Event event) { emit(std::move(event)); });
}

// Creates the keyframe's tensors on the run's device.
void SessionThread::begin_at(const Keyframe& start, bool changed) {
  if (changed)
    run_->params().take_over(start.params);
  else
    run_->params().begin_again(start.params);
  handover_.give(start.step, kept_of(start.content));
}

void SessionThread::end_step(lua_State* L) {
  host_.exchange(run_->done());  // before a pause, which shows the host the values of this step
  if (!dist::leads() && keyframes_.wants(*run_)) tasks_.run_own([&] { keyframes_.end_step(L, *run_); });
  viewers_.sentry().end_step();
  if (viewers_.growth().looks() && run_->done() > 0)
    if (const std::optional<GrowthWatch::Found> found = viewers_.growth().end_step(L))
      events_.emit(event_of(*found, *run_));
  viewers_.leaks().end_step(L, run_->done(), run_->total(), [&] { return host_.tensors(); });
  const RunOptions& options = run_->options();
  if (viewers_.sentry().found() || script_.unwinding()) return;
  if (dist::leads()) return;  // the other ranks could not continue from there
  if (options.interactive && handover_.may_keep())
    tasks_.run_own([&] { handover_.keep_step(L, run_->done()); });
  const auto now = std::chrono::steady_clock::now();
  if (options.checkpoint_every <= 0 || !options.write_run || now < next_checkpoint_) return;
  tasks_.run_own([&] { Handover::write(L); });
  // Limit writing to a fiftieth of the time.
  const auto after = std::chrono::steady_clock::now();
  const auto every = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(options.checkpoint_every));
  next_checkpoint_ = after + std::max(every, 50 * (after - now));
}

void SessionThread::begin_step() {
  host_.exchange(run_->done());
  began_step_ = run_->in_steps() && run_->step() > run_->done();
  control_.set_in_steps(run_->in_steps());
  handover_.steps_done(run_->done());
  viewers_.begin_step(*run_);
  probes_.begin_step(run_->step(), run_->in_steps() ? run_->step() : run_->done() + 1);
  typed_lines_.begin_step();
  const bool at_lines = typed_lines_.any_before_lines(run_->step());
  if (const bool on = at_lines || probes_.any_at_lines(); on != script_.lines_probed()) {
    script_.probe_lines(on);
    if (script_.lua()) script_.arm(script_.lua());
  }
}

SessionThread& SessionThread::of(lua_State* L) {
  return *static_cast<SessionThread*>(binding_state(L).safe_point_data);
}

void SessionThread::set_state(SessionState state, PausePtr pause) {
  if (!control_.set_state(state)) return;
  Event event{};
  event.kind = Event::Kind::state;
  event.state = state;
  if (pause) event.place = pause->place;
  event.pause = std::move(pause);
  emit(std::move(event));
}

void SessionThread::emit(Event event) {
  if (event.kind == Event::Kind::metrics)
    for (const auto& [name, value] : event.metrics)
      viewers_.sentry().logged(name, value, event.step, event.place);
  events_.emit(std::move(event));
}

// ---- safe points

void SessionThread::hook(lua_State* L, lua_Debug* at) {
  SessionThread& self = of(L);
  if (at->event == LUA_HOOKCOUNT) return self.look_up(L, SafePlace::midst);
  if (self.typed_lines_.any()) self.repeat_console(L, SafePlace::line);
  if (self.script_.lines_probed() && self.probes_.waits_at(at->currentline)) self.probe_line(L, at);
  if (!self.script_.lines_watched()) {
    if (!self.script_.lines_probed()) self.script_.arm(L);
    return;
  }
  if (!self.control_.task_running() && self.script_.at_new_line(L, at)) self.look_up(L, SafePlace::line);
}

void SessionThread::probe_line(lua_State* L, lua_Debug* at) {
  if (control_.task_running()) return;
  lua_getinfo(L, "S", at);
  const std::string file = chunk_name(at->source), script = chunk_name(run_.script().name.c_str());
  tasks_.run_own([&] {
    probes_.at_line(L, script, file, at->currentline,
                    [this](const ProbeWatch::Reading& reading) { events_.emit(event_of(reading, *run_)); });
  });
}

void SessionThread::probe_step(lua_State* L) {
  if (!probes_.any_at_end()) return;
  tasks_.run_own([&] {
    probes_.end_step(L,
                     [this](const ProbeWatch::Reading& reading) { events_.emit(event_of(reading, *run_)); });
  });
}

// During a task there may be no run, and RunControl needs none.
RunControl::Place SessionThread::place_of(lua_State* L, SafePlace place) {
  if (control_.task_running()) return {place};
  return {.place = place,
          .in_loop = run_->in_steps(),
          .may_be_replaced = L && (place == SafePlace::step_end || !run_->awaits_boundary()),
          .whole_step = viewers_.tape().keeps_whole_step()};
}

void SessionThread::safe_point(lua_State* L, SafePlace place) {
  using Next = RunControl::Next;
  if (script_.unwinding()) unwind(L);
  if (place == SafePlace::step_end) {
    viewers_.end_step(*run_);
    if (typed_lines_.any()) repeat_console(L, place);
  }
  if (!control_.attention()) return;
  // A breakpoint's predicate reaches safe points too: the list must not change while one runs.
  const auto may_listen = [&] { return !control_.at_own_work() && !breakpoints_.watch().busy(); };
  if (may_listen()) {
    if (breakpoints_.take_over()) viewers_.listen();
    if (std::optional<PausePosition> met = breakpoints_.announce_finding(viewers_.tape()))
      found_ = std::move(met);
  }
  // The safe point at the beginning of the loop is no end of a step.
  const bool before_steps =  // of a run from its start, or of one that is resumed
      place == SafePlace::step_end &&
      (run_->done() == 0 || (run_->in_steps() && !began_step_ && !run_goes_on_));
  control_.reached(before_steps ? SafePlace::midst : place);
  for (;;) {
    const RunControl::Step step = control_.next(place_of(L, place));
    switch (step.next) {
      case Next::last_checkpoint:
        control_.begin_last_checkpoint();
        write_checkpoint(L, true);
        unwind(L);
      case Next::unwind:
        unwind(L);
      case Next::back_to_task:
        return;
      case Next::task:
        context_.read_only = !L;  // inside a backward pass
        if (L && !control_.task_running()) typed_lines_.set_place(place);
        tasks_.run_next();
        typed_lines_.set_place(std::nullopt);
        context_.read_only = false;
        break;
      case Next::read_reload:
        reloads_.read();
        break;
      case Next::hand_over:
        if (reloads_.hand_over()) unwind(L);
        break;
      case Next::pause:
        if (!std::exchange(holds_, true)) dist::hold(true);
        wait_while_paused(L, step.single);
        break;
      case Next::go_on:
        if (std::exchange(holds_, false)) dist::hold(false);
        viewers_.note_calls(step.single == StepTo::op);
        if (step.single != StepTo::line) {
          script_.forget_lines();
        } else if (!script_.lines_watched()) {
          script_.watch_lines(L);
        }
        set_state(step.stopping ? SessionState::stopping : SessionState::running);
        // Tasks may have changed breakpoints; the changes apply from the next op or node on.
        if (may_listen() && breakpoints_.take_over()) viewers_.listen();
        return;
    }
  }
}

// Called again after each task that runs during the pause.
void SessionThread::wait_while_paused(lua_State* L, StepTo ended) {
  viewers_.profile().leave();
  viewers_.ranks().leave();
  PausePtr pause;
  const bool begins = control_.state() != SessionState::paused;
  if (begins) {
    pause = std::make_shared<const PausePosition>(pause_position(L, ended));
    shows_op_ = pause->node != 0;
  }
  if (begins || !shows_op_) viewers_.tape().settle(false);
  if (begins) set_state(SessionState::paused, std::move(pause));
  script_.forget_lines();
  control_.wait_while_paused();
  viewers_.profile().come_back();
}

void SessionThread::pause_here(lua_State* L) {
  if (typed_lines_.any()) repeat_console(L, SafePlace::midst);
  if (!run_->options().interactive) return;
  control_.pause();
  safe_point(L, SafePlace::midst);
}

// ---- tasks

void SessionThread::repeat_console(lua_State* L, SafePlace place) {
  if (control_.task_running()) return;
  typed_lines_.repeat(L, *run_, place,
                      [&](const std::string& code) { tasks_.run_own([&] { evaluate(code, {}); }); });
}

void SessionThread::evaluate(const std::string& code, const std::function<void(bool)>& done,
                             const std::function<void(bool, std::string)>& done_with) {
  ScriptError error;
  std::string results;
  if (control_.running()) typed_lines_.record(script_.lua(), *run_, code);
  const bool ok = evaluate_console(state_for_tasks(), code, events_, done_with ? &results : nullptr, error);
  if (script_.exit_code() && !control_.running()) {
    Event event{};
    event.kind = Event::Kind::ended;
    event.exit_code = *script_.take_exit_code();
    event.outcome = event.exit_code == 0 ? Outcome::ok : Outcome::error;
    emit(std::move(event));
  } else if (!ok && done_with) {
    results = error.message;
  } else if (!ok) {
    events_.fail(error.message, {error.file, error.line},
                 script_.unwinding() ? Outcome::stopped : Outcome::error);
  }
  if (done) tasks_.call_after([done, ok] { done(ok); });
  if (done_with) tasks_.call_after([done_with, ok, results] { done_with(ok, results); });
}

void SessionThread::find_leaks() {
  if (script_.lua()) viewers_.leaks().look_now(script_.lua(), host_.tensors());
}

void SessionThread::complete(const std::string& line,
                             const std::function<void(std::vector<std::string>)>& done) {
  done(complete_console(state_for_tasks(), line));
}

}  // namespace lunagrad
