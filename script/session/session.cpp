#include "script/session.h"

#include <filesystem>
#include <set>

#include "runtime/tape/autocast.h"
#include "script/lua/edge.h"
#include "script/lua/source.h"
#include "script/session/globals.h"
#include "script/session/impl.h"

namespace lunagrad {
namespace {

constexpr size_t kSandboxMemory = size_t(256) << 20;
// A stop waits this long for the end of the step; then it is a Lua error.
constexpr std::chrono::seconds kStopGrace{10};

Outcome outcome_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::numeric:
      return Outcome::numeric;
    case ErrorKind::device:
      return Outcome::device;
    case ErrorKind::file:
      return Outcome::file;
    case ErrorKind::memory:
      return Outcome::memory;
    case ErrorKind::cancelled:
      return Outcome::stopped;
    case ErrorKind::value:
      break;
  }
  return Outcome::error;
}

}  // namespace

Session::Impl::Impl(EventSink sink)
    : sink_(std::move(sink)), breakpoints_(breakpoint_owner()), listener_(*this) {
  tape_watch_.set_statistics(&statistics_);
  context_.safe_point = [](void* self) { static_cast<Impl*>(self)->safe_point(nullptr, Place::midst); };
  context_.owner = this;
  thread_ = std::thread([this] { serve(); });
}

Session::Impl::~Impl() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    if (running_ || task_running_) context_.stop_requested.store(true);
    attention_.store(true);
  }
  changed_.notify_all();
  thread_.join();
}

// ---- requests, from any thread

void Session::Impl::start(Script script) {
  {
    const std::lock_guard lock(mutex_);
    begin_to_wait();
    next_ = std::move(script);
    has_run_ = true;
    if (running_) {
      interrupt_ = true;
      context_.stop_requested.store(true);
    }
    attention_.store(true);
  }
  changed_.notify_all();
}

void Session::Impl::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    attention_.store(true);
  }
  changed_.notify_all();
}

void Session::Impl::pause() {
  const std::lock_guard lock(mutex_);
  if (!running_ && !next_) return;
  begin_to_wait();
  pause_ = true;
  pause_asked_.reset();
  attention_.store(true);
}

void Session::Impl::stop() {
  {
    const std::lock_guard lock(mutex_);
    if (!running_ && !next_) return;
    begin_to_wait();
    next_.reset();
    if (!stop_) stop_since_ = std::chrono::steady_clock::now();
    stop_ = running_;
    if (running_ && !in_steps_.load()) context_.stop_requested.store(true);
    attention_.store(true);
  }
  changed_.notify_all();
}

void Session::Impl::interrupt() {
  {
    const std::lock_guard lock(mutex_);
    begin_to_wait();
    next_.reset();
    if (task_running_) {
      interrupt_task_ = true;
    } else if (running_) {
      interrupt_ = true;
    }
    context_.stop_requested.store(task_running_ || running_);
    attention_.store(true);
  }
  changed_.notify_all();
}

Outcome Session::Impl::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !running_ && !next_ && !reload_ && !successor_; });
  return outcome_;
}

std::vector<ParamInfo> Session::Impl::params() const {
  std::shared_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    run = run_;
  }
  return run ? run->params().list() : std::vector<ParamInfo>();
}

bool Session::Impl::set_param(const std::string& name, const std::string& value, std::string* why) {
  std::shared_ptr<Run> run;
  {
    const std::lock_guard lock(mutex_);
    run = run_;
  }
  if (!run && why) *why = "no script has run yet";
  return run && run->params().edit(name, value, why);
}

// ---- the session's thread

void Session::Impl::serve() {
  const UseContext use(context_);
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closing_ || next_ || reload_ || successor_ || !tasks_.empty(); });
    if (closing_) break;
    if (!tasks_.empty()) {
      run_task(lock);
      continue;
    }
    std::optional<Script> script = std::exchange(next_, std::nullopt);
    running_ = true;
    interrupt_ = stop_ = false;
    if (script) {
      reload_.reset();
      successor_.reset();
    }
    lock.unlock();
    if (script) handed_.reset();
    if (!script) script = successor_when_idle();
    while (script) script = run_script(std::move(*script));
    lock.lock();
    running_ = pause_ = false;
    step_to_ = StepTo::nothing;
    changed_.notify_all();
  }
  tasks_.clear();
  lock.unlock();
  handed_.reset();
  close_state();
  tape_watch_.clear();
}

// Carries out the first task of the queue, without the lock.
void Session::Impl::run_task(std::unique_lock<std::mutex>& lock) {
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  task_running_ = true;
  lock.unlock();
  profile_.leave();
  {
    // A task may run amid a backward pass: it finds the context as a script does.
    const GradMode tape(true);
    const SourceLine line = context_.line;
    const uint32_t module = std::exchange(context_.module, 0);
    const UseAutocast no_autocast(nullptr);
    CheckpointRegion* const checkpoint = std::exchange(context_.checkpoint, nullptr);
    const Guard guard = std::exchange(context_.guard, Guard::off);
    try {
      task();
    } catch (const std::exception& error) {
      Event event{};
      event.kind = Event::Kind::error;
      event.text = error.what();
      emit(std::move(event));
    }
    context_.line = line;
    context_.module = module;
    context_.checkpoint = checkpoint;
    context_.guard = guard;
    task = nullptr;
  }
  profile_.come_back();
  lock.lock();
  task_running_ = false;
  if (interrupt_task_) {
    interrupt_task_ = false;
    context_.stop_requested.store(interrupt_ || closing_);
  }
  unwinding_ = false;
  if (const std::function<void()> told = std::exchange(after_task_, nullptr)) {
    lock.unlock();
    told();
    lock.lock();
  }
}

std::optional<Script> Session::Impl::run_script(Script script) {
  close_state();
  if (!handed_) tape_watch_.clear();  // a script that goes on keeps the steps before it
  context_.grad_enabled = true;
  context_.guard = asked_guard_ = Guard(int(script.options.guard));
  context_.autocast = nullptr;
  context_.checkpoint = nullptr;
  context_.strict_device = script.options.strict_device;
  context_.device = &cpu_device();
  context_.generator.seed(script.options.seed.value_or(0));
  context_.line = {};
  context_.module = 0;
  unwinding_ = false;
  usage_failed_ = false;
  exit_code_.reset();

  ScriptError error;
  Outcome outcome = Outcome::ok;
  try {
    std::shared_ptr<Run> former = run_;
    script_ = script;
    set_run(script);
    set_state(SessionState::running);
    if (script.options.source) {
      script.source = *script.options.source;
    } else if (!script.path.empty()) {
      script.source = read_script(script.path);
    }
    run_->set_source(script.source);
    if (former && handed_) run_->take_over(*former, handed_->step);
    statistics_.clear(!handed_);
    if (!handed_) breakpoints_.begin_run();
    former.reset();
    if (!script.options.device.empty()) context_.device = &require_device(script.options.device);
    device_.store(context_.device);
    const std::string directory = std::filesystem::path(script.path).parent_path().string();
    open_state(directory, script.options);
    begin_step();
    outcome = call_script(script, error);
    if (outcome == Outcome::ok) {
      context_.device->sync();  // what it finds late, as an index out of range, is the script's
      run_->flush();
      if (const std::string unknown = run_->unknown_param(); !unknown.empty()) throw UsageError(unknown);
    }
  } catch (const UsageError& failure) {
    outcome = Outcome::usage;
    error = {failure.what()};
  } catch (const Error& failure) {
    outcome = outcome_of(failure.kind());
    error = {failure.what()};
  } catch (const std::exception& failure) {
    outcome = Outcome::memory;
    error = {failure.what()};
  }
  if (std::exchange(reloading_, false)) {
    const std::lock_guard lock(mutex_);
    return std::exchange(successor_, std::nullopt);
  }
  end(outcome, error);
  return std::nullopt;
}

// Runs the script in the state that is open.
Outcome Session::Impl::call_script(const Script& script, ScriptError& error) {
  lua_State* L = lua_;
  const std::string_view code = script.path.empty() ? script.source : without_shebang(script.source);
  if (luaL_loadbufferx(L, code.data(), code.size(), script.name.c_str(), "t") != LUA_OK) {
    size_t length = 0;
    const char* message = lua_tolstring(L, -1, &length);
    error.message.assign(message, length);
    lua_pop(L, 1);
    return Outcome::error;
  }
  const std::vector<std::string>& arguments = script.options.arguments;
  luaL_checkstack(L, int(arguments.size()) + 8, "too many arguments");
  lua_createtable(L, int(arguments.size()), 1);
  lua_pushstring(L, script.path.empty() ? script.name.c_str() + 1 : script.path.c_str());
  lua_rawseti(L, -2, 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    lua_pushlstring(L, arguments[i].data(), arguments[i].size());
    lua_rawseti(L, -2, lua_Integer(i + 1));
  }
  lua_setglobal(L, "arg");
  if (script.options.on_test) open_testing(L);
  for (const std::string& argument : arguments) lua_pushlstring(L, argument.data(), argument.size());
  const int status = traceback_call(L, int(arguments.size()), 0, error);
  if (exit_code_) return *exit_code_ == 0 ? Outcome::ok : Outcome::error;
  if (unwinding_) return Outcome::stopped;
  if (status == LUA_OK) return Outcome::ok;
  if (usage_failed_) return Outcome::usage;
  if (status == LUA_ERRMEM) return Outcome::memory;
  return outcome_of(error.kind);
}

void Session::Impl::end(Outcome outcome, const ScriptError& error) {
  if (lua_) {
    arm_hook(lua_);
    unwinding_ = false;
  }
  profile_.end_run();
  const int code = exit_code_.value_or(int(outcome));
  if (outcome != Outcome::ok && outcome != Outcome::stopped && !exit_code_) {
    Event event{};
    event.kind = Event::Kind::error;
    event.text = error.message;
    if (!error.traceback.empty() && outcome != Outcome::usage) event.text += "\n" + error.traceback;
    if (event.text.ends_with('\n')) event.text.pop_back();
    if (handed_)
      event.text += text("\nthe state of step ", handed_->step, " is kept; a reload goes on from it");
    event.place = {error.file, error.line};
    event.outcome = outcome;
    emit(std::move(event));
  }
  run_->finish(outcome, code);
  Event event{};
  event.kind = Event::Kind::ended;
  event.outcome = outcome;
  event.exit_code = code;
  emit(std::move(event));
  {
    const std::lock_guard lock(mutex_);
    if (stop_ || interrupt_) {
      reload_.reset();
      successor_.reset();
    }
    pause_ = stop_ = interrupt_ = false;
    step_to_ = StepTo::nothing;
    in_steps_.store(false);
    outcome_ = outcome;
    context_.stop_requested.store(closing_);
    attention_.store(false);
  }
  set_state(SessionState::idle);
}

void Session::Impl::open_state(const std::string& directory, const RunOptions& run) {
  StateOptions options;
  options.script_directory = directory;
  options.sandbox = run.sandbox;
  options.memory_limit = run.sandbox && run.memory == 0 ? kSandboxMemory : run.memory;
  options.on_module = [this](const std::string& file) {
    const std::lock_guard lock(mutex_);
    files_.push_back(file);
  };
  lua_ = new_state(options);
  if (run.sandbox) {
    FileLimits& files = edge(lua_).files;
    files.readable = {directory.empty() ? "." : directory};
    if (!run.resume.empty()) files.readable.push_back(run.resume);
    files.run_folder = [this] { return run_->folder() ? run_->folder()->path() : std::string(); };
  }
  set_safe_point(
      lua_, [](lua_State* L, void* self) { static_cast<Impl*>(self)->look_up(L, Place::op); }, this);
  arm_hook(lua_);
  open_lunagrad(lua_);
  open_globals(lua_, run.preload);
  native_calls_.watch(lua_);
}

void Session::Impl::close_state() {
  tape_watch_.end_script();
  statistics_.clear(false);
  breakpoints_.close_state();
  profile_.begin_run();
  batch_.clear();
  context_.autocast = nullptr;
  if (!lua_) return;
  lua_sethook(lua_, nullptr, 0, 0);
  lunagrad::close_state(std::exchange(lua_, nullptr));
}

lua_State* Session::Impl::state_for_tasks() {
  if (!lua_) {
    set_run(Script{"", "=session", "", RunOptions{.write_run = false}});
    open_state("", {});
    begin_step();
  }
  return lua_;
}

Session::Impl& Session::Impl::of(lua_State* L) { return *static_cast<Impl*>(edge(L).safe_point_data); }

void Session::Impl::set_run(const Script& script) {
  auto run = std::make_shared<Run>(script, [this](Event event) { emit(std::move(event)); });
  const std::lock_guard lock(mutex_);
  run_ = std::move(run);
  files_.clear();
  if (!script.path.empty()) files_.push_back(script.path);
}

void Session::Impl::emit(Event event) {
  if (run_ && event.time == 0) event.time = run_->seconds();
  if (run_ && (event.kind == Event::Kind::output || event.kind == Event::Kind::warning ||
               event.kind == Event::Kind::error)) {
    run_->remember_output(event.kind == Event::Kind::output ? event.text : event.text + "\n");
  }
  sink_(event);
}

void Session::Impl::set_state(SessionState state, SourcePlace place) {
  if (state_.exchange(state) == state) return;
  Event event{};
  event.kind = Event::Kind::state;
  event.state = state;
  event.place = std::move(place);
  emit(std::move(event));
}

// ---- safe points

bool Session::Impl::wants_unwinding(Place place) {
  if (closing_) return true;
  if (task_running_) return interrupt_task_;
  if (interrupt_) return true;
  if (!stop_) return false;
  return place == Place::step_end || state_.load() == SessionState::paused || !run_->in_steps() ||
         std::chrono::steady_clock::now() - stop_since_ > kStopGrace;
}

void Session::Impl::safe_point(lua_State* L, Place place) {
  if (unwinding_) unwind(L);
  if (place == Place::step_end) statistics_.end_step(run_->done());
  if (!attention_.load(std::memory_order_relaxed)) return;
  if (!task_running_ && !breakpoints_.busy()) {
    if (take_over_breakpoints()) listen();
    if (std::optional<Finding> finding = breakpoints_.take_finding()) announce(std::move(*finding));
  }
  std::unique_lock lock(mutex_);
  awaited_since_ = std::chrono::steady_clock::now();
  // Once: a step that is asked for while waiting here ends at the next boundary.
  if (!task_running_ && reaches(place) && !std::exchange(rest_first_, false)) {
    step_to_ = StepTo::nothing;
    pause_ = true;
    pause_asked_.reset();
  }
  for (;;) {
    if (wants_unwinding(place)) {
      const bool at_step_end = place == Place::step_end && stop_ && !closing_ && !interrupt_;
      lock.unlock();
      if (at_step_end) checkpoint_before_stop(L);
      unwind(L);
    }
    if (task_running_) return;  // what else there is waits until the task is done
    if (!tasks_.empty()) {
      context_.read_only = !L;
      run_task(lock);
      context_.read_only = false;
      continue;
    }
    if ((reload_ || successor_) && begin_reload(L, place, lock)) {
      lock.unlock();
      unwind(L);
    }
    if (!pause_ || !may_pause(place)) break;
    amid_step_ = pause_asked_ && place != Place::step_end && in_steps_.load();
    pause_asked_.reset();
    lock.unlock();
    profile_.leave();
    capture_rest();
    const SourceLine line = L ? script_line(L) : context_.line;
    set_state(SessionState::paused, {interned(line.file), int(line.line)});
    lines_watched_ = false;
    lock.lock();
    changed_.wait(
        lock, [this] { return closing_ || interrupt_ || stop_ || reload_ || !pause_ || !tasks_.empty(); });
    profile_.come_back();
  }
  attention_.store(pause_ || stop_ || step_to_ != StepTo::nothing || reload_ || successor_ ||
                   breakpoints_changed_);
  const SessionState state = stop_ ? SessionState::stopping : SessionState::running;
  const bool to_line = step_to_ == StepTo::line;
  lock.unlock();
  if (!to_line)
    lines_watched_ = false;
  else if (!lines_watched_)
    watch_lines(L);
  set_state(state);
  if (!task_running_ && !breakpoints_.busy() && take_over_breakpoints()) listen();  // before the next node
}

// Only a second request to stop ends the run before its checkpoint is written.
void Session::Impl::checkpoint_before_stop(lua_State* L) {
  {
    const std::lock_guard lock(mutex_);
    stop_ = pause_ = false;  // the checkpoint is neither paused nor reloaded
    step_to_ = StepTo::nothing;
    reload_.reset();
    successor_.reset();
  }
  write_checkpoint(L, true);
}

// From here on every instruction raises, in whichever coroutine: no pcall can go on.
void Session::Impl::unwind(lua_State* L) {
  unwinding_ = true;
  if (!L) fail_as(ErrorKind::cancelled, "interrupted");  // amid backward: the edge makes it a Lua error
  arm_hook(L, 1);
  if (!task_running_) arm_hook(lua_, 1);
  lua_pushliteral(L, "interrupted");
  lua_error(L);
  std::abort();
}

void Session::Impl::exit(lua_State* L, int code) {
  exit_code_ = code;
  if (task_running_) {
    const std::lock_guard lock(mutex_);
    if (running_) interrupt_ = true;
  }
  unwind(L);
}

// ---- the public face

Session::Session(EventSink sink) : impl_(std::make_unique<Impl>(std::move(sink))) {}
Session::~Session() = default;

void Session::run_file(const std::string& path, RunOptions options) {
  impl_->start({path, "@" + path, "", std::move(options)});
}
void Session::run_text(const std::string& code, const std::string& chunk_name, RunOptions options) {
  impl_->start({"", "=" + chunk_name, code, std::move(options)});
}
void Session::eval(const std::string& code, std::function<void(bool)> done) {
  impl_->post([this, code, done = std::move(done)] { impl_->evaluate(code, done); });
}
void Session::complete(const std::string& line, std::function<void(std::vector<std::string>)> done) {
  impl_->post([this, line, done = std::move(done)] { impl_->complete(line, done); });
}
void Session::pause() { impl_->pause_for_viewer(); }
void Session::resume() { impl_->go_on(Impl::StepTo::nothing); }
void Session::step() { impl_->go_on(Impl::StepTo::step_end); }
void Session::step_op() { impl_->go_on(Impl::StepTo::op); }
void Session::step_line() { impl_->go_on(Impl::StepTo::line); }
void Session::stop() { impl_->stop(); }
void Session::interrupt() { impl_->interrupt(); }
Outcome Session::wait() { return impl_->wait(); }
void Session::reload(std::optional<std::string> source) { impl_->reload(std::move(source)); }
std::vector<std::string> Session::files() const { return impl_->files(); }
SessionState Session::state() const { return impl_->state(); }
std::vector<ParamInfo> Session::params() const { return impl_->params(); }
bool Session::set_param(const std::string& name, const std::string& value, std::string* why) {
  return impl_->set_param(name, value, why);
}
Session::Memory Session::memory() const {
  const DeviceMemory memory = impl_->device()->memory();
  return {memory.in_use, memory.peak};
}

}  // namespace lunagrad
