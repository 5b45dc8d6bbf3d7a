// Binds lg.io.pt: PyTorch's files as nested Lua tables.
#include "runtime/io/pt.h"

#include <algorithm>
#include <fstream>

#include "runtime/core/nesting.h"
#include "runtime/ops.h"
#include "script/bind/data/files.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"

namespace lunagrad {
namespace {

// Pushes a value. None becomes nil, but false inside a list, which a nil would end.
struct Pusher : PlainPusher {
  using PlainPusher::operator();

  void operator()(const Tensor& value) const { push_loaded(L, value); }
  void operator()(const PtValue::List& list) const {
    luaL_checkstack(L, 4, "pt.load");
    lua_createtable(L, int(list.size()), 0);
    for (size_t i = 0; i < list.size(); ++i) {
      std::visit(*this, list[i].value);
      if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_pushboolean(L, false);
      }
      lua_rawseti(L, -2, lua_Integer(i) + 1);
    }
  }
  void operator()(const PtValue::Dict& dict) const {
    luaL_checkstack(L, 4, "pt.load");
    lua_createtable(L, 0, int(dict.size()));
    for (const auto& [key, value] : dict) {
      std::visit(*this, key.value);
      const int type = lua_type(L, -1);
      if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
        fail_as(ErrorKind::file, "pt.load: a key of a dict is a ", type_name(L, -1),
                "; strings and numbers are read");
      if (type == LUA_TNUMBER && lua_tonumber(L, -1) != lua_tonumber(L, -1))
        fail_as(ErrorKind::file, "pt.load: a key of a dict is NaN");
      std::visit(*this, value.value);
      lua_rawset(L, -3);
    }
  }
};

PtValue read_value(lua_State* L, int index, int depth);

// A table with the keys 1 to n is a list, any other a dict. Keys are sorted, so that equal tables give equal
// files.
PtValue read_table(lua_State* L, int index, int depth) {
  if (depth == kDeepestNesting) fail("pt.save: more than ", kDeepestNesting, " tables within each other");
  luaL_checkstack(L, 4, "pt.save");
  const lua_Unsigned length = lua_rawlen(L, index);
  PtValue::Dict dict;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    const int type = lua_type(L, -2);
    if (type != LUA_TSTRING && type != LUA_TNUMBER)
      fail("pt.save: a key is a ", type_name(L, -2), "; strings and numbers are saved");
    dict.emplace_back(read_value(L, -2, depth + 1), read_value(L, -1, depth + 1));
  }
  if (length > 0 && dict.size() == length) {
    PtValue::List list(static_cast<size_t>(length));
    for (auto& [key, value] : dict) {
      const auto* const at = std::get_if<int64_t>(&key.value);
      if (!at || *at < 1 || *at > int64_t(length)) fail("pt.save: a list has a key that is no position");
      list[size_t(*at) - 1] = std::move(value);
    }
    return {std::move(list)};
  }
  const auto rank = [](const PtValue& key) {
    const auto* const name = std::get_if<std::string>(&key.value);
    const auto* const integer = std::get_if<int64_t>(&key.value);
    const auto* const real = std::get_if<double>(&key.value);
    return std::make_pair(integer ? double(*integer) : real ? *real : 0, name ? *name : std::string());
  };
  std::sort(dict.begin(), dict.end(),
            [&](const auto& a, const auto& b) { return rank(a.first) < rank(b.first); });
  return {std::move(dict)};
}

PtValue read_value(lua_State* L, int index, int depth) {
  index = lua_absindex(L, index);
  if (const Tensor* const tensor = to_tensor(L, index)) {
    tensor->storage().check_whole("pt.save");
    return {*tensor};
  }
  if (auto plain = plain_value<PtValue>(L, index)) return *std::move(plain);
  if (lua_type(L, index) == LUA_TTABLE) return read_table(L, index, depth);
  fail("pt.save: a ", type_name(L, index),
       " cannot be saved; tensors, numbers, strings, booleans and tables can");
}

// pt.load(path) -> value
int load_pt_file(lua_State* L) {
  push_pt(L, check_path(L, "pt.load", FileUse::read));
  return 1;
}

// pt.save(path, value)
int save_pt_file(lua_State* L) {
  const std::string path = check_path(L, "pt.save");
  luaL_checkany(L, 2);
  save_pt(path, read_value(L, 2, 0));
  return 0;
}

constexpr luaL_Reg kPt[] = {{"load", guard<load_pt_file>}, {"save", guard<save_pt_file>}, {nullptr, nullptr}};

}  // namespace

bool is_pt(const std::string& path) {
  char begin[4] = {};
  std::ifstream(path, std::ios::binary).read(begin, sizeof begin);
  return std::string_view(begin, sizeof begin) == std::string_view("PK\3\4", 4);
}

void push_pt(lua_State* L, const std::string& path) { std::visit(Pusher{{L}}, load_pt(path).value); }

void bind_pt(lua_State* L, int io) {
  luaL_newlib(L, kPt);
  lua_setfield(L, io, "pt");
}

}  // namespace lunagrad
