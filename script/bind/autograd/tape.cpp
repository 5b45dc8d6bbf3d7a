// Binds lg.tape: the nodes that a tensor depends on, as Lua tables, Graphviz text, JSON or an SVG picture.
#include "runtime/tape/tape.h"

#include <nlohmann/json.hpp>

#include "runtime/core/memory_limit.h"
#include "runtime/core/terminal_text.h"
#include "runtime/io/tape_dot.h"
#include "runtime/system/processes.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/size.h"
#include "script/meta/signature.h"

namespace lunagrad {
namespace {

void set_text(lua_State* L, const char* field, const std::string& value) {
  push_string(L, value);
  lua_setfield(L, -2, field);
}
void set_integer(lua_State* L, const char* field, int64_t value) {
  lua_pushinteger(L, value);
  lua_setfield(L, -2, field);
}

void push_operand(lua_State* L, const Operand& operand, const std::string& name) {
  lua_createtable(L, 0, 8);
  if (!name.empty()) set_text(L, "name", name);
  set_integer(L, "tensor", int64_t(operand.tensor_id));
  if (operand.node) set_integer(L, "node", int64_t(operand.node->id));
  if (operand.layout) {
    push_dims(L, operand.layout->shape);
    lua_setfield(L, -2, "shape");
    push_dims(L, operand.layout->strides);
    lua_setfield(L, -2, "stride");
    set_text(L, "dtype", dtype_name(operand.dtype));
  }
  lua_pushboolean(L, bool(operand.saved));
  lua_setfield(L, -2, "saved");
  set_integer(L, "version", operand.version);
}

void push_attributes(lua_State* L, const Node& node) {
  lua_newtable(L);
  if (!node.attributes) return;
  const Values& params = node.attributes->params;
  for (size_t i = 0; i < params.size(); ++i)
    set_text(L, node.op->params[i].name, print_value(node.op->params[i], params[i]));
}

int64_t output_bytes(const Node& node) {
  int64_t bytes = 0;
  for (const Operand& out : node.out)
    if (out.layout) bytes += out.layout->numel * int64_t(item_size(out.dtype));
  return bytes;
}

void push_node(lua_State* L, const Node& node) {
  lua_createtable(L, 0, 16);
  set_integer(L, "id", int64_t(node.id));
  set_text(L, "op", node.label());
  push_attributes(L, node);
  lua_setfield(L, -2, "attrs");
  lua_createtable(L, int(node.in.size()), 0);
  bool saved = false;
  for (size_t i = 0; i < node.in.size(); ++i) {
    push_operand(L, node.in[i], node.op ? input_name(*node.op, i) : std::string());
    lua_rawseti(L, -2, lua_Integer(i) + 1);
    saved |= bool(node.in[i].saved);
  }
  lua_setfield(L, -2, "inputs");
  lua_createtable(L, int(node.out.size()), 0);
  for (size_t i = 0; i < node.out.size(); ++i) {
    push_operand(L, node.out[i], {});
    lua_rawseti(L, -2, lua_Integer(i) + 1);
    saved |= !node.is_leaf() && bool(node.out[i].saved);
  }
  lua_setfield(L, -2, "outputs");
  if (!node.out.empty() && node.out[0].layout) {
    push_dims(L, node.out[0].layout->shape);
    lua_setfield(L, -2, "shape");
    set_text(L, "dtype", dtype_name(node.out[0].dtype));
  }
  if (node.device) set_text(L, "device", std::string(node.device->name()));
  lua_pushboolean(L, saved);
  lua_setfield(L, -2, "saved");
  if (node.line.known()) {
    set_text(L, "file", interned(node.line.file));
    set_integer(L, "line", node.line.line);
  }
  if (node.module) set_text(L, "module", interned(node.module));
  if (node.name) set_text(L, "name", interned(node.name));
  lua_pushnumber(L, ticks_to_ns(node.forward_ticks));
  lua_setfield(L, -2, "forward_ns");
  lua_pushnumber(L, ticks_to_ns(node.backward_ticks));
  lua_setfield(L, -2, "backward_ns");
  set_integer(L, "bytes", output_bytes(node));
}

constexpr const char* kTapeType = "lunagrad.Tape";

// lg.tape(x) -> list of the nodes that x depends on, newest first
int tape(lua_State* L) {
  const Tensor x = check_tensor(L, 1, "tape");
  const std::vector<Node*> nodes = nodes_of(x);
  check_room(nodes.size(), sizeof(Node));
  lua_createtable(L, int(nodes.size()), 1);
  for (size_t i = 0; i < nodes.size(); ++i) {
    push_node(L, *nodes[i]);
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "root");
  luaL_setmetatable(L, kTapeType);
  return 1;
}

std::string dot_of(lua_State* L, const char* name) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_getfield(L, 1, "root");
  return tape_dot(check_tensor(L, lua_gettop(L), name));
}

int tape_to_dot(lua_State* L) {
  push_string(L, dot_of(L, "dot"));
  return 1;
}

// Converts a value of these tables to JSON; a script may have changed the tables. The keys of a table are
// strings, or 1 … n.
nlohmann::ordered_json to_json(lua_State* L, int index, int depth = 0) {
  constexpr int kDeepest = 16;  // valid tables need four
  index = lua_absindex(L, index);
  switch (lua_type(L, index)) {
    case LUA_TBOOLEAN:
      return bool(lua_toboolean(L, index));
    case LUA_TNUMBER:
      if (lua_isinteger(L, index)) return int64_t(lua_tointeger(L, index));
      return double(lua_tonumber(L, index));
    case LUA_TSTRING:
      return std::string(check_string(L, index, "json"));
    case LUA_TTABLE:
      break;
    default:
      fail("json: a tape holds no ", type_name(L, index));
  }
  if (depth == kDeepest) fail("json: more than ", kDeepest, " tables within each other");
  luaL_checkstack(L, 4, "json");
  if (is_options(L, index)) {
    std::map<std::string, nlohmann::ordered_json> sorted;
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
      sorted.emplace(check_string(L, -2, "json"), to_json(L, -1, depth + 1));
    return nlohmann::ordered_json(sorted);
  }
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  const auto count = lua_Integer(lua_rawlen(L, index));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    list.push_back(to_json(L, -1, depth + 1));
    lua_pop(L, 1);
  }
  return list;
}

// t:json() -> a JSON list of the nodes; `attrs` is an object even if it is empty
int tape_to_json(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  // The text grows in Lua's heap, so Lua's memory limit covers it. Only one node at a time is converted.
  luaL_checkstack(L, 8, "json");
  luaL_Buffer text;
  luaL_buffinit(L, &text);
  luaL_addchar(&text, '[');
  const auto count = lua_Integer(lua_rawlen(L, 1));
  for (lua_Integer i = 1; i <= count; ++i) {
    context().check_stop();
    std::string line;
    {
      lua_rawgeti(L, 1, i);
      nlohmann::ordered_json node = to_json(L, -1);
      lua_pop(L, 1);
      if (node.is_object() && node["attrs"].empty()) node["attrs"] = nlohmann::ordered_json::object();
      line = node.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    }
    if (i > 1) luaL_addchar(&text, ',');
    luaL_addlstring(&text, line.data(), line.size());
  }
  luaL_addchar(&text, ']');
  luaL_pushresult(&text);
  return 1;
}

// t:svg(path): writes a picture, drawn by Graphviz.
int tape_to_svg(lua_State* L) {
  const std::string path(check_string(L, 2, "svg"));
  if (binding_state(L).files.limited)
    fail("svg: a sandboxed script runs no other program; t:dot() gives the graph as text");
  lua_settop(L, 2);
  const FilterRun run = run_filter("dot", {"-Tsvg", "-o" + path}, dot_of(L, "svg"));
  if (run.end == FilterRun::End::done) return 0;
  if (run.end == FilterRun::End::missing)
    fail(
        "svg: the program 'dot' is not installed (Debian: apt install graphviz); t:dot() gives the graph as "
        "text");
  fail_as(ErrorKind::file, "svg: 'dot' could not draw the tape into ", path);
}

// --- names of leaf nodes ---

int set_name(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "_set_name");
  const uint32_t name = intern(terminal_line(check_string(L, 2, "_set_name")));
  if (x.node() && x.node()->is_leaf()) x.node()->name = name;
  return 0;
}

constexpr luaL_Reg kTapeFunctions[] = {
    {"tape", guard<tape>}, {"_set_name", guard<set_name>}, {nullptr, nullptr}};
constexpr luaL_Reg kTapeMethods[] = {{"dot", guard<tape_to_dot>},
                                     {"json", guard<tape_to_json>},
                                     {"svg", guard<tape_to_svg>},
                                     {nullptr, nullptr}};

}  // namespace

void bind_tape(lua_State* L, int core, int) {
  lua_pushvalue(L, core);
  luaL_setfuncs(L, kTapeFunctions, 0);
  lua_pop(L, 1);
  luaL_newmetatable(L, kTapeType);
  luaL_newlib(L, kTapeMethods);
  lua_setfield(L, -2, "__index");
  lua_pop(L, 1);
}

}  // namespace lunagrad
