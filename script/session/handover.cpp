#include "script/session/handover.h"

#include "script/lua/guard.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/run/folder.h"
#include "script/session/globals.h"

namespace lunagrad {
namespace {

// Argument: a checkpoint's path, or "".
int take_states(lua_State* L) {
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

void Handover::take(lua_State* L, const std::string& checkpoint) {
  lua_State* thread = lua_newthread(L);
  lua_pushcfunction(thread, guard<take_states>);
  lua_pushstring(thread, checkpoint.c_str());
  ScriptError error;
  if (traceback_call(thread, 1, 1, error) != LUA_OK) {
    lua_pop(L, 1);
    throw Error(error.message);
  }
  Kept states = keep(thread, -1);
  lua_pop(L, 1);
  drop();
  if (std::holds_alternative<std::monostate>(states.value)) return;
  const int64_t step = step_of(states);
  taken_ = Taken{step, std::move(states)};
}

std::string Handover::take_after_failure(lua_State* L, Run& run, Outcome outcome, Events& events) {
  const int64_t done = run.done();
  const std::string latest = run.folder() ? latest_checkpoint(run.folder()->path()) : "";
  const auto take_checkpoint = [&] {
    take(L, latest);
    if (taken_) events.warn(text("the run goes on from ", latest));
  };
  std::string why = "nothing is registered with lg.run.state";
  try {
    if (!latest.empty() && (latest == run.folder()->checkpoint_path(done) || outcome == Outcome::numeric)) {
      take_checkpoint();
    } else if (outcome == Outcome::numeric) {
      why = "NaN or Inf ended it, and there is no checkpoint";
    } else {
      take(L, "");
      if (taken_)
        events.warn(text("the run ended within step ", done + 1, "; it goes on behind step ", done,
                         " with the states as they were when it ended"));
    }
  } catch (const Error& error) {
    why = error.what();
    if (!latest.empty()) take_checkpoint();
  }
  return why;
}

std::optional<Script> read_successor(const CurrentRun& run, const std::optional<std::string>& source,
                                     bool goes_on, Events& events) {
  Script next = run.script();
  std::string problem;
  SourcePlace place;
  try {
    if (source) {
      next.source = *source;
    } else if (!next.path.empty()) {
      next.source = read_script(next.path);
    }
    const std::string_view code = next.path.empty() ? next.source : without_shebang(next.source);
    problem = syntax_error(code, next.name, place);
    for (const std::string& file : run.files())
      if (problem.empty() && file != next.path)
        problem = syntax_error(without_shebang(read_script(file)), "@" + file, place);
  } catch (const Error& error) {
    problem = error.what();
  }
  if (problem.empty()) {
    next.options.source = next.source;
    return next;
  }
  problem += "\nnot reloaded";
  if (goes_on) problem += "; the script goes on as it was";
  events.fail(std::move(problem), std::move(place), Outcome::error);
  return std::nullopt;
}

void start_anew(Script& script, const std::string& why, Events& events) {
  std::string& folder = script.options.run_directory;
  if (!folder.empty() && script.options.resume.empty()) folder = unused_run_directory(folder);
  Event event{};
  event.kind = Event::Kind::reload;
  event.text = "starts anew";
  if (!why.empty()) event.text += ": " + why;
  events.emit(std::move(event));
}

}  // namespace lunagrad
