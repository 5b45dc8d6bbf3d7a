// A reload: the changed script takes the place of the one that runs, and what lg.run.state registered goes
// over. The script before it ends as by a stop, at the end of a step; a fresh Lua state runs the next from
// line 1.
#include "script/lua/guard.h"
#include "script/lua/source.h"
#include "script/run/folder.h"
#include "script/session/globals.h"
#include "script/session/impl.h"

namespace lunagrad {
namespace {

// Argument: a checkpoint's path, or "".
int take(lua_State* L) {
  push_states(L, lua_tostring(L, 1));
  return 1;
}

int64_t step_of(const Kept& states) {
  if (const auto* table = std::get_if<Kept::Table>(&states.value))
    for (const auto& [key, value] : *table)
      if (const auto* name = std::get_if<std::string>(&key.value); name && *name == "step")
        return std::get<int64_t>(value.value);
  return 0;
}

}  // namespace

void Session::Impl::reload(std::optional<std::string> source) {
  {
    const std::lock_guard lock(mutex_);
    if (!has_run_) return;
    if (next_) {  // has not begun and reads its file then
      if (source) next_->options.source = std::move(source);
      return;
    }
    reload_ = Reload{std::move(source)};
    attention_.store(true);
  }
  changed_.notify_all();
}

std::vector<std::string> Session::Impl::files() const {
  const std::lock_guard lock(mutex_);
  return files_;
}

// The changed script, which compiles as its modules do; none when it does not, which is told.
std::optional<Script> Session::Impl::read_successor(const Reload& asked) {
  Script next = script_;
  Event event{};
  event.kind = Event::Kind::error;
  try {
    if (asked.source) {
      next.source = *asked.source;
    } else if (!next.path.empty()) {
      next.source = read_script(next.path);
    }
    const std::string_view code = next.path.empty() ? next.source : without_shebang(next.source);
    event.text = syntax_error(code, next.name, event.place);
    for (const std::string& file : files())
      if (event.text.empty() && file != next.path)
        event.text = syntax_error(without_shebang(read_script(file)), "@" + file, event.place);
  } catch (const Error& error) {
    event.text = error.what();
  }
  if (event.text.empty()) {
    next.options.source = next.source;
    return next;
  }
  event.text += "\nnot reloaded";
  if (state() != SessionState::idle) event.text += "; the script goes on as it was";
  event.outcome = Outcome::error;
  emit(std::move(event));
  return std::nullopt;
}

// What is registered, or with a path what that checkpoint holds; none when nothing is registered. Throws
// Error.
std::optional<Session::Impl::HandedOver> Session::Impl::take_states(const std::string& checkpoint) {
  lua_State* thread = lua_newthread(lua_);
  lua_pushcfunction(thread, guard<take>);
  lua_pushstring(thread, checkpoint.c_str());
  ScriptError error;
  if (traceback_call(thread, 1, 1, error) != LUA_OK) {
    lua_pop(lua_, 1);
    throw Error(error.message);
  }
  Kept states = keep(thread, -1);
  lua_pop(lua_, 1);
  if (std::holds_alternative<std::monostate>(states.value)) return std::nullopt;
  const int64_t step = step_of(states);
  return HandedOver{step, std::move(states)};
}

// At a safe point, under the lock: whether the script ends here for its successor. Paused, it goes on until
// it can.
bool Session::Impl::begin_reload(lua_State* L, Place place, std::unique_lock<std::mutex>& lock) {
  if (reload_) {
    const Reload asked = std::move(*reload_);
    reload_.reset();
    lock.unlock();
    std::optional<Script> next = read_successor(asked);
    lock.lock();
    if (next) successor_ = std::move(next);
  }
  if (!successor_) return false;
  if (std::exchange(pause_, false)) step_to_ = StepTo::step_end;
  if (!L || (place != Place::step_end && run_->awaits_boundary())) return false;

  std::optional<HandedOver> taken;
  bool failed = true;
  tasks_.push_front([&] {
    try {
      if (run_->done() > 0) taken = take_states("");
      failed = false;
    } catch (const Error& error) {
      fail("not reloaded, the states cannot be taken: ", error.what());
    }
  });
  run_task(lock);
  if (failed) {
    successor_.reset();
    return false;
  }
  handed_ = std::move(taken);
  if (!handed_) {
    lock.unlock();
    start_anew(*successor_, run_->done() > 0 ? "nothing is registered with lg.run.state" : "");
    run_->finish(Outcome::stopped, int(Outcome::stopped));
    lock.lock();
  }
  reloading_ = true;
  return true;
}

// The script to run after one that ended by itself; none when it does not compile.
std::optional<Script> Session::Impl::successor_when_idle() {
  std::optional<Script> next;
  std::optional<Reload> asked;
  {
    const std::lock_guard lock(mutex_);
    next = std::exchange(successor_, std::nullopt);
    asked = std::exchange(reload_, std::nullopt);
  }
  if (asked) {
    std::optional<Script> newer = read_successor(*asked);
    if (newer || !next) next = std::move(newer);
  }
  if (!next) return next;
  if (outcome_ == Outcome::ok) handed_.reset();
  std::string why;
  if (outcome_ != Outcome::ok && !handed_ && lua_ && run_->done() > 0) why = take_after_failure();
  if (!handed_) start_anew(*next, why);
  return next;
}

// An error leaves the states as they are in the midst of a step. A checkpoint of the last step is better; of
// an earlier one it is where numbers broke. Returns why there is no state.
std::string Session::Impl::take_after_failure() {
  const int64_t done = run_->done();
  const std::string latest = run_->folder() ? latest_checkpoint(run_->folder()->path()) : "";
  const auto take_checkpoint = [&] {
    handed_ = take_states(latest);
    if (handed_) warn(text("the run goes on from ", latest));
  };
  std::string why = "nothing is registered with lg.run.state";
  try {
    if (!latest.empty() &&
        (latest == run_->folder()->checkpoint_path(done) || outcome_ == Outcome::numeric)) {
      take_checkpoint();
    } else if (outcome_ == Outcome::numeric) {
      why = "NaN or Inf ended it, and there is no checkpoint";
    } else {
      handed_ = take_states("");
      if (handed_)
        warn(text("the run ended within step ", done + 1, "; it goes on behind step ", done,
                  " with the states as they were when it ended"));
    }
  } catch (const Error& error) {
    why = error.what();
    if (!latest.empty()) take_checkpoint();
  }
  return why;
}

void Session::Impl::start_anew(Script& script, const std::string& why) {
  std::string& folder = script.options.run_directory;
  if (!folder.empty() && script.options.resume.empty()) folder = unused_run_directory(folder);
  Event event{};
  event.kind = Event::Kind::reload;
  event.text = "starts anew";
  if (!why.empty()) event.text += ": " + why;
  emit(std::move(event));
}

void Session::Impl::warn(std::string message) {
  Event event{};
  event.kind = Event::Kind::warning;
  event.text = std::move(message);
  emit(std::move(event));
}

}  // namespace lunagrad
