#include "script/session/script_state.h"

#include <cstdlib>
#include <iostream>

#include "script/guard/run_limits.h"
#include "script/lua/binding_state.h"
#include "script/lua/hint.h"
#include "script/lua/script_line.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/meta/python.h"
#include "script/run/folder.h"
#include "script/run/record.h"

namespace lunagrad {
namespace {

constexpr int kHookCount = 1000;  // instructions between safe points

}  // namespace

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

void ScriptState::open(const std::string& directory, const RunOptions& run, CurrentRun& current,
                       SafePoint safe_point, void* owner) {
  StateOptions options;
  options.script_directory = directory;
  options.sandbox = run.sandbox;
  options.memory_limit = memory_of(run);
  options.on_module = [&current, given = run.modules](const std::string& file) {
    if (!given.contains(file)) current.add_file(file);
    if (current) current->remember_module(file);
  };
  lua_ = new_state(options);
  FileLimits& files = binding_state(lua_).files;
  files.stand_ins = run.stand_ins;
  if (run.files_aside) files.aside = std::make_shared<FilesAside>(run.aside_folder);
  files.on_use = [&current](const std::string& path, FileUse use) {
    if (!current) return;
    if (use == FileUse::read)
      current->note_read(path);
    else
      current->note_written(path);
  };
  if (run.sandbox) {
    files.readable = {directory.empty() ? "." : directory};
    if (!run.resume.empty()) files.readable.push_back(find_if_named(run.resume));
    for (const auto& [path, stand_in] : run.stand_ins) files.readable.push_back(stand_in);
    files.run_folder = [&current] { return current->folder() ? current->folder()->path() : std::string(); };
  }
  BindingState& state = binding_state(lua_);
  state.deferral_refused = run.eager;
  if (run.leaks > 0) state.kept_functions = std::make_unique<std::map<int, KeptFunction>>();
  if (run.plan && !run.eager) {
    state.deferral = Deferral::always;
    state.plans_to_show = 2;
  }
  if (run.eager) state.deferral = Deferral::off;
  set_safe_point(lua_, safe_point, owner);
  arm(lua_);
  open_lunagrad(lua_);
}

void ScriptState::close() {
  if (!lua_) return;
  lua_sethook(lua_, nullptr, 0, 0);
  close_state(std::exchange(lua_, nullptr));
}

void ScriptState::begin_script() {
  unwinding_ = false;
  usage_failed_ = false;
  exit_code_.reset();
}

Outcome ScriptState::load(const Script& script, ScriptError& error) {
  lua_State* L = lua_;
  const std::string_view code = script.path.empty() ? script.source : without_shebang(script.source);
  if (const int status = luaL_loadbufferx(L, code.data(), code.size(), script.name.c_str(), "t");
      status != LUA_OK) {
    size_t length = 0;
    const char* message = lua_tolstring(L, -1, &length);
    error.message.assign(message, length);
    if (status == LUA_ERRMEM) error.message = text(script.name.substr(1), ": ", memory_error(L));
    error.message += python_syntax(code, error.message);
    lua_pop(L, 1);
    return status == LUA_ERRMEM ? Outcome::memory : Outcome::error;
  }
  return Outcome::ok;
}

Outcome ScriptState::call(const Script& script, ScriptError& error) {
  lua_State* L = lua_;
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
  for (const std::string& argument : arguments) lua_pushlstring(L, argument.data(), argument.size());
  const int status = traceback_call(L, int(arguments.size()), 0, error);
  if (exit_code_) return *exit_code_ == 0 ? Outcome::ok : Outcome::error;
  if (unwinding_) return Outcome::stopped;
  if (status == LUA_OK && binding_state(L).plans_to_show > 0)
    std::cerr
        << "No plan: --plan shows the plan of a step of lg.run.steps, and the script has none. f:explain() "
           "shows the plan of a function of lg.compile.\n"
        << std::flush;
  if (status == LUA_OK) return Outcome::ok;
  if (usage_failed_) return Outcome::usage;
  if (status == LUA_ERRMEM) return Outcome::memory;
  return outcome_of(error.kind);
}

// ---- hooks

void ScriptState::set_hook(lua_State* L, int count, bool lines) {
  lua_sethook(L, hook_, LUA_MASKCOUNT | (lines ? LUA_MASKLINE : 0), count);
}

void ScriptState::arm(lua_State* L) { set_hook(L, kHookCount, lines_probed_); }

// A line hook slows a script down. It removes itself at the first line after lines are no longer watched.
void ScriptState::watch_lines(lua_State* L) {
  lines_watched_ = true;
  left_line_ = L ? script_line(L) : context_.line;
  set_hook(lua_, kHookCount, true);
  if (L) set_hook(L, kHookCount, true);
}

bool ScriptState::at_new_line(lua_State* L, lua_Debug* at) const {
  lua_getinfo(L, "S", at);
  const Chunk& chunk = binding_state(L).chunk(*at);
  return !chunk.library && SourceLine{chunk.file, at->currentline} != left_line_;
}

void ScriptState::unwind(lua_State* L, bool task_running) {
  unwinding_ = true;
  if (!L) fail_as(ErrorKind::cancelled, "interrupted");  // inside backward: guard() turns it into a Lua error
  set_hook(L, 1, false);
  if (!task_running) set_hook(lua_, 1, false);
  lua_pushliteral(L, "interrupted");
  lua_error(L);
  std::abort();
}

}  // namespace lunagrad
