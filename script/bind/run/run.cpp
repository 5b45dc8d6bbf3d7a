// Binds lg.run: parameters, steps, metrics, checkpoints, reloads. run_values.cpp binds texts, images and
// histograms.
#include <algorithm>
#include <filesystem>

#include "runtime/io/disk_limit.h"
#include "runtime/io/safetensors.h"
#include "script/bind/deferral/queue.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"
#include "script/lua/state.h"
#include "script/session/globals.h"
#include "script/session/run_bindings.h"
#include "script/session/session_thread.h"

namespace lunagrad {
namespace {

constexpr const char* kHandle = "lunagrad.Live";
constexpr const char* kStates = "lunagrad.states";  // registry key of the function given to _on_states

SessionThread& session(lua_State* L) {
  context().check_may_change("run");
  return SessionThread::of(L);
}

SourcePlace place_of(lua_State* L) {
  const SourceLine line = script_line(L);
  return {interned(line.file), line.line};
}

std::optional<double> optional_number(lua_State* L, int options, const char* field) {
  std::optional<double> result;
  if (lua_getfield(L, options, field) != LUA_TNIL) {
    if (!lua_isnumber(L, -1)) fail("run.param: option '", field, "' must be a number");
    result = lua_tonumber(L, -1);
  }
  lua_pop(L, 1);
  return result;
}

std::vector<std::string> choices(lua_State* L, int options) {
  std::vector<std::string> list;
  if (lua_getfield(L, options, "choices") != LUA_TNIL) {
    if (!lua_istable(L, -1)) fail("run.param: option 'choices' must be a list of values");
    for (lua_Integer i = 1; lua_rawgeti(L, -1, i) != LUA_TNIL; lua_pop(L, 1), ++i) {
      list.emplace_back(luaL_tolstring(L, -1, nullptr));
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return list;
}

ParamValue default_value(lua_State* L, const char* function) {
  switch (lua_type(L, 2)) {
    case LUA_TBOOLEAN:
      return bool(lua_toboolean(L, 2));
    case LUA_TNUMBER:
      if (lua_isinteger(L, 2)) return int64_t(lua_tointeger(L, 2));
      return double(lua_tonumber(L, 2));
    case LUA_TSTRING:
      return std::string(check_string(L, 2, function));
    default:
      wrong_type(L, 2, function, "number, boolean or string");
  }
}

void push_value(lua_State* L, const ParamValue& value) {
  if (const bool* b = std::get_if<bool>(&value)) {
    lua_pushboolean(L, *b);
  } else if (const int64_t* i = std::get_if<int64_t>(&value)) {
    lua_pushinteger(L, lua_Integer(*i));
  } else if (const double* d = std::get_if<double>(&value)) {
    lua_pushnumber(L, *d);
  } else {
    const std::string& s = std::get<std::string>(value);
    lua_pushlstring(L, s.data(), s.size());
  }
}

const Param& declare(lua_State* L, const char* function, bool live) {
  ParamInfo info;
  info.name = check_string(L, 1, function);
  info.live = live;
  info.place = place_of(L);
  ParamValue fallback = default_value(L, function);
  if (!lua_isnoneornil(L, 3)) {
    if (!lua_istable(L, 3)) wrong_type(L, 3, function, "table");
    info.min = optional_number(L, 3, "min");
    info.max = optional_number(L, 3, "max");
    lua_getfield(L, 3, "log");
    info.log = lua_toboolean(L, -1);
    lua_pop(L, 1);
    info.choices = choices(L, 3);
  }
  try {
    return session(L).run().declare(std::move(info), std::move(fallback));
  } catch (const UsageError&) {
    session(L).usage_failed();
    throw;
  }
}

int param(lua_State* L) {
  const Param& param = declare(L, "param", false);
  session(L).run().params().read(param.info.name);
  push_value(L, param.value);
  return 1;
}

// live(name, default, options) -> h: h() is the current value of the parameter, tostring(h) its text.
int live(lua_State* L) {
  const Param& param = declare(L, "live", true);
  lua_newuserdatauv(L, 0, 1);
  lua_pushlstring(L, param.info.name.data(), param.info.name.size());
  lua_setiuservalue(L, -2, 1);
  luaL_setmetatable(L, kHandle);
  return 1;
}

const Param& handle_param(lua_State* L) {
  luaL_checkudata(L, 1, kHandle);
  lua_getiuservalue(L, 1, 1);
  const Param* const param =
      SessionThread::of(L).run().params().find(std::string(check_string(L, -1, "live")));
  if (!param) fail("run.live: there is no such parameter");
  return *param;
}

// A read-only evaluation, such as a probe, does not count as the script reading an edited value.
int handle_call(lua_State* L) {
  const Param& param = handle_param(L);
  if (!context().read_only) session(L).run().params().read(param.info.name);
  push_value(L, param.value);
  return 1;
}

int handle_text(lua_State* L) {
  const std::string& value = handle_param(L).info.value;
  lua_pushlstring(L, value.data(), value.size());
  return 1;
}

int checkpoint_states(lua_State* L) {
  write_checkpoint(L, false);
  return 0;
}

// Writes the requested checkpoint at the end of the step.
void take_checkpoint(lua_State* L) {
  SessionThread& owner = session(L);
  if (!owner.run().takes_checkpoint()) return;
  owner.control().begin_checkpoint();
  lua_pushcfunction(L, guard<checkpoint_states>);
  const int status = lua_pcall(L, 0, 0, 0);
  owner.control().end_checkpoint();
  if (status != LUA_OK) lua_error(L);
}

int next_step(lua_State* L) {
  SessionThread& owner = session(L);
  const std::shared_ptr<const QueueReport> computed = leave_step(L);
  owner.viewers().tape().computed(computed, defers_steps(L));
  if (owner.run().step() > owner.run().done()) owner.probe_step(L);
  owner.run().end_step();
  tell_boundary(L);
  take_checkpoint(L);
  owner.end_step(L);
  owner.safe_point(L, SafePlace::step_end);
  const int64_t step = owner.run().next_step();
  owner.begin_step();
  if (step == 0) {
    end_steps(L);
    return 0;
  }
  enter_step(L);
  owner.repeat_console(L, SafePlace::op);
  lua_pushinteger(L, lua_Integer(step));
  return 1;
}

int steps(lua_State* L) {
  std::optional<int64_t> total;
  if (!lua_isnoneornil(L, 1)) {
    total = check_integer(L, 1, "steps");
    if (*total < 0) fail("run.steps: the number of steps is ", *total, ", it cannot be negative");
  }
  try {
    session(L).run().begin_steps(total, place_of(L));
  } catch (const UsageError&) {
    session(L).usage_failed();
    throw;
  }
  lua_pushcfunction(L, guard<next_step>);
  return 1;
}

std::variant<double, Tensor> metric(lua_State* L, int index, const std::string& name) {
  if (const Tensor* value = to_tensor(L, index)) {
    if (value->numel() != 1)
      fail("run.log: '", name, "' has shape ", value->shape(), "; a metric is one number");
    return value->detach();
  }
  if (lua_type(L, index) == LUA_TNUMBER) return double(lua_tonumber(L, index));
  if (lua_isboolean(L, index)) return double(lua_toboolean(L, index));
  fail("run.log: '", name, "' is a ", type_name(L, index), "; a metric is a number or a scalar tensor");
}

int log(lua_State* L) {
  if (!lua_istable(L, 1)) wrong_type(L, 1, "log", "table");
  Run::Row row;
  lua_settop(L, 1);
  lua_pushnil(L);
  while (lua_next(L, 1) != 0) {
    if (lua_type(L, 2) != LUA_TSTRING) fail("run.log: a metric needs a name: run.log{loss = value}");
    std::string name = lua_tostring(L, 2);
    auto value = metric(L, 3, name);
    row.emplace_back(std::move(name), std::move(value));
    lua_pop(L, 1);
  }
  // Lua's tables have no order: sort by name, so that all lines have the same order.
  std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  session(L).run().log(std::move(row), place_of(L));
  return 0;
}

// --- checkpoints: lua/lunagrad/run.lua makes and restores their contents ---

// _find_checkpoint(path) -> path of the checkpoint, or nil. Without an argument: the checkpoint of --resume,
// or nil without --resume.
int find_checkpoint(lua_State* L) {
  Run& run = session(L).run();
  const bool asked = lua_isnoneornil(L, 1);
  const std::string place = asked ? run.options().resume : std::string(check_string(L, 1, "resume"));
  if (!asked) binding_state(L).files.check(place, FileUse::read, "run.resume");
  const std::string found = place.empty() ? "" : run.find_checkpoint(place);
  if (asked && !place.empty() && found.empty())
    fail_as(ErrorKind::file, "--resume ", place, ": there is no checkpoint in this folder");
  if (asked && !place.empty() && !std::filesystem::exists(found))
    fail_as(ErrorKind::file, "--resume ", place,
            ": no such file or folder, and no run in runs/ whose name begins or ends so");
  if (found.empty()) return 0;
  push_string(L, found);
  return 1;
}

// _has_checksums(path): whether the checkpoint has checksums, so that damage is noticed.
int has_checksums(lua_State* L) {
  const std::string path(check_string(L, 1, "resume"));
  binding_state(L).files.check(path, FileUse::read, "run.resume");
  lua_pushboolean(L, describe_safetensors(path).has_checksums);
  return 1;
}

// _checkpoints_before(path) -> list of the checkpoints of the same run before this one, newest first
int list_checkpoints_before(lua_State* L) {
  const std::string path(check_string(L, 1, "resume"));
  binding_state(L).files.check(path, FileUse::read, "run.resume");
  const std::vector<std::string> before = session(L).run().checkpoints_before(path);
  lua_createtable(L, int(before.size()), 0);
  for (size_t i = 0; i < before.size(); ++i) {
    push_string(L, before[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  return 1;
}

// _resume_at(path, step, seconds, params, rng): continues the run after `step` of the checkpoint.
int resume_at(lua_State* L) {
  Run::Checkpoint checkpoint;
  checkpoint.path = check_string(L, 1, "resume");
  binding_state(L).files.check(checkpoint.path, FileUse::read, "run.resume");
  checkpoint.step = check_integer(L, 2, "resume");
  checkpoint.seconds = check_number(L, 3, "resume");
  check_table(L, 4, "resume");
  check_table(L, 5, "resume");
  for (lua_pushnil(L); lua_next(L, 4); lua_pop(L, 1))
    checkpoint.params[std::string(check_string(L, -2, "resume"))] = check_string(L, -1, "resume");
  lua_getfield(L, 5, "seed");
  lua_getfield(L, 5, "stream");
  checkpoint.seed = uint64_t(check_integer(L, -2, "resume"));
  checkpoint.stream = uint64_t(check_integer(L, -1, "resume"));
  session(L).run().resume_at(std::move(checkpoint));
  return 0;
}

// _progress() -> number of completed steps, seconds, name -> text of the parameter's value
int progress(lua_State* L) {
  Run& run = session(L).run();
  lua_pushinteger(L, lua_Integer(run.done()));
  lua_pushnumber(L, run.seconds());
  lua_newtable(L);
  for (const Param& param : run.params().all()) {
    push_string(L, to_text(param.value));
    lua_setfield(L, -2, param.info.name.c_str());
  }
  return 3;
}

int checkpoint_path(lua_State* L) {
  push_string(L, session(L).run().checkpoint_path());
  return 1;
}

// _checkpoint_written(path, automatic)
int checkpoint_written(lua_State* L) {
  session(L).run().checkpoint_written(std::string(check_string(L, 1, "checkpoint")), lua_toboolean(L, 2));
  return 0;
}

// _lose_checkpoint(): the checkpoint could not be written, and the run goes on
int lose_checkpoint(lua_State* L) {
  session(L).run().lose_checkpoint();
  return 0;
}

// The folder beside a checkpoint that holds the parts written by the ranks of a sharded run:
// step-00000040.shards.
std::filesystem::path shard_folder(const std::filesystem::path& checkpoint) {
  return std::filesystem::path(checkpoint).replace_extension(".shards");
}

// _remove_checkpoint(path): removes a checkpoint that this run wrote into its folder, then the parts of its
// ranks. A file that is already gone is no error.
int remove_checkpoint(lua_State* L) {
  const std::filesystem::path path(check_string(L, 1, "checkpoint"));
  const std::filesystem::path own = std::filesystem::path(session(L).run().checkpoint_path()).parent_path();
  std::error_code ignored;
  if (path.parent_path() != own) return 0;
  frees_on_disk(path.string());
  std::filesystem::remove(path, ignored);
  std::filesystem::remove_all(shard_folder(path), ignored);
  return 0;
}

// Error when a sandboxed script named this folder but may not change it.
void check_folder(lua_State* L, const std::filesystem::path& folder) {
  const FileLimits& files = binding_state(L).files;
  if (files.limited && !files.aside) files.check(folder.string(), FileUse::write, "checkpoint");
}

// _shard_folder(path, create) -> the folder for the parts of a checkpoint
int checkpoint_shards(lua_State* L) {
  const std::filesystem::path folder = shard_folder(check_string(L, 1, "checkpoint"));
  std::error_code error;
  if (lua_toboolean(L, 2)) {
    check_folder(L, folder);
    std::filesystem::create_directories(folder, error);
  }
  if (error) fail_as(ErrorKind::file, folder.string(), ": ", error.message());
  push_string(L, folder.string());
  return 1;
}

// _keep_shards(path, start): removes the parts whose names do not begin with `start`: parts of checkpoints
// that this checkpoint replaced, or that were never completed.
int keep_shards(lua_State* L) {
  const std::filesystem::path folder = shard_folder(check_string(L, 1, "checkpoint"));
  const std::string start(check_string(L, 2, "checkpoint"));
  check_folder(L, folder);
  std::error_code error;
  std::vector<std::filesystem::path> others;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().filename().string().rfind(start, 0) != 0) others.push_back(entry.path());
  for (const std::filesystem::path& path : others) std::filesystem::remove(path, error);
  std::filesystem::remove(folder, error);  // only succeeds if it is empty
  return 0;
}

// _on_states(f, objects): f("checkpoint") and f("stopping") write a checkpoint, f("take", path) returns the
// states for a reload, f("report") reports which states the new script took over. `objects` maps names to
// states.
int on_states(lua_State* L) {
  luaL_checktype(L, 1, LUA_TFUNCTION);
  lua_settop(L, 2);
  binding_state(L).states = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_setfield(L, LUA_REGISTRYINDEX, kStates);
  return 0;
}

// Calls the function given to _on_states. Without one, pushes nil for each result.
void call_states(lua_State* L, const char* verb, const std::string& argument, int results) {
  if (lua_getfield(L, LUA_REGISTRYINDEX, kStates) != LUA_TFUNCTION) {
    lua_pop(L, 1);
    for (int i = 0; i < results; ++i) lua_pushnil(L);
    return;
  }
  lua_pushstring(L, verb);
  if (argument.empty())
    lua_pushnil(L);
  else
    push_string(L, argument);
  lua_call(L, 2, results);
}

// _handed_over() -> the states that a reload passed to this script, nil without a reload
int handed_over(lua_State* L) {
  const Kept* const states = session(L).states();
  if (!states) return 0;
  push_kept(L, *states);
  return 1;
}

// _go_on(step, rng): continues after `step`, in a reload.
int go_on(lua_State* L) {
  check_table(L, 2, "reload");
  lua_getfield(L, 2, "seed");
  lua_getfield(L, 2, "stream");
  session(L).run().go_on_at(check_integer(L, 1, "reload"), uint64_t(check_integer(L, -2, "reload")),
                            uint64_t(check_integer(L, -1, "reload")));
  return 0;
}

int tell_reloaded(lua_State* L) {
  session(L).run().tell_reloaded(std::string(check_string(L, 1, "reload")));
  return 0;
}

// _tell_surgery(text, {{title =, line =, step =, bytes =, undone =}, …}, bytes, budget): the history of
// lg.surgery after the change `text`.
int tell_surgery(lua_State* L) {
  check_table(L, 2, "surgery");
  auto history = std::make_shared<SurgeryHistory>();
  for (lua_Integer i = 1; lua_rawgeti(L, 2, i) == LUA_TTABLE; lua_pop(L, 1), ++i) {
    const int its = lua_gettop(L);
    for (const char* field : {"title", "line", "step", "bytes", "undone"}) lua_getfield(L, its, field);
    SurgeryEntry entry;
    entry.title = check_string(L, -5, "surgery");
    entry.line = check_string(L, -4, "surgery");
    entry.step = check_integer(L, -3, "surgery");
    entry.bytes = check_integer(L, -2, "surgery");
    entry.undone = lua_toboolean(L, -1);
    lua_pop(L, 5);
    history->entries.push_back(std::move(entry));
  }
  history->bytes = check_integer(L, 3, "surgery");
  history->budget = check_integer(L, 4, "surgery");
  Event event{};
  event.kind = Event::Kind::surgery;
  event.text = check_string(L, 1, "surgery");
  event.step = session(L).run().done();
  event.surgery = std::move(history);
  session(L).emit(std::move(event));
  return 0;
}

int ask_checkpoint(lua_State* L) {
  session(L).run().ask_checkpoint();
  return 0;
}

int in_steps(lua_State* L) {
  lua_pushboolean(L, session(L).run().in_steps());
  return 1;
}

int warn(lua_State* L) {
  Event event{};
  event.kind = Event::Kind::warning;
  event.text = check_string(L, 1, "warn");
  event.place = place_of(L);
  session(L).emit(std::move(event));
  return 0;
}

int breakpoint(lua_State* L) {
  const bool wanted = lua_isnone(L, 1) || lua_toboolean(L, 1);
  if (wanted) session(L).pause_here(L);
  return 0;
}

// assert_finite(level): "off", "step" or "op"; true or no argument means "op". Every level except "off" also
// checks logged values.
int assert_finite(lua_State* L) {
  const Guard level = lua_isnone(L, 1) ? Guard::op : check_guard(L, 1, "assert_finite");
  session(L).viewers().ask_guard(level);
  session(L).run().assert_finite(level != Guard::off);
  return 0;
}

// _count_step(): an optimizer calls it at the end of its step. In a script without lg.run.steps, this is the
// step boundary.
int count_step(lua_State* L) {
  SessionThread& owner = session(L);
  if (owner.run().count_step()) {
    owner.probe_step(L);
    call_states(L, "report", "", 0);
    tell_boundary(L);
    take_checkpoint(L);
    owner.end_step(L);
    owner.safe_point(L, SafePlace::step_end);
    owner.begin_step();
  }
  return 0;
}

// _scale_overflowed(): a gradient scaler skips this step.
int scale_overflowed(lua_State* L) {
  session(L).viewers().sentry().skipped();
  return 0;
}

constexpr luaL_Reg kRunFunctions[] = {{"param", guard<param>},
                                      {"live", guard<live>},
                                      {"steps", guard<steps>},
                                      {"log", guard<log>},
                                      {"breakpoint", guard<breakpoint>},
                                      {"assert_finite", guard<assert_finite>},
                                      {"_count_step", guard<count_step>},
                                      {"_scale_overflowed", guard<scale_overflowed>},
                                      {"_find_checkpoint", guard<find_checkpoint>},
                                      {"_has_checksums", guard<has_checksums>},
                                      {"_checkpoints_before", guard<list_checkpoints_before>},
                                      {"_resume_at", guard<resume_at>},
                                      {"_progress", guard<progress>},
                                      {"_checkpoint_path", guard<checkpoint_path>},
                                      {"_checkpoint_written", guard<checkpoint_written>},
                                      {"_lose_checkpoint", guard<lose_checkpoint>},
                                      {"_remove_checkpoint", guard<remove_checkpoint>},
                                      {"_shard_folder", guard<checkpoint_shards>},
                                      {"_keep_shards", guard<keep_shards>},
                                      {"_on_states", guard<on_states>},
                                      {"_handed_over", guard<handed_over>},
                                      {"_go_on", guard<go_on>},
                                      {"_tell_reloaded", guard<tell_reloaded>},
                                      {"_tell_surgery", guard<tell_surgery>},
                                      {"_ask_checkpoint", guard<ask_checkpoint>},
                                      {"_in_steps", guard<in_steps>},
                                      {"_warn", guard<warn>},
                                      {nullptr, nullptr}};

}  // namespace

void write_checkpoint(lua_State* L, bool stopping) {
  call_states(L, stopping ? "stopping" : "checkpoint", "", 0);
}

void write_automatic_checkpoint(lua_State* L) { call_states(L, "automatic", "", 0); }

void push_states(lua_State* L, const std::string& checkpoint) { call_states(L, "take", checkpoint, 1); }
void push_states_to_keep(lua_State* L) { call_states(L, "keep", "", 1); }
void push_states_for_keyframe(lua_State* L) { call_states(L, "keyframe", "", 1); }

void open_run(lua_State* L) {
  luaL_newmetatable(L, kHandle);
  lua_pushcfunction(L, guard<handle_call>);
  lua_setfield(L, -2, "__call");
  lua_pushcfunction(L, guard<handle_text>);
  lua_setfield(L, -2, "__tostring");
  lua_pushliteral(L, "live parameter");
  lua_setfield(L, -2, "__metatable");
  lua_pop(L, 1);
  add_module(L, "run", kRunFunctions, &SessionThread::of(L));
  add_run_values(L);
}

}  // namespace lunagrad
