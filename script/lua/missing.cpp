#include "script/lua/missing.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/core/context.h"
#include "script/chunk/chunk.h"
#include "script/lua/binding_state.h"
#include "script/lua/module_ids.h"
#include "script/meta/explain.h"
#include "script/meta/python.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

enum class NameKind { global, local, field, method };

// A name that an instruction reads.
struct Access {
  NameKind kind;
  std::string name;
  size_t at;  // index of the instruction
};

// The nearest of the names; "" when none is near. One wrong letter in three is allowed.
std::string nearest(const std::string& name, const std::set<std::string>& known) {
  size_t least = std::max<size_t>(1, name.size() / 3) + 1;
  std::string found;
  if (name.size() < 3) return found;
  for (const std::string& other : known) {
    const size_t distance = other == name ? least : edits(name, other);
    if (distance < least) least = distance, found = other;
  }
  return found;
}

// The names of the fields of the value at the top of the stack, of its class and of its base classes.
std::set<std::string> names_in(lua_State* L) {
  constexpr int kMostClasses = 32;  // a chain of classes may end in itself
  std::set<std::string> names;
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, 4 * kMostClasses)) return names;
  if (lua_type(L, -1) != LUA_TSTRING || luaL_getmetafield(L, -1, "__index") == LUA_TNIL) lua_pushvalue(L, -1);
  for (int i = 0; i < kMostClasses && lua_istable(L, -1); ++i) {
    const int holder = lua_gettop(L);
    for (lua_pushnil(L); lua_next(L, holder); lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TSTRING)
        if (const std::string_view name = lua_tostring(L, -2); !name.starts_with('_')) names.emplace(name);
    if (!lua_getmetatable(L, holder)) break;
    lua_pushliteral(L, "__index");
    if (lua_rawget(L, -2) != LUA_TTABLE) lua_pop(L, 1);  // then the metatable is the class
    if (lua_rawequal(L, -1, holder)) break;
  }
  lua_settop(L, top);
  return names;
}

// The name of the script's class of the object at the top of the stack; "" for other values.
std::string script_class(lua_State* L) {
  std::string name;
  if (!lua_istable(L, -1) || !lua_getmetatable(L, -1)) return name;
  lua_pushliteral(L, "_of_script");
  const bool own = lua_rawget(L, -2) != LUA_TNIL;
  lua_pushliteral(L, "__name");
  if (lua_rawget(L, -3) == LUA_TSTRING && own) name = lua_tostring(L, -1);
  lua_pop(L, 3);
  return name;
}

// The script's function in which the error was raised, or which called the function that raised it.
class Caller {
 public:
  Caller(lua_State* L, int level, int line) : L_(L), top_(lua_gettop(L)), line_(line) {
    if (!lua_checkstack(L, 64) || !lua_getstack(L, level, &frame_)) return;
    lua_getinfo(L, "f", &frame_);
    function_ = lua_gettop(L);
    if (lua_iscfunction(L, function_)) return;
    code_ = read_chunk(L);
    read_main_chunk();
    see_names();
  }
  ~Caller() { lua_settop(L_, top_); }
  Caller(const Caller&) = delete;

  // What the line of the error reads; with `whole`, what the whole function reads.
  std::vector<Access> accesses(bool whole = false) const {
    std::vector<Access> found;
    for (size_t at = 0; at < code_.code.size(); ++at) {
      if (!whole && code_.lines[at] != line_) continue;
      const Instruction op = code_.code[at];
      if (op.opcode() == kGetTabUp && is_environment(op.b()))
        found.push_back({NameKind::global, text(op.c()), at});
      else if (op.opcode() == kGetField)
        found.push_back({NameKind::field, text(op.c()), at});
      else if (op.opcode() == kSelf && op.k())
        found.push_back({NameKind::method, text(op.c()), at});
    }
    return found;
  }

  bool is_nil_global(const std::string& name) const { return !globals_.count(name); }
  const std::set<std::string>& visible() const { return visible_; }
  int line() const { return line_; }

  // The line that declares a local variable of this name that is out of scope at the line of the error; 0 if
  // there is none.
  int declared_elsewhere(const std::string& name) const {
    for (const CompiledFunction* function : {&code_, &main_})
      for (const CompiledFunction::Local& local : function->locals)
        if (local.name == name && local.begin > 0 && local.begin <= function->lines.size())
          return function->lines[local.begin - 1];
    return 0;
  }

  // The line of the call whose first result is the local variable's value; 0 when the value is no call's
  // first result.
  int made_by_call(const std::string& local) const {
    for (size_t at = code_.code.size(); at-- > 0;) {
      if (code_.lines[at] != line_) continue;
      for (uint32_t reg = 0; reg < code_.locals.size(); ++reg) {
        if (local_in(at, reg) != local) continue;
        const std::optional<size_t> from = writer(at, reg);
        return from && code_.code[*from].opcode() == kCall && code_.code[*from].a() == reg
                   ? code_.lines[*from]
                   : 0;
      }
    }
    return 0;
  }

  // Pushes the table in which the instruction looks for its name and returns how the script names that table.
  // Pushes nothing when it is not known.
  std::optional<std::string> push_holder(const Access& access) const {
    const Instruction op = code_.code[access.at];
    // The object of a method call is in the register after the method.
    if (access.kind == NameKind::method)
      return lua_getlocal(L_, &frame_, int(op.a()) + 2) ? std::optional(path(access.at, op.b()))
                                                        : std::nullopt;
    return push(access.at, op.b());
  }

 private:
  std::string text(size_t k) const { return k < code_.constants.size() ? code_.constants[k] : ""; }

  bool is_environment(size_t upvalue) const {
    const char* const name = lua_getupvalue(L_, function_, int(upvalue) + 1);
    if (name) lua_pop(L_, 1);
    return name && std::string_view(name) == "_ENV";
  }

  // The local variable in a register; "" when it holds none.
  std::string local_in(size_t at, uint32_t reg) const {
    uint32_t next = 0;
    for (const CompiledFunction::Local& local : code_.locals)
      if (local.begin <= at && at < local.end && next++ == reg) return local.name;
    return {};
  }

  // The instruction before `at` that wrote the register.
  std::optional<size_t> writer(size_t at, uint32_t reg) const {
    while (at-- > 0)
      if (const Registers to = written(code_.code[at]); to.first <= reg && reg < to.end) return at;
    return std::nullopt;
  }

  std::optional<std::string> push(size_t at, uint32_t reg) const {
    if (const std::string local = local_in(at, reg); !local.empty())
      return lua_getlocal(L_, &frame_, int(reg) + 1) ? std::optional(local) : std::nullopt;
    const std::optional<size_t> from = writer(at, reg);
    if (!from) return std::nullopt;
    const Instruction op = code_.code[*from];
    switch (op.opcode()) {
      case kMove:
        return push(*from, op.b());
      case kGetUpvalue: {
        const char* const name = lua_getupvalue(L_, function_, int(op.b()) + 1);
        return name ? std::optional<std::string>(name) : std::nullopt;
      }
      case kGetTabUp:
        if (!is_environment(op.b())) return std::nullopt;
        lua_pushglobaltable(L_);
        get(text(op.c()));
        return text(op.c());
      case kGetField: {
        const std::optional<std::string> holder = push(*from, op.b());
        if (!holder) return holder;
        if (!lua_istable(L_, -1)) return lua_pop(L_, 1), std::nullopt;
        get(text(op.c()));
        return *holder + "." + text(op.c());
      }
      default:
        return std::nullopt;
    }
  }

  std::string path(size_t at, uint32_t reg) const {
    const std::optional<std::string> found = push(at, reg);
    if (found) lua_pop(L_, 1);
    return found.value_or("");
  }

  // Replaces the table at the top of the stack by its own field.
  void get(const std::string& name) const {
    lua_pushlstring(L_, name.data(), name.size());
    lua_rawget(L_, -2);
    lua_remove(L_, -2);
  }

  void read_main_chunk() {
    lua_Debug outer;
    for (int level = 0; lua_getstack(L_, level, &outer); ++level) {
      lua_getinfo(L_, "S", &outer);
      if (*outer.what != 'm' || binding_state(L_).chunk(outer).library) continue;
      lua_getinfo(L_, "f", &outer);
      main_ = read_chunk(L_);
      lua_pop(L_, 1);
      return;
    }
  }

  void see_names() {
    lua_pushglobaltable(L_);
    for (lua_pushnil(L_); lua_next(L_, -2); lua_pop(L_, 1))
      if (lua_type(L_, -2) == LUA_TSTRING) globals_.insert(lua_tostring(L_, -2));
    lua_pop(L_, 1);
    visible_ = globals_;
    const auto see = [&](const std::string& name) {
      if (name[0] != '(' && name != "_ENV") visible_.insert(name);
      lua_pop(L_, 1);
    };
    for (int i = 1; const char* name = lua_getlocal(L_, &frame_, i); ++i) see(name);
    for (int i = 1; const char* name = lua_getupvalue(L_, function_, i); ++i) see(name);
  }

  lua_State* const L_;
  const int top_, line_;
  lua_Debug frame_{};
  int function_ = 0;
  CompiledFunction code_, main_;
  std::set<std::string> globals_, visible_;
};

// "; did you mean 'print'?" or "; the local 'y' of line 3 ends with its block".
std::string advice_for_global(const Caller& caller, const std::string& name, bool used) {
  if (name == "self") return "; a function that uses self is defined and called with a colon";
  if (std::string python = used ? python_global(name) : ""; !python.empty()) return python;
  if (const int line = caller.declared_elsewhere(name))
    return "; the local '" + name + "' of line " + std::to_string(line) +
           (line > caller.line() ? " is not declared yet here" : " ends with its block or function");
  if (used && find_signature(name)) return suggest(name, ".");
  const std::string near = nearest(name, caller.visible());
  if (!near.empty()) return "; did you mean '" + near + "'?";
  return used ? suggest(name, ".") : std::string();
}

// What is known about the table that lacks a field or method.
struct Lack {
  std::string fact;    // "Block has no field 'dwon'"; "" for a plain table, which may lack anything
  std::string advice;  // "; did you mean 'down'?"
};

Lack lack_of(lua_State* L, const Caller& caller, const Access& access) {
  Lack lack;
  const std::optional<std::string> holder = caller.push_holder(access);
  if (!holder) return lack;
  const std::set<std::string> names = names_in(L);
  const std::string type = script_class(L);
  lua_pop(L, 1);
  if (names.count(access.name)) return lack;
  const bool method = access.kind == NameKind::method;
  const std::string near = nearest(access.name, names);
  if (!near.empty())
    lack.advice = "; did you mean '" + (type.empty() && !method ? *holder + "." : "") + near + "'?";
  if (type.empty()) return lack;
  lack.fact = type + " has no " + (method ? "method '" : "field '") + access.name + "'";
  constexpr std::string_view kCopies[] = {"copy", "deepcopy", "clone"};
  if (lack.advice.empty() &&
      std::find(std::begin(kCopies), std::end(kCopies), access.name) != std::end(kCopies))
    lack.advice = "; a copy is lg.nn.utils.deepcopy(net)";
  return lack;
}

// The access that Lua names in "a nil value (field 'down')".
std::optional<Access> named_in(const std::string& message) {
  constexpr std::string_view kNil = "a nil value (";
  const size_t at = message.find(kNil);
  if (at == std::string::npos || message.find("attempt to ") == std::string::npos) return std::nullopt;
  constexpr std::pair<std::string_view, NameKind> kKinds[] = {{"global '", NameKind::global},
                                                              {"local '", NameKind::local},
                                                              {"field '", NameKind::field},
                                                              {"method '", NameKind::method}};
  for (const auto& [word, kind] : kKinds) {
    if (message.compare(at + kNil.size(), word.size(), word) != 0) continue;
    const size_t begin = at + kNil.size() + word.size();
    return Access{kind, message.substr(begin, message.find('\'', begin) - begin), 0};
  }
  return std::nullopt;
}

bool is_about_nil(const std::string& message) {
  for (const char* part :
       {"got nil", "got no value", "attempt to compare nil", "with nil", "must be a number"})
    if (message.find(part) != std::string::npos) return true;
  return false;
}

bool explain_named(lua_State* L, const Caller& caller, const Access& named, std::string& message) {
  const size_t begin = message.find("attempt to ");
  if (named.kind == NameKind::global) {
    const bool used = message.compare(begin, 15, "attempt to call") == 0 ||
                      message.compare(begin, 16, "attempt to index") == 0;
    const std::string advice = advice_for_global(caller, named.name, used);
    message += advice;
    return !advice.empty();
  }
  if (named.kind == NameKind::local) {
    const int line = caller.made_by_call(named.name);
    if (line)
      message +=
          "; the call in line " + std::to_string(line) + " gave nothing: a function gives a value by return";
    return line;
  }
  for (const bool whole : {false, true})
    for (const Access& access : caller.accesses(whole)) {
      if (access.kind != named.kind || access.name != named.name) continue;
      const Lack lack = lack_of(L, caller, access);
      if (!lack.fact.empty()) message = message.substr(0, begin) + lack.fact;
      message += lack.advice;
      if (!lack.advice.empty()) return true;
      if (!lack.fact.empty()) {
        if (named.kind == NameKind::method) message += python_method(named.name);
        return true;
      }
    }
  return false;
}

// For a nil that was passed to a call: which value read on the line is nil. A field may be nil on purpose, so
// a field whose name is near no other is reported only if it is the only nil.
std::string nils_on_line(lua_State* L, const Caller& caller) {
  std::string near;
  std::set<std::string> others;
  for (const Access& access : caller.accesses()) {
    if (!near.empty()) break;
    if (access.kind == NameKind::global) {
      if (!caller.is_nil_global(access.name)) continue;
      const std::string fact = "; '" + access.name + "' is nil here";
      const std::string advice = advice_for_global(caller, access.name, false);
      advice.empty() ? void(others.insert(fact)) : void(near = fact + advice);
    } else if (access.kind == NameKind::field) {
      const Lack lack = lack_of(L, caller, access);
      if (lack.fact.empty() && lack.advice.empty()) continue;
      const std::string fact = lack.fact.empty() ? "'" + access.name + "' is nil here" : lack.fact;
      lack.advice.empty() ? void(others.insert("; " + fact)) : void(near = "; " + fact + lack.advice);
    }
  }
  return !near.empty() ? near : others.size() == 1 ? *others.begin() : std::string();
}

// --- the module in which an error was raised ---

// The stack of the error tells the module: the modules being called are the first values of the active calls
// of the core's _call_module.
constexpr int kDeepest = 200;  // levels that are looked at

// A string field of the module at the top of the stack, or of its class; "" when there is none.
std::string text_of(lua_State* L, const char* field, bool of_class) {
  if (of_class && !lua_getmetatable(L, -1)) return {};
  if (!of_class) lua_pushvalue(L, -1);
  lua_pushstring(L, field);
  std::string text = lua_rawget(L, -2) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  lua_pop(L, 2);
  return text;
}

// The name of the variable that holds the value at the top of the stack, in the innermost function of the
// script from `level` outwards; "" when none does.
std::string variable_of(lua_State* L, int level) {
  lua_Debug frame;
  const int value = lua_gettop(L);
  do {
    if (!lua_getstack(L, level++, &frame)) return {};
    lua_getinfo(L, "Sl", &frame);
  } while (frame.currentline < 0 || binding_state(L).chunk(frame).library);
  std::string found;
  const auto take = [&](const char* name) {
    if (*name != '(' && lua_rawequal(L, -1, value)) found = name;
    lua_pop(L, 1);
  };
  for (int i = 1; const char* name = lua_getlocal(L, &frame, i); ++i) take(name);
  lua_getinfo(L, "f", &frame);
  for (int i = 1; const char* name = lua_getupvalue(L, value + 1, i); ++i) take(name);
  lua_settop(L, value);
  if (!found.empty()) return found;
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2);)
    if (lua_type(L, -2) == LUA_TSTRING)
      take(lua_tostring(L, -2));
    else
      lua_pop(L, 1);
  lua_settop(L, value);
  return found;
}

}  // namespace

std::string module_path(lua_State* L) {
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_getfield(L, -1, "lunagrad.core");
  lua_getfield(L, -1, "_call_module");
  const lua_CFunction call_module = lua_tocfunction(L, -1);
  lua_pop(L, 3);
  const int top = lua_gettop(L);
  std::vector<std::string> names;  // from the innermost outwards
  std::string type, root;
  lua_Debug frame;
  for (int level = 0; level < kDeepest && lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "f", &frame);
    const bool calls = call_module && lua_tocfunction(L, -1) == call_module;
    lua_pop(L, 1);
    if (!calls || !lua_getlocal(L, &frame, 1) || !lua_istable(L, -1)) continue;
    if (names.empty()) type = text_of(L, "__name", true);
    root = interned(module_id(L, -1));
    if (root.empty()) root = variable_of(L, level + 1);
    if (root.empty()) root = text_of(L, "__name", true);
    names.push_back(text_of(L, "_placed", false));
    lua_settop(L, top);
  }
  lua_settop(L, top);
  if (names.size() < 2) return {};
  // The path of the running call, as the tape shows it. A function that the module calls at the end may have
  // left it.
  if (const std::string& path = interned(context().module); path.starts_with(root + "."))
    return "in " + path + " (" + type + "): ";
  for (size_t i = names.size() - 1; i-- > 0;)
    if (!names[i].empty()) root += "." + names[i];
  return "in " + root + " (" + type + "): ";
}

bool explain_missing(lua_State* L, int user_level, int line, bool in_script, std::string& message) {
  const std::optional<Access> named = in_script ? named_in(message) : std::nullopt;
  if (user_level < 1 || (!named && !is_about_nil(message))) return false;
  const Caller caller(L, user_level, line);
  if (named) return explain_named(L, caller, *named, message);
  message += nils_on_line(L, caller);
  return false;
}

}  // namespace lunagrad
