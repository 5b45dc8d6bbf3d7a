#include "script/lua/native_calls.h"

#include <string_view>

#include "script/lua/binding_state.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

// The functions that are wrapped. The field name follows the last dot or colon.
constexpr const char* kLibrary[] = {
    "os.execute",   "os.remove",   "os.rename",     "io.input",     "io.output",
    "io.popen",     "io.read",     "io.lines",      "io.open",      "string.find",
    "string.match", "string.gsub", "string.gmatch", "string.rep",   "string.format",
    "table.concat", "table.sort",  "table.move",    "table.insert", "table.remove",
    "table.unpack", "load",        "loadfile",      "dofile",       "collectgarbage"};
constexpr const char* kFile[] = {"file:read", "file:lines", "file:write", "file:close", "file:flush"};

const char* field_of(const char* name) {
  const char* field = name;
  for (const char* at = name; *at; ++at)
    if (*at == '.' || *at == ':') field = at + 1;
  return field;
}

void put(lua_State* L, int argument, const std::string& text) {
  lua_pushlstring(L, text.data(), text.size());
  lua_replace(L, argument);
}

// Replaces the file argument by its stand-in, if it has one.
void take_file(lua_State* L, int argument, FileUse use, const char* function) {
  if (lua_type(L, argument) != LUA_TSTRING) return;
  const std::string path = lua_tostring(L, argument),
                    used = binding_state(L).files.check(path, use, function);
  if (used != path) put(L, argument, used);
}

FileUse use_of_mode(lua_State* L) {
  const std::string_view mode = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "r";
  if (mode.starts_with('w')) return FileUse::write;
  return mode.starts_with('a') || mode.find('+') != mode.npos ? FileUse::change : FileUse::read;
}

void take_files(lua_State* L, const char* name) {
  const std::string_view function = name;
  if (function == "io.open") {
    take_file(L, 1, use_of_mode(L), name);
  } else if (function == "io.lines" || function == "io.input" || function == "loadfile" ||
             function == "dofile") {
    take_file(L, 1, FileUse::read, name);
  } else if (function == "io.output") {
    take_file(L, 1, FileUse::write, name);
  } else if (function == "os.remove") {
    take_file(L, 1, FileUse::remove, name);
  } else if (function == "os.rename") {
    take_file(L, 1, FileUse::change, name);
    take_file(L, 2, FileUse::write, name);
  }
}

// A command cannot be kept from changing files, so it is replaced by one that succeeds and does nothing. A
// command whose output is read does run.
void take_command(lua_State* L, std::string_view function) {
  if (lua_type(L, 1) != LUA_TSTRING) return;
  if (function == "os.execute")
    put(L, 1, "true");
  else if (function == "io.popen" && lua_type(L, 2) == LUA_TSTRING && *lua_tostring(L, 2) == 'w')
    put(L, 1, "cat > /dev/null");
}

// string.rep of an empty string without a separator: Lua would loop n times, and nothing could interrupt it.
bool repeats_nothing(lua_State* L, const char* name) {
  const auto nothing = [&](int argument) {
    return lua_type(L, argument) == LUA_TSTRING && lua_rawlen(L, argument) == 0;
  };
  return std::string_view(name) == "string.rep" && nothing(1) && lua_isinteger(L, 2) &&
         (lua_isnoneornil(L, 3) || nothing(3));
}

}  // namespace

// Upvalues: the NativeCalls, the name, Lua's function. Lua's function runs in this stack frame, so that its
// errors have the position of the script's call.
int NativeCalls::call(lua_State* L) {
  struct Mark {
    Mark(NativeCalls& owner, const char* name, SourceLine line)
        : owner(owner), before(owner.name_.load()), line_before(owner.line_.load()) {
      owner.line_.store(line);
      owner.name_.store(name);
    }
    ~Mark() {
      owner.name_.store(before);
      owner.line_.store(line_before);
    }
    NativeCalls& owner;
    const char* before;
    SourceLine line_before;
  };
  auto& owner = *static_cast<NativeCalls*>(lua_touserdata(L, lua_upvalueindex(1)));
  const auto* name = static_cast<const char*>(lua_touserdata(L, lua_upvalueindex(2)));
  take_files(L, name);
  if (binding_state(L).files.aside) take_command(L, name);
  if (repeats_nothing(L, name)) {
    lua_pushliteral(L, "");
    return 1;
  }
  const lua_CFunction function = lua_tocfunction(L, lua_upvalueindex(3));
  const Mark mark(owner, name, script_line(L, 1));
  return function(L);
}

// Wraps a field of the table at the top of the stack if it is a C function without upvalues, as Lua's own
// are. A sandbox's functions have upvalues, which call() could not pass on, so they stay unwrapped.
void NativeCalls::wrap(lua_State* L, NativeCalls* owner, const char* name) {
  lua_getfield(L, -1, field_of(name));
  const bool holds_values = lua_iscfunction(L, -1) && lua_getupvalue(L, -1, 1);
  if (holds_values) lua_pop(L, 1);
  if (!lua_iscfunction(L, -1) || holds_values) {
    lua_pop(L, 1);
    return;
  }
  lua_pushlightuserdata(L, owner);
  lua_pushlightuserdata(L, const_cast<char*>(name));
  lua_rotate(L, -3, 2);
  lua_pushcclosure(L, guard<call>, 3);
  lua_setfield(L, -2, field_of(name));
}

void NativeCalls::watch(lua_State* L) {
  for (const char* name : kLibrary) {
    const std::string library(name, size_t(field_of(name) - name));
    lua_pushglobaltable(L);
    if (!library.empty()) {
      lua_getfield(L, -1, library.substr(0, library.size() - 1).c_str());
      lua_remove(L, -2);
    }
    if (lua_istable(L, -1)) wrap(L, this, name);  // a sandbox lacks some libraries
    lua_pop(L, 1);
  }
  if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
    if (lua_getfield(L, -1, "__index") == LUA_TTABLE)
      for (const char* name : kFile) wrap(L, this, name);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

std::pair<const char*, SourceLine> NativeCalls::current() const { return {name_.load(), line_.load()}; }

}  // namespace lunagrad
