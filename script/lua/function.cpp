#include "script/lua/function.h"

#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/hint.h"
#include "script/lua/passed.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

using Body = const std::function<void(lua_State*)>;

int run_body(lua_State* L) {
  Body& body = Passed<Body>::take();
  lua_settop(L, 0);
  body(L);
  return 0;
}

int to_text(lua_State* L) {
  luaL_tolstring(L, 1, nullptr);
  return 1;
}

// The text of the error at the top of the stack, which may be an object whose __tostring fails too.
std::string error_text(lua_State* L) {
  const char* const type = luaL_typename(L, -1);
  lua_pushcfunction(L, guard<to_text>);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) return text("an error of type ", type);
  size_t length = 0;
  const char* const message = lua_tolstring(L, -1, &length);
  return {message, length};
}

}  // namespace

LuaFunction::LuaFunction(lua_State* L, int index, const char* role) : state_(binding_state(L).alive) {
  lua_pushvalue(L, index);
  reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
  if (const auto& kept = binding_state(L).kept_functions) kept->insert({reference_, {role, script_line(L)}});
}

LuaFunction::~LuaFunction() {
  BindingState* const state = *state_;
  if (!state) return;
  luaL_unref(state->main, LUA_REGISTRYINDEX, reference_);
  if (state->kept_functions) state->kept_functions->erase(reference_);
}

void LuaFunction::push(lua_State* L) const { lua_rawgeti(L, LUA_REGISTRYINDEX, reference_); }

void LuaFunction::protect(const char* what, const std::function<void(lua_State*)>& body) const {
  BindingState* const state = *state_;
  if (!state) fail(what, ": the script that set it has ended");
  lua_State* const L = state->main;
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, 4)) fail(what, ": too many calls inside one another");
  const SourceLine line = context().line;
  lua_pushcfunction(L, guard<run_body>);
  const Passed<Body> passed(body);
  state->last_error.message[0] = '\0';
  const int status = lua_pcall(L, 0, 0, 0);
  context().line = line;
  if (status == LUA_OK) return lua_settop(L, top);
  const std::string text = (*what ? std::string(what) + ": " : std::string()) +
                           (status == LUA_ERRMEM ? memory_error(L) : error_text(L));
  const char* const last = state->last_error.message;
  ErrorKind kind = ErrorKind::value;
  if (status == LUA_ERRMEM)
    kind = ErrorKind::memory;
  else if (*last && text.find(last) != std::string::npos)
    kind = state->last_error.kind;
  lua_settop(L, top);
  throw Error(text, kind);
}

TensorList LuaFunction::call(const TensorList& arguments, const char* what) const {
  TensorList results;
  protect(what, [&](lua_State* L) {
    luaL_checkstack(L, int(arguments.size()) + 4, "too many arguments");
    push(L);
    for (const Tensor& x : arguments) push_tensor(L, x);
    lua_call(L, int(arguments.size()), LUA_MULTRET);
    for (int i = 1; i <= lua_gettop(L); ++i)
      results.push_back(lua_isnil(L, i) ? Tensor() : check_tensor(L, i, "return"));
  });
  return results;
}

}  // namespace lunagrad
