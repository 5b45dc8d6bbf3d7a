// A host with a Lua of its own, Lua 5.1, LuaJIT or Lua 5.4 compiled as C, whose errors are jumps: both sides
// raise errors, one within the other. The first argument is the text with which the version of its own Lua
// begins.
#include <lunagrad/runtime/ops.h>
#include <lunagrad/script/session.h>

#include <cstdio>
#include <stdexcept>
#include <string>

extern "C" {
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>
}

using namespace lunagrad;

static int fail_in_c(lua_State* L) { return luaL_error(L, "an error of the host's C function"); }

// Errors from code of Lua, from a C function and in a coroutine; a state of the host's own Lua catches them.
static bool own_lua_works(const std::string& version) {
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  lua_pushcfunction(L, fail_in_c);
  lua_setglobal(L, "fail_in_c");
  const char* code =
      "local ok, message = pcall(error, {code = 7})  assert(not ok and message.code == 7)\n"
      "ok, message = pcall(fail_in_c)  assert(not ok and message:find('C function'))\n"
      "ok, message = coroutine.resume(coroutine.create(function() fail_in_c() end))\n"
      "assert(not ok and message:find('C function'))\n"
      "return jit and jit.version or _VERSION";
  bool works = luaL_loadstring(L, code) == 0 && lua_pcall(L, 0, 1, 0) == 0;
  const char* said = lua_tostring(L, -1);
  if (!works || std::string(said ? said : "").rfind(version, 0) != 0) {
    std::fprintf(stderr, "the host's Lua: %s\n", said ? said : "an error without a text");
    works = false;
  }
  works = luaL_loadstring(L, "error('of the host')") == 0 && lua_pcall(L, 0, 0, 0) != 0 && works;
  lua_close(L);
  return works;
}

constexpr const char* kScript = R"(
local lg = require "lunagrad"
assert(_VERSION == "Lua 5.4" and not jit)
local ok, message = pcall(error, {code = 8})
assert(not ok and message.code == 8)
ok, message = pcall(function() return lg.zeros(2) + lg.zeros(3) end)
assert(not ok and message:find "2", message)
for step in lg.run.steps(20) do
  ok, message = pcall(lg.host.refused, lg.ones(1))
  assert(not ok and message:find "refused by the host", message)
  assert(lg.host.own(lg.ones(2)):sum():item() == 4)
  lg.host.seen = lg.full(1, step)
end
error "the script's last error"
)";

extern "C" [[gnu::visibility("default")]] int run_host(const char* version) {
  bool works = own_lua_works(version);
  for (int round = 0; round < 2; ++round) {
    std::string error;
    Session session([&](const Event& event) {
      if (event.kind == Event::Kind::error) error += event.text;
    });
    session.add_function("own", [&](const TensorList& in) -> TensorList {
      if (!own_lua_works(version)) throw std::runtime_error("the host's Lua failed");
      return {in.at(0) * 2.0};
    });
    session.add_function(
        "refused", [](const TensorList&) -> TensorList { throw std::runtime_error("refused by the host"); });
    session.run_text(kScript, "=embedded", {.write_run = false});
    works = own_lua_works(version) && works;
    const Outcome outcome = session.wait();
    const Tensor seen = session.get("seen");
    if (outcome != Outcome::error || error.find("the script's last error") == std::string::npos ||
        !seen.defined()) {
      std::fprintf(stderr, "the session: %s\n", error.c_str());
      works = false;
    }
  }
  works = own_lua_works(version) && works;
  return works ? 0 : 1;
}

#ifndef AS_PLUGIN
int main(int, char** arguments) { return run_host(arguments[1]); }
#endif
