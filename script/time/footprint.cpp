#include "script/time/footprint.h"

#include <vector>

#include "script/lua/console_scope.h"
#include "script/lua/convert.h"

namespace lunagrad {
namespace {

constexpr lua_Unsigned kMostItems = 10000;
constexpr int kDeepest = 64;  // depth of tables that are searched for the name of a changed one

bool is_of_library(const std::string& module) {
  for (const char* own : {LUA_GNAME, LUA_LOADLIBNAME, LUA_COLIBNAME, LUA_TABLIBNAME, LUA_IOLIBNAME,
                          LUA_OSLIBNAME, LUA_STRLIBNAME, LUA_MATHLIBNAME, LUA_UTF8LIBNAME, LUA_DBLIBNAME})
    if (module == own) return module != LUA_GNAME;
  return module == "lunagrad" || module.starts_with("lunagrad.");
}

// The footprint is a table: seen[table] = a copy of the table's entries; seen[function] = a list of the
// function's upvalues; true for values that are left out.
class Walk {
 public:
  Walk(lua_State* L, lua_State* script) : L_(L) {
    lua_newtable(L_);
    seen_ = lua_gettop(L_);
    leave_out_library();
    lua_pushglobaltable(L_);
    add();
    visit_script_locals(script, [&](const lua_Debug& frame, int index, const char*) {
      lua_getlocal(script, &frame, index);
      lua_xmove(script, L_, 1);
      add();
      return false;
    });
    for (lua_Debug frame; lua_getstack(script, level_, &frame); ++level_) {
      lua_getinfo(script, "f", &frame);
      lua_xmove(script, L_, 1);
      add();
    }
    while (!waiting_.empty()) {
      const lua_Integer next = waiting_.back();
      waiting_.pop_back();
      lua_rawgeti(L_, seen_, next);
      lua_pushnil(L_);
      lua_rawseti(L_, seen_, next);
      copy();
      lua_pop(L_, 1);
    }
    lua_settop(L_, seen_);
  }

 private:
  void leave_out_library() {
    lua_getfield(L_, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    for (lua_pushnil(L_); lua_next(L_, -2); lua_pop(L_, 1))
      if (lua_type(L_, -2) == LUA_TSTRING && lua_istable(L_, -1) && is_of_library(lua_tostring(L_, -2)))
        leave_out();
    leave_out();
    lua_pop(L_, 1);
    lua_pushvalue(L_, LUA_REGISTRYINDEX);
    leave_out();
    lua_pop(L_, 1);
  }
  void leave_out() {
    lua_pushvalue(L_, -1);
    lua_pushboolean(L_, 1);
    lua_rawset(L_, seen_);
  }
  // Pops a value; a new table or function is queued to be copied.
  void add() {
    if (!lua_istable(L_, -1) && (!lua_isfunction(L_, -1) || lua_iscfunction(L_, -1))) return lua_pop(L_, 1);
    lua_pushvalue(L_, -1);
    const bool known = lua_rawget(L_, seen_) != LUA_TNIL;
    lua_pop(L_, 1);
    if (known) return lua_pop(L_, 1);
    leave_out();  // marks it until it is copied
    waiting_.push_back(++last_);
    lua_rawseti(L_, seen_, last_);
  }
  // Copies the table or function at the top.
  void copy() {
    luaL_checkstack(L_, 8, "probe");
    const int value = lua_gettop(L_);
    if (lua_istable(L_, value) && lua_rawlen(L_, value) > kMostItems) return;
    lua_newtable(L_);
    if (lua_istable(L_, value)) {
      for (lua_pushnil(L_); lua_next(L_, value);) {
        lua_pushvalue(L_, -1);
        add();
        lua_pushvalue(L_, -2);
        lua_pushvalue(L_, -2);
        lua_rawset(L_, value + 1);
        lua_pop(L_, 1);
      }
    } else {
      for (int i = 1; lua_getupvalue(L_, value, i); ++i) {
        lua_pushvalue(L_, -1);
        add();
        lua_rawseti(L_, value + 1, i);
      }
    }
    lua_pushvalue(L_, value);
    lua_pushvalue(L_, value + 1);
    lua_rawset(L_, seen_);
    lua_settop(L_, value);
  }

  lua_State* const L_;
  int seen_ = 0, level_ = 0;
  lua_Integer last_ = 0;
  std::vector<lua_Integer> waiting_;
};

// Calls no __tostring, which could fail.
std::string key_text_at(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TSTRING && lua_type(L, index) != LUA_TNUMBER)
    return std::string("[") + luaL_typename(L, index) + "]";
  lua_pushvalue(L, index);  // lua_tostring would change a number that lua_next needs
  std::string text = lua_tostring(L, -1);
  lua_pop(L, 1);
  return text;
}

// Finds the names that lead from a local variable or a global to the table `wanted`.
class Naming {
 public:
  Naming(lua_State* L, lua_State* script, const void* wanted) : L_(L), wanted_(wanted) {
    lua_newtable(L_);
    seen_ = lua_gettop(L_);
    visit_script_locals(script, [&](const lua_Debug& frame, int index, const char* name) {
      lua_getlocal(script, &frame, index);
      lua_xmove(script, L_, 1);
      return search(name, 0);
    });
    lua_pushglobaltable(L_);
    if (found.empty() && lua_topointer(L_, -1) != wanted_) search("_G", 0);
    lua_settop(L_, seen_ - 1);
  }
  std::string found;

 private:
  // Searches the value at the top, and pops it.
  bool search(const std::string& path, int depth) {
    const bool here = lua_topointer(L_, -1) == wanted_;
    if (here) found = path;
    bool known = !lua_istable(L_, -1) || depth > kDeepest;
    if (!known) {
      lua_pushvalue(L_, -1);
      known = lua_rawget(L_, seen_) != LUA_TNIL;
      lua_pop(L_, 1);
    }
    if (!here && !known) {
      luaL_checkstack(L_, 8, "probe");
      lua_pushvalue(L_, -1);
      lua_pushboolean(L_, 1);
      lua_rawset(L_, seen_);
      for (lua_pushnil(L_); lua_next(L_, -2);) {
        const std::string key = key_text_at(L_, -2);
        if (!search(path == "_G" ? key : path + "." + key, depth + 1)) continue;
        lua_pop(L_, 1);
        break;
      }
    }
    lua_pop(L_, 1);
    return !found.empty();
  }

  lua_State* const L_;
  const void* const wanted_;
  int seen_ = 0;
};

// Compares the table at `now` with its copy at `was`, and restores it. Returns the first key that was
// written; "" when there is none.
std::string undo_table(lua_State* L, int now, int was) {
  std::string written;
  lua_newtable(L);  // a list of the keys whose values differ
  const int fresh = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, now); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_rawget(L, was);
    const bool same = lua_rawequal(L, -1, -2);
    lua_pop(L, 1);
    if (same) continue;
    if (written.empty()) written = key_text_at(L, -2);
    lua_pushvalue(L, -2);
    lua_rawseti(L, fresh, lua_Integer(lua_rawlen(L, fresh)) + 1);
  }
  const auto count = lua_Integer(lua_rawlen(L, fresh));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, fresh, i);
    lua_pushvalue(L, -1);
    lua_rawget(L, was);  // nil removes the key
    lua_rawset(L, now);
  }
  for (lua_pushnil(L); lua_next(L, was); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    const bool there = lua_rawget(L, now) != LUA_TNIL;
    lua_pop(L, 1);
    if (there) continue;
    if (written.empty()) written = key_text_at(L, -2);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, now);
  }
  lua_settop(L, fresh - 1);
  return written;
}

std::string undo_function(lua_State* L, int now, int was) {
  std::string written;
  for (int i = 1;; ++i) {
    const char* const name = lua_getupvalue(L, now, i);
    if (!name) return written;
    lua_rawgeti(L, was, i);
    const bool same = lua_rawequal(L, -1, -2);
    if (!same) {
      if (written.empty()) written = name;
      lua_setupvalue(L, now, i);
      lua_pop(L, 1);
    } else {
      lua_pop(L, 2);
    }
  }
}

}  // namespace

void push_footprint(lua_State* L, lua_State* script) {
  luaL_checkstack(L, 16, "probe");
  if (!lua_checkstack(script, 4)) luaL_error(L, "probe: no room on the stack");
  const Walk walk(L, script);
}

std::string undo_changes(lua_State* L, lua_State* script, int index) {
  luaL_checkstack(L, 16, "probe");
  index = lua_absindex(L, index);
  std::string first;
  const void* changed = nullptr;  // the table that contains `first`
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const int was = lua_gettop(L), now = was - 1;
    if (!lua_istable(L, was)) continue;
    const bool table = lua_istable(L, now);
    const std::string name = table ? undo_table(L, now, was) : undo_function(L, now, was);
    if (name.empty() || !first.empty()) continue;
    first = name;
    changed = table ? lua_topointer(L, now) : nullptr;
  }
  if (!changed) return first;
  const std::string path = Naming(L, script, changed).found;
  return path.empty() ? first : path + "." + first;
}

}  // namespace lunagrad
