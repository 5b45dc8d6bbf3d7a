#include "script/session/globals.h"

#include <algorithm>
#include <cstdio>

#include "runtime/core/terminal_text.h"
#include "runtime/system/number_locale.h"
#include "script/chunk/mistakes.h"
#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/source.h"
#include "script/lua/state.h"
#include "script/session/run_bindings.h"

namespace lunagrad {
namespace {

Globals& owner(lua_State* L) { return *module_owner<Globals>(L); }

int all_results(lua_State* L, int, lua_KContext) { return lua_gettop(L); }

// A searcher of `require` that finds given texts. Upvalues: file -> text, the searcher that comes after it,
// package. The files are named by package.path, as in that searcher.
int search_texts(lua_State* L) {
  std::string name(check_string(L, 1, "require"));
  std::replace(name.begin(), name.end(), '.', '/');
  lua_getfield(L, lua_upvalueindex(3), "path");
  const std::string path = std::string(check_string(L, -1, "require")) + ";";
  for (size_t begin = 0, end; (end = path.find(';', begin)) != path.npos; begin = end + 1) {
    std::string file = path.substr(begin, end - begin);
    if (const size_t mark = file.find('?'); mark != file.npos) file.replace(mark, 1, name);
    if (lua_getfield(L, lua_upvalueindex(1), file.c_str()) == LUA_TSTRING) {
      const std::string_view code = without_shebang(check_string(L, -1, "require"));
      if (luaL_loadbufferx(L, code.data(), code.size(), ("@" + file).c_str(), "t") != LUA_OK)
        return lua_error(L);
      if (binding_state(L).on_module) binding_state(L).on_module(file);
      push_string(L, file);
      return 2;
    }
    lua_pop(L, 1);
  }
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 1, LUA_MULTRET);
  return lua_gettop(L);
}

// `require` finds these texts in place of the files.
void use_modules(lua_State* L, const Modules& modules) {
  if (modules.empty()) return;
  if (binding_state(L).files.limited) {  // a sandbox searches without package.path
    binding_state(L).modules = modules;
    return;
  }
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, LUA_LOADLIBNAME);
  lua_getfield(L, -1, "searchers");
  lua_newtable(L);
  for (const auto& [file, source] : modules) {
    push_string(L, source);
    lua_setfield(L, -2, file.c_str());
  }
  lua_rawgeti(L, -2, 3);
  lua_pushvalue(L, -4);
  lua_pushcclosure(L, guard<search_texts>, 3);
  lua_rawseti(L, -2, 3);
  lua_pop(L, 3);
}

}  // namespace

void Globals::emit_output(lua_State* L, std::string text, bool to_stderr) {
  Event event{};
  event.kind = Event::Kind::output;
  event.to_stderr = to_stderr;
  // Output of a sandboxed script must not control the terminal; other scripts may print colours.
  event.text = binding_state(L).files.limited ? terminal_text(text) : std::move(text);
  events_.emit(std::move(event));
}

void Globals::emit_written(lua_State* L, int first, int last, bool to_stderr) {
  std::string output;
  for (int i = first; i <= last; ++i) {
    size_t length = 0;
    const char* text = luaL_checklstring(L, i, &length);
    output.append(text, length);
  }
  emit_output(L, std::move(output), to_stderr);
}

bool Globals::takes(const luaL_Stream* stream, bool by_io_write) const {
  if (!stream || !stream->closef) return false;  // no file, or a closed one
  if (options_.process_streams) return by_io_write && stream->f == stdout;
  return stream->f == stdout || stream->f == stderr;
}

int Globals::print(lua_State* L) {
  std::string line;
  const int count = lua_gettop(L);
  for (int i = 1; i <= count; ++i) {
    size_t length = 0;
    const char* text = luaL_tolstring(L, i, &length);
    if (i > 1) line += '\t';
    line.append(text, length);
    lua_pop(L, 1);
  }
  line += '\n';
  owner(L).emit_output(L, std::move(line));
  return 0;
}

// Lua's own io.write (upvalue 2), except that standard output becomes an event. Upvalue 3: io.output.
int Globals::write(lua_State* L) {
  const int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(3));
  lua_call(L, 0, 1);
  const auto* stream = static_cast<luaL_Stream*>(luaL_testudata(L, -1, LUA_FILEHANDLE));
  if (owner(L).takes(stream, true)) {
    owner(L).emit_written(L, 1, count, stream->f == stderr);
    return 1;
  }
  lua_pop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, count, LUA_MULTRET);
  return lua_gettop(L);
}

// file:write (upvalue 2: Lua's own), except that the standard streams become events.
int Globals::write_file(lua_State* L) {
  const auto* stream = static_cast<luaL_Stream*>(luaL_testudata(L, 1, LUA_FILEHANDLE));
  const int count = lua_gettop(L);
  if (owner(L).takes(stream, false)) {
    owner(L).emit_written(L, 2, count, stream->f == stderr);
    lua_settop(L, 1);
    return 1;
  }
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, count, LUA_MULTRET);
  return lua_gettop(L);
}

void Globals::take_streams(lua_State* L) {
  if (options_.process_streams) return;
  if (luaL_getmetatable(L, LUA_FILEHANDLE) == LUA_TTABLE) {
    if (lua_getfield(L, -1, "__index") == LUA_TTABLE) {
      lua_getfield(L, -1, "write");
      push(L, guard<write_file>, 1);
      lua_setfield(L, -2, "write");
    }
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

// Lua's own os.setlocale (upvalue 2). Numbers stay as they are.
int Globals::set_locale(lua_State* L) {
  const int count = lua_gettop(L);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, count, LUA_MULTRET);
  refresh_number_locale();
  return lua_gettop(L);
}

// A searcher of `require`: the modules that the program gave to the session.
int Globals::search_given(lua_State* L) {
  const std::string name(check_string(L, 1, "require"));
  const auto& modules = owner(L).options_.modules;
  const auto found = modules.find(name);
  if (found == modules.end()) {
    lua_pushnil(L);
    return 1;
  }
  const std::string& code = found->second;
  if (luaL_loadbufferx(L, code.data(), code.size(), ("=" + name).c_str(), "t") != LUA_OK) return lua_error(L);
  push_string(L, name);
  return 2;
}

void Globals::offer_modules(lua_State* L) {
  if (options_.modules.empty()) return;
  lua_getglobal(L, "require");
  lua_getupvalue(L, -1, 1);  // package, which a sandboxed script does not see
  lua_getfield(L, -1, "searchers");
  constexpr lua_Integer kPlace = 3;  // after the searchers of package.preload and of the library
  for (lua_Integer i = lua_Integer(lua_rawlen(L, -1)); i >= kPlace; --i) {
    lua_rawgeti(L, -1, i);
    lua_rawseti(L, -2, i + 1);
  }
  push(L, guard<search_given>);
  lua_rawseti(L, -2, kPlace);
  lua_pop(L, 3);
}

int Globals::exit(lua_State* L) {
  int code = 0;
  if (lua_isboolean(L, 1)) {
    code = lua_toboolean(L, 1) ? 0 : 1;
  } else {
    code = int(luaL_optinteger(L, 1, 0));
  }
  Globals& self = owner(L);
  self.script_.set_exit_code(code & 0xff);
  const bool in_task = self.control_.task_running();
  if (in_task) self.control_.interrupt_script();
  self.script_.unwind(L, in_task);
}

// Upvalue 2: the message handler of the script.
int Globals::handle_unless_unwinding(lua_State* L) {
  if (owner(L).script_.unwinding()) return 1;
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// xpcall whose message handler does not run while the script is being stopped: Lua calls handlers with hooks
// off, so a handler could loop for ever. Upvalue 2: Lua's own xpcall.
int Globals::interruptible_xpcall(lua_State* L) {
  luaL_checktype(L, 2, LUA_TFUNCTION);
  lua_pushvalue(L, 2);
  owner(L).push(L, guard<handle_unless_unwinding>, 1);
  lua_replace(L, 2);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_callk(L, lua_gettop(L) - 1, LUA_MULTRET, 0, all_results);
  return lua_gettop(L);
}

// package.searchers[3], which finds the script's modules: also warns of mistakes in them. Upvalue 2: Lua's
// own searcher.
int Globals::search_and_warn(lua_State* L) {
  lua_settop(L, 1);
  lua_pushvalue(L, lua_upvalueindex(2));
  lua_insert(L, 1);
  lua_call(L, 1, LUA_MULTRET);
  if (lua_isfunction(L, 1) && lua_isstring(L, 2)) {
    const std::string file = lua_tostring(L, 2);
    lua_pushvalue(L, 1);
    for (std::string& warning : mistake_warnings(L, read_script(file), file, true))
      owner(L).events_.warn(std::move(warning));
    lua_pop(L, 1);
  }
  return lua_gettop(L);
}

// _report(name, message or nil, seconds)
int Globals::report_test(lua_State* L) {
  TestResult result{std::string(check_string(L, 1, "it")), "", luaL_checknumber(L, 3)};
  if (!lua_isnil(L, 2)) result.message = check_string(L, 2, "it");
  owner(L).calls_.call("on_test", "", [&] { owner(L).run_->options().on_test(result); });
  return 0;
}

void Globals::open_testing(lua_State* L, const std::string& filter) {
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lunagrad.test");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "install");
  lua_pushglobaltable(L);
  push(L, guard<report_test>);
  push_string(L, filter);
  lua_call(L, 3, 0);
  lua_pop(L, 1);
}

void Globals::push(lua_State* L, lua_CFunction function, int count) {
  lua_pushlightuserdata(L, this);
  lua_insert(L, -1 - count);
  lua_pushcclosure(L, function, count + 1);
}

void Globals::open(lua_State* L, const RunOptions& options) {
  push(L, guard<print>);
  lua_setglobal(L, "print");
  lua_getglobal(L, "xpcall");
  push(L, guard<interruptible_xpcall>, 1);
  lua_setglobal(L, "xpcall");
  if (lua_getglobal(L, "io") == LUA_TTABLE) {  // missing in a sandbox
    lua_getfield(L, -1, "write");
    lua_getfield(L, -2, "output");
    push(L, guard<write>, 2);
    lua_setfield(L, -2, "write");
    lua_getglobal(L, "os");
    push(L, guard<exit>);
    lua_setfield(L, -2, "exit");
    lua_getfield(L, -1, "setlocale");
    push(L, guard<set_locale>, 1);
    lua_setfield(L, -2, "setlocale");
    lua_getglobal(L, LUA_LOADLIBNAME);
    lua_getfield(L, -1, "searchers");
    lua_rawgeti(L, -1, 3);
    push(L, guard<search_and_warn>, 1);
    lua_rawseti(L, -2, 3);
    lua_pop(L, 3);
  }
  lua_pop(L, 1);
  open_run(L);
  open_host(L);
  if (options.preload) {
    lua_getglobal(L, "require");
    lua_pushliteral(L, "lunagrad");
    lua_call(L, 1, 1);
    lua_setglobal(L, "lg");
  }
  use_modules(L, options.modules);
  offer_modules(L);
  native_calls_.watch(L);
  take_streams(L);
}

}  // namespace lunagrad
