#include "script/session/console.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "runtime/core/terminal_text.h"
#include "script/lua/console_scope.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/passed.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

constexpr int kShownEntries = 20;  // entries of a table

std::string quoted(const char* text, size_t length) {
  std::string result = "\"";
  for (size_t i = 0; i < length; ++i) {
    const char c = text[i];
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + '"';
}

// A value inside a table, on one line.
std::string brief(lua_State* L, int index) {
  if (const Tensor* tensor = to_tensor(L, index))
    return text("tensor ", tensor->shape(), ' ', tensor->dtype());
  size_t length = 0;
  if (lua_type(L, index) == LUA_TSTRING) {
    const char* value = lua_tolstring(L, index, &length);
    return quoted(value, length);
  }
  const char* value = luaL_tolstring(L, index, &length);
  std::string result(value, length);
  lua_pop(L, 1);
  const size_t line = result.find('\n');
  return line == std::string::npos ? result : result.substr(0, line) + " …";
}

bool is_name(const char* text) {
  if (!std::isalpha(static_cast<unsigned char>(*text)) && *text != '_') return false;
  while (*++text)
    if (!std::isalnum(static_cast<unsigned char>(*text)) && *text != '_') return false;
  return true;
}

// One level of a table: its list part, then its fields sorted by name.
std::string show_table(lua_State* L, int index) {
  index = lua_absindex(L, index);
  std::string result;
  int shown = 0, hidden = 0;
  const lua_Integer length = lua_Integer(lua_rawlen(L, index));
  const auto add = [&](const std::string& entry) {
    if (shown++) result += ", ";
    result += entry;
  };
  for (lua_Integer i = 1; i <= length; ++i) {
    if (shown == kShownEntries) {
      hidden = int(length - i + 1);
      break;
    }
    lua_rawgeti(L, index, i);
    add(brief(L, -1));
    lua_pop(L, 1);
  }
  std::vector<std::pair<std::string, std::string>> fields;
  lua_pushnil(L);
  while (lua_next(L, index)) {
    if (!(lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1 && lua_tointeger(L, -2) <= length)) {
      const bool name = lua_type(L, -2) == LUA_TSTRING && is_name(lua_tostring(L, -2));
      fields.emplace_back(name ? lua_tostring(L, -2) : "[" + brief(L, -2) + "]", brief(L, -1));
    }
    lua_pop(L, 1);
  }
  std::sort(fields.begin(), fields.end());
  for (const auto& [name, value] : fields) {
    if (shown == kShownEntries) {
      ++hidden;
    } else {
      add(name + " = " + value);
    }
  }
  if (hidden) result += text(", … ", hidden, " more");
  return "{" + result + "}";
}

std::string show(lua_State* L, int index) {
  if (lua_type(L, index) == LUA_TTABLE) {
    if (luaL_getmetafield(L, index, "__tostring") == LUA_TNIL) return show_table(L, index);
    lua_pop(L, 1);
  }
  if (lua_type(L, index) == LUA_TSTRING) {
    size_t length = 0;
    const char* value = lua_tolstring(L, index, &length);
    return quoted(value, length);
  }
  size_t length = 0;
  const char* value = luaL_tolstring(L, index, &length);
  std::string result(value, length);
  lua_pop(L, 1);
  return result;
}

// Where results are shown.
struct Shown {
  Events& events;
  std::string* results;  // null: as events

  void line(std::string shown) const {
    if (results) {
      *results += results->empty() ? shown : "\n" + shown;
      return;
    }
    Event event{};
    event.kind = Event::Kind::output;
    event.text = terminal_text(shown) + "\n";
    events.emit(std::move(event));
  }
};

// Stores the first value on the stack as `_`, and shows all values, one per line, unless `muted`.
int show_results(lua_State* L, bool muted, const Shown& shown) {
  const int count = lua_gettop(L);
  if (count == 0) return 0;
  push_console(L);
  lua_pushliteral(L, "_");
  lua_pushvalue(L, 1);
  lua_rawset(L, -3);
  lua_pop(L, 1);
  for (int i = 1; i <= count && !muted; ++i) shown.line(show(L, i));
  return 0;
}

// Upvalue: the script's state. Argument: the code, an expression or statements. Runs it in the console's
// environment. A semicolon at the end mutes.
int evaluate_line(lua_State* L) {
  const Shown& shown = Passed<Shown>::get();
  size_t length = 0;
  const char* code = luaL_checklstring(L, 1, &length);
  // The variable to close prevents a tail call, so that the library's errors name the console's line.
  const std::string expression = "local _console_line <close> = nil return " + std::string(code, length);
  const size_t last = expression.find_last_not_of(" \t\r\n");
  const bool muted = expression[last] == ';';
  if (luaL_loadbufferx(L, expression.data(), expression.size(), "=input", "t") != LUA_OK) {
    lua_pop(L, 1);
    if (luaL_loadbufferx(L, code, length, "=input", "t") != LUA_OK) return lua_error(L);
  }
  see_locals(L, static_cast<lua_State*>(lua_touserdata(L, lua_upvalueindex(1))));
  push_console(L);
  lua_setupvalue(L, -2, 1);
  lua_call(L, 0, LUA_MULTRET);
  lua_remove(L, 1);
  return show_results(L, muted, shown);
}

int end_line(lua_State* L) {
  forget_locals(L);
  return 0;
}

struct Names {
  std::string prefix;
  std::vector<std::string> found;

  void add(const char* name) {
    if (is_name(name) && std::strncmp(name, prefix.c_str(), prefix.size()) == 0 &&
        (name[0] != '_' || prefix[0] == '_'))
      found.emplace_back(name);
  }
  // Adds the names in the table at the top of the stack; reads raw, so that no code runs.
  void add_table(lua_State* L) {
    lua_pushnil(L);
    while (lua_next(L, -2)) {
      lua_pop(L, 1);
      if (lua_type(L, -1) == LUA_TSTRING) add(lua_tostring(L, -1));
    }
  }
};

constexpr int kInheritance = 8;  // __index chains longer than this are not followed

// Pushes the names of the parts that the table at the top loads at their first use. Returns false and pushes
// nothing if there are none.
bool push_parts(lua_State* L) {
  if (!lua_istable(L, -1) || luaL_getmetafield(L, -1, "__parts") == LUA_TNIL) return false;
  if (lua_istable(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

// Loads the part `name` of the library's table at the top, if the table has it.
void load_part(lua_State* L, const std::string& name) {
  if (!push_parts(L)) return;
  const bool part = lua_getfield(L, -1, name.c_str()) != LUA_TNIL;
  lua_pop(L, 2);
  if (!part) return;
  lua_getfield(L, -1, name.c_str());
  lua_pop(L, 1);
}

// Replaces the value at the top by its metatable's __index table; pops it and returns false if there is none.
bool inherit(lua_State* L) {
  if (lua_getmetatable(L, -1)) {
    lua_pushliteral(L, "__index");
    const bool table = lua_rawget(L, -2) == LUA_TTABLE;
    lua_replace(L, -3);
    lua_pop(L, 1);
    if (table) return true;
  }
  lua_pop(L, 1);
  return false;
}

// Replaces the value at the top by its field `name`, nil when there is none; runs only library code.
void raw_field(lua_State* L, const std::string& name) {
  load_part(L, name);
  for (int depth = 0; depth < kInheritance; ++depth) {
    if (lua_istable(L, -1)) {
      lua_pushlstring(L, name.data(), name.size());
      if (lua_rawget(L, -2) != LUA_TNIL) {
        lua_remove(L, -2);
        return;
      }
      lua_pop(L, 1);
    }
    if (!inherit(L)) break;
    if (depth + 1 == kInheritance) lua_pop(L, 1);
  }
  lua_pushnil(L);
}

// Adds the names that may follow the value at the top, and removes the value.
void add_members(lua_State* L, Names& names) {
  if (to_tensor(L, -1)) {
    for (const char* field : {"requires_grad", "grad", "grad_fn", "is_leaf"}) names.add(field);
    lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_getfield(L, -1, "lunagrad.core");
    lua_getfield(L, -1, "methods");
    names.add_table(L);
    lua_pop(L, 4);
    return;
  }
  if (push_parts(L)) {
    names.add_table(L);
    lua_pop(L, 1);
  }
  for (int depth = 0; depth < kInheritance; ++depth) {
    if (lua_istable(L, -1)) names.add_table(L);
    if (!inherit(L)) return;
  }
  lua_pop(L, 1);
}

// Upvalue: the script's state. Argument: the line.
int find_names(lua_State* L) {
  Names& names = Passed<Names>::get();
  const std::string line = luaL_checkstring(L, 1);
  // The path before the cursor: a.b.c or x:name.
  size_t start = line.size();
  while (start > 0 &&
         (std::isalnum(static_cast<unsigned char>(line[start - 1])) || std::strchr("_.:", line[start - 1])))
    --start;
  see_locals(L, static_cast<lua_State*>(lua_touserdata(L, lua_upvalueindex(1))));
  push_console(L);
  size_t position = start;
  for (size_t end; (end = line.find_first_of(".:", position)) != std::string::npos; position = end + 1)
    raw_field(L, line.substr(position, end - position));
  names.prefix = line.substr(position);
  if (position == start) {
    for (const char* word :
         {"and", "break", "do",  "else", "elseif", "end",    "false",  "for",  "function", "goto",  "if",
          "in",  "local", "nil", "not",  "or",     "repeat", "return", "then", "true",     "until", "while"})
      if (!names.prefix.empty()) names.add(word);
  }
  add_members(L, names);
  forget_locals(L);
  return 0;
}

// Arguments: a name, a value.
int set_console_name(lua_State* L) {
  luaL_checkstring(L, 1);
  lua_settop(L, 2);
  push_console(L);
  lua_insert(L, 1);
  lua_rawset(L, 1);
  return 0;
}

}  // namespace

void bind_console(lua_State* L, const char* name, const Tensor& value) {
  lua_State* const thread = lua_newthread(L);
  lua_pushcfunction(thread, guard<set_console_name>);
  lua_pushstring(thread, name);
  push_tensor(thread, value);
  ScriptError ignored;  // out of memory: the name keeps its value
  traceback_call(thread, 2, 0, ignored);
  lua_pop(L, 1);
}

bool evaluate_console(lua_State* L, const std::string& code, Events& events, std::string* results,
                      ScriptError& error) {
  // On a separate Lua thread: Lua switches hooks off on the thread that a count hook interrupted.
  lua_State* thread = lua_newthread(L);
  Shown shown{events, results};
  const Passed<Shown> passed(shown);
  lua_pushlightuserdata(thread, L);
  lua_pushcclosure(thread, guard<evaluate_line>, 1);
  lua_pushlstring(thread, code.data(), code.size());
  const bool ok = traceback_call(thread, 1, 0, error) == LUA_OK;
  lua_pushcfunction(thread, guard<end_line>);
  ScriptError ignored;
  traceback_call(thread, 0, 0, ignored);
  lua_pop(L, 1);
  return ok;
}

std::vector<std::string> complete_console(lua_State* L, const std::string& line) {
  Names names;
  lua_State* thread = lua_newthread(L);
  const Passed<Names> passed(names);
  lua_pushlightuserdata(thread, L);
  lua_pushcclosure(thread, guard<find_names>, 1);
  lua_pushlstring(thread, line.data(), line.size());
  ScriptError ignored;  // a line that cannot be resolved has no completions
  traceback_call(thread, 1, 0, ignored);
  lua_pop(L, 1);
  std::sort(names.found.begin(), names.found.end());
  names.found.erase(std::unique(names.found.begin(), names.found.end()), names.found.end());
  return std::move(names.found);
}

}  // namespace lunagrad
