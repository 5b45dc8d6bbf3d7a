#include "script/lua/drive_script.h"

#include <chrono>
#include <cmath>
#include <fstream>
#include <lua.hpp>
#include <utility>

#include "runtime/core/error.h"
#include "script/lua/foreign_lua.h"

namespace lunagrad {
namespace {

constexpr std::chrono::seconds kLongestSlice(30);
constexpr int kInstructionsPerLook = 1000000;

std::string read_text(lua_State* L, int index) {
  size_t length = 0;
  const char* text = lua_tolstring(L, index, &length);
  return std::string(text, length);
}

std::vector<std::string> read_list(lua_State* L, int index) {
  std::vector<std::string> list;
  for (lua_Integer i = 1; lua_rawgeti(L, index, i) != LUA_TNIL; lua_pop(L, 1), ++i) {
    if (lua_type(L, -1) != LUA_TSTRING)
      fail("argument ", index, ": entry ", i, " of the list must be a string, got ", luaL_typename(L, -1));
    list.push_back(read_text(L, -1));
  }
  lua_pop(L, 1);
  return list;
}

DriveScript::Fields read_fields(lua_State* L, int index) {
  DriveScript::Fields fields;
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING)
      fail("argument ", index, ": a field must have a name, got a key of type ", luaL_typename(L, -2));
    const std::string name = read_text(L, -2);
    switch (lua_type(L, -1)) {
      case LUA_TBOOLEAN:
        fields[name] = bool(lua_toboolean(L, -1));
        break;
      case LUA_TNUMBER:
        fields[name] = double(lua_tonumber(L, -1));
        break;
      case LUA_TSTRING:
        fields[name] = read_text(L, -1);
        break;
      default:
        fail("argument ", index, ": ", name, " must be a string, a number or a boolean, got ",
             luaL_typename(L, -1));
    }
  }
  return fields;
}

DriveScript::Value read_value(lua_State* L, int index) {
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      return bool(lua_toboolean(L, index));
    case LUA_TNUMBER:
      return double(lua_tonumber(L, index));
    case LUA_TSTRING:
      return read_text(L, index);
    case LUA_TTABLE:
      if (lua_rawlen(L, index) > 0) return read_list(L, index);
      return read_fields(L, index);
    case LUA_TNIL:
      return std::monostate();
    default:
      fail("argument ", index, " must be a string, a number, a boolean or a table, got ",
           luaL_typename(L, index));
  }
}

struct Push {
  lua_State* L;
  void operator()(std::monostate) const { lua_pushnil(L); }
  void operator()(bool value) const { lua_pushboolean(L, value); }
  void operator()(double value) const {
    if (value == std::floor(value) && std::abs(value) < 0x1p53)
      lua_pushinteger(L, lua_Integer(value));
    else
      lua_pushnumber(L, value);
  }
  void operator()(const std::string& value) const { lua_pushlstring(L, value.data(), value.size()); }
  void operator()(const std::vector<std::string>& values) const {
    lua_createtable(L, int(values.size()), 0);
    for (size_t i = 0; i < values.size(); ++i) {
      (*this)(values[i]);
      lua_rawseti(L, -2, lua_Integer(i + 1));
    }
  }
  void operator()(const DriveScript::Fields& fields) const {
    lua_createtable(L, 0, int(fields.size()));
    for (const auto& [name, value] : fields) {
      (*this)(name);
      std::visit(*this, value);
      lua_rawset(L, -3);
    }
  }
};

int push_values(lua_State* L, const DriveScript::Values& values) {
  luaL_checkstack(L, int(values.size()) + 2, nullptr);
  for (const DriveScript::Value& value : values) std::visit(Push{L}, value);
  return int(values.size());
}

}  // namespace

struct DriveScript::State {
  std::map<std::string, Function> functions;
  lua_State* main = nullptr;
  lua_State* thread = nullptr;  // the script's coroutine; the registry of `main` keeps it alive
  int arguments = 0;            // number of arguments on the thread's stack for the first resume
  Poll pending;                 // the call that suspended the script
  Values results;               // of the pending call
  std::string failure;          // why the pending call failed; "" if it did not
  std::string error;
  bool ended = false;
  std::chrono::steady_clock::time_point slice_began;

  ~State() {
    if (main) lua_close(main);
  }
  static State& of(lua_State* L) { return **static_cast<State**>(lua_getextraspace(L)); }

  // Returns whether the pending call is done; if so, sets `results` or `failure`.
  bool poll() {
    try {
      std::optional<Values> given = pending();
      if (!given) return false;
      results = std::move(*given);
    } catch (const std::exception& caught) {
      failure = caught.what();
    }
    pending = nullptr;
    return true;
  }

  static int finish(lua_State* L, int, lua_KContext) {
    State& state = of(L);
    if (!state.failure.empty()) return luaL_error(L, "%s", std::exchange(state.failure, {}).c_str());
    return push_values(L, std::exchange(state.results, {}));
  }

  static int call(lua_State* L) {
    State& state = of(L);
    if (L != state.thread) return luaL_error(L, "functions of ui cannot be called inside a coroutine");
    try {
      Values values;
      for (int i = 1; i <= lua_gettop(L); ++i) values.push_back(read_value(L, i));
      state.pending = state.functions.at(lua_tostring(L, lua_upvalueindex(1)))(values);
    } catch (const std::exception& caught) {
      state.failure = caught.what();
    }
    if (!state.failure.empty() || state.poll()) return finish(L, LUA_OK, 0);
    return lua_yieldk(L, 0, 0, finish);
  }

  static void look(lua_State* L, lua_Debug*) {
    if (std::chrono::steady_clock::now() - of(L).slice_began > kLongestSlice)
      luaL_error(L, "the drive ran for %d s without letting a frame pass", int(kLongestSlice.count()));
  }
};

DriveScript::DriveScript(const std::string& path, const std::vector<std::string>& arguments,
                         std::map<std::string, Function> functions)
    : state_(std::make_unique<State>()) {
  if (!std::ifstream(path)) fail_as(ErrorKind::file, "drive: cannot read ", path);
  state_->functions = std::move(functions);
  refuse_foreign_lua();
  lua_State* L = state_->main = luaL_newstate();
  if (!L) fail_as(ErrorKind::memory, "drive: no memory for a Lua state");
  *static_cast<State**>(lua_getextraspace(L)) = state_.get();
  luaL_openlibs(L);
  lua_createtable(L, 0, int(state_->functions.size()));
  for (const auto& [name, function] : state_->functions) {
    lua_pushlstring(L, name.data(), name.size());
    lua_pushcclosure(L, State::call, 1);
    lua_setfield(L, -2, name.c_str());
  }
  lua_setglobal(L, "ui");
  Push{L}(arguments);
  lua_pushlstring(L, path.data(), path.size());
  lua_rawseti(L, -2, 0);
  lua_setglobal(L, "arg");
  state_->thread = lua_newthread(L);
  lua_setfield(L, LUA_REGISTRYINDEX, "drive");
  lua_sethook(state_->thread, State::look, LUA_MASKCOUNT, kInstructionsPerLook);
  if (luaL_loadfilex(state_->thread, path.c_str(), "t") != LUA_OK) {
    state_->error = lua_tostring(state_->thread, -1);
    state_->ended = true;
    return;
  }
  state_->arguments = push_values(state_->thread, Values(arguments.begin(), arguments.end()));
}

DriveScript::~DriveScript() = default;

bool DriveScript::resume() {
  State& state = *state_;
  if (state.ended) return true;
  if (state.pending && !state.poll()) return false;
  state.slice_began = std::chrono::steady_clock::now();
  lua_State* L = state.thread;
  int count = 0;
  const int status = lua_resume(L, nullptr, std::exchange(state.arguments, 0), &count);
  if (status == LUA_YIELD) {
    lua_pop(L, count);
    return false;
  }
  state.ended = true;
  if (status != LUA_OK) {
    const char* message = luaL_tolstring(L, -1, nullptr);
    luaL_traceback(L, L, message, 0);
    state.error = lua_tostring(L, -1);
  }
  return true;
}

const std::string& DriveScript::error() const { return state_->error; }

}  // namespace lunagrad
