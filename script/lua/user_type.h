#pragma once
// A type of C++ objects that scripts hold as userdata. A script may pass any value to any function, and may
// call a finalizer itself, even while a function uses the object. So check() throws an Error for a value of
// another type and for a finalized object, and its result keeps the object alive. For the state's thread.
#include <lua.hpp>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "script/lua/convert.h"
#include "script/lua/guard.h"

namespace lunagrad {

template <class T>
class UserType {
 public:
  // `key` is the metatable's key in the registry; `name` is used in Errors.
  constexpr UserType(const char* key, const char* name) : key_(key), name_(name) {}

  // Makes the metatable and leaves it at the top of the stack.
  void define(lua_State* L) const {
    luaL_newmetatable(L, key_);
    lua_pushlightuserdata(L, const_cast<char*>(key_));
    lua_pushcclosure(L, guard<collect>, 1);
    lua_setfield(L, -2, "__gc");
  }

  void push(lua_State* L, std::shared_ptr<T> object) const {
    new (lua_newuserdatauv(L, sizeof(Held), 0)) Held(std::move(object));
    luaL_setmetatable(L, key_);
  }

  // Null for a value of another type and for a finalized object.
  std::shared_ptr<T> find(lua_State* L, int index) const {
    const Held* const held = static_cast<Held*>(luaL_testudata(L, index, key_));
    return held ? *held : nullptr;
  }

  std::shared_ptr<T> check(lua_State* L, int argument, Callee callee) const {
    const Held* const held = static_cast<Held*>(luaL_testudata(L, argument, key_));
    if (!held) wrong_type(L, argument, callee, name_);
    if (!*held) bad_argument(L, argument, callee, std::string("the ") + name_ + " was finalized");
    return *held;
  }

 private:
  using Held = std::shared_ptr<T>;

  static int collect(lua_State* L) {
    const auto* const key = static_cast<const char*>(lua_touserdata(L, lua_upvalueindex(1)));
    if (auto* const held = static_cast<Held*>(luaL_testudata(L, 1, key))) held->reset();
    return 0;
  }

  const char* key_;
  const char* name_;
};

}  // namespace lunagrad
