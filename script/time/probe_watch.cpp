#include "script/time/probe_watch.h"

#include <algorithm>
#include <filesystem>

#include "runtime/core/context.h"
#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/passed.h"
#include "script/lua/source.h"
#include "script/lua/traceback.h"
#include "script/run/run.h"
#include "script/time/footprint.h"

namespace lunagrad {
namespace {

struct Request {
  const std::string& code;
  lua_State* script;
  double value = 0;
};

int refuse_assignment(lua_State* L) {
  fail("a probe only looks, and this one assigns to '", luaL_tolstring(L, 2, nullptr), "'");
}

// Pushes the environment of a probe: the console's environment, made read-only.
void push_scope(lua_State* L) {
  lua_newtable(L);
  lua_newtable(L);
  push_console(L);
  lua_setfield(L, -2, "__index");
  lua_pushcfunction(L, guard<refuse_assignment>);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
}

double result_number(lua_State* L, int index, int results) {
  if (results != 1) fail("a number expected, got ", results, " values");
  if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
  const Tensor* const tensor = to_tensor(L, index);
  if (!tensor) fail("a number or a tensor of one element expected, got a ", type_name(L, index));
  if (tensor->numel() != 1)
    fail("a number or a tensor of one element expected, got a tensor of shape ", tensor->shape());
  if (is_complex(tensor->dtype())) fail("a number expected, got a complex one");
  return logged_number(tensor->detach());
}

// Reports what was written even if the evaluation failed for another reason.
int evaluate(lua_State* L) {
  Request& request = Passed<Request>::take();
  lua_settop(L, 0);
  push_footprint(L, request.script);
  see_locals(L, request.script);
  if (luaL_loadbufferx(L, request.code.data(), request.code.size(), "=probe", "t") != LUA_OK)
    return lua_error(L);
  push_scope(L);
  lua_setupvalue(L, -2, 1);
  const bool ok = lua_pcall(L, 0, LUA_MULTRET, 0) == LUA_OK;
  const int results = lua_gettop(L) - 1;
  forget_locals(L);
  const std::string written = undo_changes(L, request.script, 1);
  if (!written.empty()) fail("a probe only looks, and this one writes to '", written, "'");
  if (!ok) return lua_error(L);
  request.value = result_number(L, 2, results);
  return 0;
}

bool is_file(const std::string& asked, const std::string& file) {
  if (asked == file) return true;
  return std::filesystem::path(file).lexically_normal() == std::filesystem::path(asked).lexically_normal() ||
         file.ends_with("/" + asked) || asked.ends_with("/" + file);
}

}  // namespace

std::string probe_code(const std::string& expression) {
  const size_t begin = std::min(expression.find_first_not_of(" \t\r\n"), expression.size());
  const size_t word = expression.find_first_of(" \t", begin);
  for (const char* function : {"norm", "mean", "sum", "max", "min", "std"}) {
    if (word == std::string::npos || expression.compare(begin, word - begin, function) != 0) continue;
    const size_t of = expression.find_first_not_of(" \t", word);
    if (of == std::string::npos || expression.compare(of, 3, "of ") != 0) continue;
    return "return (" + expression.substr(of + 3) + "):" + function + "()";
  }
  return "return " + expression;
}

uint64_t ProbeWatch::add(Probe probe, std::string* why) {
  if (probe.name.empty()) probe.name = probe.expression;
  SourcePlace place;
  std::string problem = probe.expression.find_first_not_of(" \t\r\n") == std::string::npos
                            ? std::string("there is no expression")
                            : syntax_error(probe_code(probe.expression), "=probe", place);
  if (!problem.empty()) {
    if (why) *why = std::move(problem);
    return 0;
  }
  const std::lock_guard lock(mutex_);
  probe.id = next_id_++;
  shared_.push_back(std::move(probe));
  changed_.store(true);
  return shared_.back().id;
}

bool ProbeWatch::remove(uint64_t id) {
  const std::lock_guard lock(mutex_);
  changed_.store(true);
  return std::erase_if(shared_, [&](const Probe& probe) { return probe.id == id; }) > 0;
}

std::vector<Probe> ProbeWatch::list() const {
  const std::lock_guard lock(mutex_);
  return shared_;
}

void ProbeWatch::begin_run() {
  const std::lock_guard lock(mutex_);
  for (Probe& probe : shared_) probe.since = 0;
  changed_.store(true);
}

void ProbeWatch::begin_step(int64_t within, int64_t end) {
  if (!changed_.exchange(false) && !some_wait_) return;
  {
    const std::lock_guard lock(mutex_);
    for (Probe& probe : shared_)
      if (probe.since == 0) probe.since = end;
    active_ = shared_;
  }
  const auto at_line = [](const Probe& probe) { return probe.place.line > 0; };
  some_wait_ = std::erase_if(active_, [&](const Probe& probe) {
                 return probe.first > (at_line(probe) ? within : end);
               }) > 0;
  at_lines_ = std::any_of(active_.begin(), active_.end(), at_line);
  at_end_ = !std::all_of(active_.begin(), active_.end(), at_line);
}

void ProbeWatch::end_step(lua_State* L, const OnReading& on_reading) {
  for (const Probe& probe : active_)
    if (probe.place.line == 0) read(L, probe, on_reading);
}

bool ProbeWatch::waits_at(int line) const {
  if (busy_) return false;
  return std::any_of(active_.begin(), active_.end(),
                     [&](const Probe& probe) { return probe.place.line == line; });
}

void ProbeWatch::at_line(lua_State* L, const std::string& script, const std::string& file, int line,
                         const OnReading& on_reading) {
  for (const Probe& probe : active_)
    if (probe.place.line == line && is_file(probe.place.file.empty() ? script : probe.place.file, file))
      read(L, probe, on_reading);
}

void ProbeWatch::read(lua_State* L, const Probe& probe, const OnReading& on_reading) {
  Reading reading{probe, 0, {}};
  const std::string code = probe_code(probe.expression);
  Request request{code, L};
  Context& own = context();
  const Generator generator = own.generator;
  {
    const RestoreContext restore;
    own.read_only = true;
    own.trace = nullptr;
    own.capture = nullptr;
    busy_ = true;
    lua_State* const thread = lua_newthread(L);
    lua_pushcfunction(thread, guard<evaluate>);
    const Passed<Request> passed(request);
    ScriptError error;
    if (traceback_call(thread, 0, 0, error) != LUA_OK) reading.error = error.message;
    lua_pop(L, 1);
    busy_ = false;
    if (reading.error.empty() && !(own.generator == generator))
      reading.error = "a probe only looks, and this one draws random numbers";
  }
  reading.value = request.value;
  if (!reading.error.empty()) remove(probe.id);
  on_reading(reading);
}

}  // namespace lunagrad
