#include "script/lua/hint.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

#include "script/lua/binding_state.h"
#include "script/lua/convert.h"
#include "script/meta/explain.h"
#include "script/meta/python.h"

namespace lunagrad {
namespace {

// What scripts call the library's table at the top of the stack: "lg.nn". "" when the value is not a table of
// the library, or is a class.
std::string library_table(lua_State* L) {
  std::string found;
  if (lua_type(L, -1) != LUA_TTABLE) return found;
  lua_pushliteral(L, "__name");
  const bool is_class = lua_rawget(L, -2) != LUA_TNIL;
  lua_pop(L, 1);
  if (is_class) return found;
  luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || !lua_rawequal(L, -1, -4)) continue;
    constexpr std::string_view kRoot = "lunagrad";
    const std::string_view name = lua_tostring(L, -2);
    if (name.starts_with(kRoot)) found = "lg" + std::string(name.substr(kRoot.size()));
  }
  lua_pop(L, 1);
  return found;
}

// The library's table that was called with ':'; "" if none was. It is the first argument. In the call of a
// class it is the first variable argument (-1), because the class itself is the first argument.
std::string called_table(lua_State* L, const lua_Debug& callee) {
  std::string table;
  for (const int argument : {1, -1}) {
    if (!table.empty() || !lua_getlocal(L, &callee, argument)) continue;
    table = library_table(L);
    lua_pop(L, 1);
  }
  return table;
}

// The name of the called class, which is the first argument; "" when that is not a class.
std::string class_name(lua_State* L, const lua_Debug& callee) {
  std::string name;
  if (!lua_getlocal(L, &callee, 1)) return name;
  if (lua_istable(L, -1)) {
    lua_pushliteral(L, "__name");
    if (lua_rawget(L, -2) == LUA_TSTRING) name = lua_tostring(L, -1);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return name;
}

bool lacks_self(lua_State* L, const lua_Debug& callee) {
  const char* const name = lua_getlocal(L, &callee, 1);
  if (!name) return false;
  const bool object = lua_istable(L, -1) || (lua_isuserdata(L, -1) && !to_tensor(L, -1));
  const bool lacks = std::string_view(name) == "self" && !object;
  lua_pop(L, 1);
  return lacks;
}

constexpr const char* kParts =
    "; lg.tensor({…}) makes one of numbers; what split, chunk and unbind give is taken apart by table.unpack";
constexpr const char* kElements =
    "; == asks whether two tensors are the same one, x:eq(y) compares their elements";
constexpr const char* kCallOfMethod = "; a method is called, as in x:real()";

// The text between `before` and the next quote; "" when `before` does not occur.
std::string quoted_behind(const std::string& text, std::string_view before) {
  const size_t at = text.find(before);
  if (at == std::string::npos) return {};
  const size_t begin = at + before.size();
  return text.substr(begin, text.find('\'', begin) - begin);
}

// Advice for a field that was called, as x:ndim() and normal:mean(), and for a method that was not called.
std::string field_or_method(const std::string& message) {
  constexpr std::string_view kCalled = "attempt to call a ";
  if (const size_t at = message.find(kCalled); at != std::string::npos) {
    const std::string_view type = std::string_view(message).substr(at + kCalled.size());
    std::string field = quoted_behind(message, " value (method '");
    if (field.empty() && type.starts_with("Tensor ")) field = quoted_behind(message, " value (field '");
    if (!field.empty() && !type.starts_with("nil ")) return text("; ", field, " is a field, without ()");
  }
  const std::string name = quoted_behind(message, " a function value (field '");
  if (name.empty() || suggest(name, ":").find("x:" + name) == std::string::npos) return {};
  return "; a method is called, as in x:" + name + "()";
}

// --- methods that an object lacks ---

constexpr int kMostClasses = 32;  // per object; a chain of classes may end in itself

struct Method {
  std::string owner, name;  // "Module", "parameters"
};

// The name of the class at the top of the stack.
std::string name_of_class(lua_State* L) {
  lua_pushliteral(L, "__name");
  std::string name = lua_rawget(L, -2) == LUA_TSTRING ? lua_tostring(L, -1) : "object";
  lua_pop(L, 1);
  return name;
}

// Appends the methods of the object's class and of its base classes. A class is normally the __index of the
// metatable below it. Where __index is a function or the metatable itself, the metatable is the class.
void collect_methods(lua_State* L, int object, std::vector<Method>& methods) {
  const int top = lua_gettop(L);
  if (!lua_checkstack(L, 3 * kMostClasses) || !lua_getmetatable(L, object)) return;
  for (int i = 0; i < kMostClasses && lua_istable(L, -1); ++i) {
    const int holder = lua_gettop(L);
    const std::string owner = name_of_class(L);
    for (lua_pushnil(L); lua_next(L, holder); lua_pop(L, 1)) {
      if (lua_type(L, -2) != LUA_TSTRING || !lua_isfunction(L, -1)) continue;
      const std::string_view name = lua_tostring(L, -2);
      if (!name.starts_with('_')) methods.push_back({owner, std::string(name)});
    }
    lua_pushliteral(L, "__index");
    const int type = lua_rawget(L, holder);
    if (type == LUA_TTABLE && !lua_rawequal(L, -1, holder)) continue;
    if (!lua_getmetatable(L, holder)) break;
  }
  lua_settop(L, top);
}

// Whether the value at the top of the stack is a plain table that begins with a tensor.
bool holds_tensors(lua_State* L) {
  if (!lua_istable(L, -1)) return false;
  if (lua_getmetatable(L, -1)) return lua_pop(L, 1), false;
  lua_rawgeti(L, -1, 1);
  const bool holds = to_tensor(L, -1) != nullptr;
  lua_pop(L, 1);
  return holds;
}

// Whether a tensor is visible to the frame's function: in its variables, in its upvalues, or in a global.
bool sees_tensor(lua_State* L, lua_Debug& frame) {
  bool sees = false;
  const auto take = [&] {
    sees |= to_tensor(L, -1) != nullptr;
    lua_pop(L, 1);
  };
  for (int i = 1; lua_getlocal(L, &frame, i); ++i) take();
  lua_getinfo(L, "f", &frame);
  for (int i = 1; lua_getupvalue(L, -1, i); ++i) take();
  lua_pop(L, 1);
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2);) take();
  lua_pop(L, 1);
  return sees;
}

// The method whose name is nearest to the misspelt one, as "Module:parameters"; "" when none is near.
std::string nearest_of(const std::string& misspelt, const std::vector<Method>& methods) {
  std::string found;
  size_t least = std::max<size_t>(1, misspelt.size() / 3) + 1;
  for (const Method& method : methods) {
    const size_t distance = edits(misspelt, method.name);
    if (distance >= least) continue;
    least = distance;
    found = method.owner + ":" + method.name;
  }
  return found;
}

}  // namespace

std::string memory_error(lua_State* L) {
  std::string message = "not enough memory";
  if (const size_t limit = binding_state(L).memory_limit)
    message += text(" within the limit of ", limit >> 20, " MiB (--memory)");
  return message;
}

std::string describe_wrong_call(lua_State* L, int user_level) {
  lua_Debug callee;
  if (user_level < 2 || !lua_getstack(L, user_level - 1, &callee)) return {};
  lua_getinfo(L, "Snt", &callee);
  std::string name = callee.name ? callee.name : "";
  // A class makes objects by a tail call, for which Lua has no name.
  const bool method = std::string_view(callee.namewhat) == "method";
  if (method || callee.istailcall) {
    const std::string table = called_table(L, callee);
    if (name.empty()) name = class_name(L, callee);
    if (!table.empty()) return "what " + table + " holds is called with a dot: " + table + "." + name + "(…)";
  }
  if (method) return {};
  if (*callee.what != 'C' && binding_state(L).chunk(callee).library && lacks_self(L, callee))
    // A method that makes a tail call has lost its name.
    return name.empty() ? "a method is called with a colon, as in object:method(…)"
                        : "'" + name + "' is a method: call it with a colon, as in object:" + name + "(…)";
  return {};
}

std::string dotted_method(lua_State* L, int user_level, const std::string& message) {
  lua_Debug frame;
  if (user_level < 1 || !lua_getstack(L, user_level, &frame)) return {};
  // The script's own method got a tensor as self.
  if (message.find("Tensor has no field or method '") != std::string::npos && lacks_self(L, frame))
    return "; self is a tensor here: call the method with a colon, as in object:name(…)";
  const std::string called = quoted_behind(message, "bad argument #1 to '");
  if (message.find("(Tensor expected, got boolean)") != std::string::npos) return kElements;
  if (called.empty() || message.find("(Tensor expected") == std::string::npos || user_level < 2 ||
      !lua_getstack(L, user_level - 1, &frame))
    return {};
  lua_getinfo(L, "Sn", &frame);
  if (*frame.what != 'C' || std::string_view(frame.namewhat) == "method") return {};
  const bool list = message.find("(Tensor expected, got table)") != std::string::npos;
  return "; a method is called with a colon, as in x:" + called + "(…)" + (list ? kParts : "");
}

std::string compared_tensors(lua_State* L, int user_level, const std::string& message) {
  lua_Debug frame;
  if (message.find("attempt to index a boolean value") == std::string::npos ||
      !lua_getstack(L, user_level, &frame) || !sees_tensor(L, frame))
    return {};
  return kElements;
}

std::string missing_method(lua_State* L, int user_level, const std::string& message) {
  constexpr std::string_view kCalled = "attempt to call a nil value (method '";
  const size_t at = message.find(kCalled);
  lua_Debug caller;
  if (at == std::string::npos || !lua_getstack(L, user_level, &caller)) return {};
  const size_t begin = at + kCalled.size();
  const std::string name = message.substr(begin, message.find('\'', begin) - begin);
  std::vector<Method> methods;
  bool list_of_tensors = false;
  // The object of the call is among the local values of the calling function.
  for (int i = 1; lua_getlocal(L, &caller, i); ++i) {
    list_of_tensors |= holds_tensors(L);
    if (lua_istable(L, -1) && luaL_getmetafield(L, -1, "__name") != LUA_TNIL) {
      lua_pop(L, 1);
      collect_methods(L, lua_gettop(L), methods);
    }
    lua_pop(L, 1);
  }
  if (list_of_tensors && suggest(name, ":").find(" x:" + name + "?") != std::string::npos)
    return "; a table of tensors, as split, chunk and unbind give: local a, b = table.unpack(list)";
  if (std::string python = python_method(name); !python.empty()) return python;
  const std::string found = nearest_of(name, methods);
  return found.empty() ? std::string() : "; did you mean " + found + "?";
}

std::string hint(const std::string& message) {
  constexpr std::string_view kCalled = "attempt to call a nil value (",
                             kIndexed = "attempt to index a nil value (";
  if (message.ends_with("(method 'grad')")) return "; x.grad is a field";
  for (const char* kind : {"field", "global", "method"}) {
    const std::string name = quoted_behind(message, std::string(kCalled) + kind + " '");
    if (name.empty()) continue;
    if (name == "__init__") return python_global("super");
    if (std::string_view(kind) == "global")
      if (std::string python = python_global(name); !python.empty()) return python;
    return suggest(name, std::string_view(kind) == "method" ? ":" : ".");
  }
  if (const std::string name = quoted_behind(message, std::string(kIndexed) + "global '"); !name.empty())
    if (std::string python = python_global(name); !python.empty()) return python;
  if (message.find(std::string(kIndexed) + "field 'grad')") != std::string::npos)
    return "; a tensor has a gradient after loss:backward(), if it requires one";
  constexpr std::pair<std::string_view, std::string_view> kSaid[] = {
      {"attempt to call a number value (for iterator", "; numbers: for i = 1, n do … end"},
      {"attempt to call a Tensor value (for iterator", "; rows: for i = 1, #x do local row = x[i] … end"},
      {"attempt to call a table value (for iterator", "; a list: for i, value in ipairs(list) do … end"},
      {"Dataset value (for iterator",
       "; samples: for i = 1, #set do … set[i] … end; batches: for x, y in lg.data.DataLoader(set) do … end"},
      {"attempt to call a table value (field 'Module')", "; local Net = nn.class(\"Net\")"},
      {"'full' (string expected, got number)", "; the size is a table: lg.full({2, 3}, 7)"},
      {"'pad' (string expected, got number)", "; the widths are a table: F.pad(x, {1, 1})"},
      {"(field 'integer index')", "; positions in a table count from 1"},
      {"'format' (number expected, got Tensor)", "; the number in a tensor of one element is x:item()"},
      {"Tensor expected, got boolean", kElements},
      {"Tensor or number expected, got boolean", kElements},
      {"a table or a Tensor expected, got boolean", kElements},
      {"where: the condition must be a bool tensor", "; x:eq(y), x:gt(y), … give one"},
      {"'to' (string expected, got nil)", "; x:to(\"vulkan\"), x:to(lg.device()), x:to(lg.float32)"},
      {"(options table expected, got string)", "; options go by name: {dtype = lg.float32}"},
      {"'log' (Tensor or number expected, got string)", "; a run logs by lg.run.log{loss = loss}"},
      {"'log' (table expected, got ", "; a run logs by lg.run.log{loss = loss}"},
      {": log: unknown option '", "; a run logs by lg.run.log{loss = loss}"},
      {"'no_grad' (function expected", "; lg.no_grad(function() … end)"},
      {"'tensor' (options table expected, got number)",
       "; several numbers go into a table: lg.tensor{1, 2, 3}"},
      {"an index tensor holds integers (from 0) or booleans", "; index:long() converts it"},
      {": a floating type is needed (got ", "; x:float() converts"},
      {"attempt to mod a 'string'", "; (\"loss %.4f\"):format(loss)"},
      {"attempt to add a 'string'", "; text is joined by .."},
      {"(Tensor expected, got table)", kParts},
      {"Tensor expected, got function)", kCallOfMethod},
      {"Tensor or number expected, got function)", kCallOfMethod},
      {"attempt to perform arithmetic on a table value",
       "; a table of numbers, as x:size() gives, is taken apart by table.unpack, and x:size(1) is one of "
       "them"},
  };
  for (const auto& [part, advice] : kSaid)
    if (message.find(part) != std::string::npos) return std::string(advice);
  if (const size_t at = message.find("(Tensor expected, got "); at != std::string::npos) {
    const std::string_view type = std::string_view(message).substr(at + 22);
    if (std::isupper(static_cast<unsigned char>(type[0])))
      return "; a layer is called with a dot, as self.fc(x) or net(x)";
  }
  if (message.ends_with("attempt to index a function value"))
    return "; an iterator, as net:named_parameters() gives: for name, value in … do … end";
  if (std::string method = field_or_method(message); !method.empty()) return method;
  if (message.find("a lunagrad.Live value") != std::string::npos)
    return "; what lg.run.live gives is called for its value, as lr()";
  return {};
}

}  // namespace lunagrad
