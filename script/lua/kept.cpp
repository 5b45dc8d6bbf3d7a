#include "script/lua/kept.h"

#include "runtime/core/nesting.h"
#include "script/lua/convert.h"

namespace lunagrad {
namespace {

Kept keep_at(lua_State* L, int index, int depth) {
  if (lua_type(L, index) == LUA_TNIL) return {};
  if (auto plain = plain_value<Kept>(L, index)) return *std::move(plain);
  if (const Tensor* const tensor = to_tensor(L, index)) {
    tensor->storage().check_whole("run.state");
    return {*tensor};
  }
  if (lua_type(L, index) != LUA_TTABLE)
    fail("run.state: a reload cannot keep a ", type_name(L, index),
         "; tensors, numbers, strings, booleans and tables are kept");
  if (depth == kDeepestNesting) fail("run.state: more than ", kDeepestNesting, " tables within each other");
  luaL_checkstack(L, 4, "run.state");
  index = lua_absindex(L, index);
  Kept::Table table;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    Kept key = keep_at(L, -2, depth + 1);
    table.emplace_back(std::move(key), keep_at(L, -1, depth + 1));
  }
  return {std::move(table)};
}

struct Pusher : PlainPusher {
  using PlainPusher::operator();

  void operator()(const Tensor& value) const { push_tensor(L, value); }
  void operator()(const Kept::Table& table) const {
    luaL_checkstack(L, 4, "run.state");
    lua_createtable(L, 0, int(table.size()));
    for (const auto& [key, value] : table) {
      std::visit(*this, key.value);
      std::visit(*this, value.value);
      lua_rawset(L, -3);
    }
  }
};

}  // namespace

Kept keep(lua_State* L, int index) { return keep_at(L, index, 0); }

void push_kept(lua_State* L, const Kept& kept) { std::visit(Pusher{{L}}, kept.value); }

}  // namespace lunagrad
