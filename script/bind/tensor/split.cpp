// Binds the methods that split a tensor into a table of views: split, chunk, tensor_split, unbind. Dims count
// from 1.
#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/core/memory_limit.h"
#include "runtime/ops.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

int optional_dim(lua_State* L, int argument, const char* function, const Tensor& x) {
  if (x.ndim() == 0) fail(function, ": a scalar tensor has no dims");
  return lua_isnoneornil(L, argument)
             ? 0
             : normalize_dim(function, check_position(L, argument, function), x.shape());
}

// Moves options to their positions: x:split(2, {dim = 1}) is x:split(2, 1). `names`: the names of arguments
// 2, 3, …
void place_options(lua_State* L, const char* function, std::initializer_list<const char*> names) {
  const int last = lua_gettop(L);
  const bool may_be_empty = last > int(names.size()) && lua_istable(L, last) && !lua_rawlen(L, last);
  if (last < 2 || (!may_be_empty && !is_options(L, last))) return;
  lua_pushvalue(L, last);
  lua_pushnil(L);
  lua_replace(L, last);
  while (lua_gettop(L) < int(names.size()) + 2) {
    lua_pushnil(L);
    lua_insert(L, -2);
  }
  std::string known;
  for (const char* name : names) known += (known.empty() ? "" : ", ") + std::string(name);
  each_option(L, lua_gettop(L), function, known.c_str(), [&](std::string_view given, int value, Callee) {
    int position = 2;
    for (const char* name : names) {
      if (given == name) {
        if (!lua_isnil(L, position))
          fail(function, ": '", name, "' is given twice, at its position and by name");
        lua_pushvalue(L, value);
        lua_replace(L, position);
        return true;
      }
      ++position;
    }
    return false;
  });
  lua_pop(L, 1);
}

// Appends views of the pieces with these lengths. The pieces are the outputs of one node, whose vjp joins
// their gradients. A node has up to kMaxDims outputs: more pieces are pieces of pieces.
void split_into(std::vector<Tensor>& pieces, const Tensor& x, int dim, std::span<const int64_t> lengths) {
  if (lengths.size() == 1) return pieces.push_back(x);
  size_t each = 1;  // lengths of an output
  while (each * kMaxDims < lengths.size()) each *= kMaxDims;
  Dims sums;
  for (size_t i = 0; i < lengths.size(); i += each) {
    const auto part = lengths.subspan(i, std::min(each, lengths.size() - i));
    sums.push_back(std::accumulate(part.begin(), part.end(), int64_t(0)));
  }
  const Operands parts = apply(*find_op("_split"), {x}, {dim, sums});
  for (size_t k = 0; k < parts.size(); ++k)
    split_into(pieces, parts[k], dim, lengths.subspan(k * each, std::min(each, lengths.size() - k * each)));
}
std::vector<Tensor> split_of(const Tensor& x, int dim, std::span<const int64_t> lengths) {
  std::vector<Tensor> pieces;
  if (lengths.size() == 1)
    pieces.push_back(narrow(x, dim, 0, lengths[0]));
  else if (!lengths.empty())
    split_into(pieces, x, dim, lengths);
  return pieces;
}

int push_all(lua_State* L, std::vector<Tensor> results) {
  lua_createtable(L, int(results.size()), 0);
  for (size_t i = 0; i < results.size(); ++i) {
    push_result(L, std::move(results[i]));
    lua_rawseti(L, -2, lua_Integer(i) + 1);
  }
  after_op(L);
  return 1;
}
int push_pieces(lua_State* L, const Tensor& x, int dim, std::span<const int64_t> lengths) {
  mark_line(L);
  return push_all(L, split_of(x, dim, lengths));
}

// Error when there is no memory for that many views. Each needs a length, a tensor, its layout and its
// userdata.
void check_pieces(int64_t count) {
  check_room(size_t(count), sizeof(int64_t) + sizeof(TensorBody) + sizeof(Layout) + 64);
}

// Lengths of the pieces of a dim: `length` each, the last one shorter if `length` does not divide the size.
// An empty dim has one piece of length 0.
std::vector<int64_t> pieces_of(int64_t size, int64_t length) {
  std::vector<int64_t> lengths;
  check_pieces(size / length);
  for (int64_t left = size; left > 0; left -= length) lengths.push_back(std::min(length, left));
  if (lengths.empty()) lengths.push_back(0);
  return lengths;
}

std::vector<int64_t> read_list(lua_State* L, int argument, const char* function) {
  std::vector<int64_t> values;
  const int64_t count = list_length(L, argument, argument, function);
  check_pieces(count);
  for (int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(L, argument, i);
    values.push_back(check_integer(L, lua_gettop(L), function));
    lua_pop(L, 1);
  }
  return values;
}

// x:split(length, dim) or x:split({lengths}, dim)
int split(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "split");
  place_options(L, "split", {"split_size", "dim"});
  const int dim = optional_dim(L, 3, "split", x);
  if (!lua_istable(L, 2)) {
    const int64_t length = check_integer(L, 2, "split");
    if (length < 1) bad_argument(L, 2, "split", text("a length of at least 1 expected, got ", length));
    return push_pieces(L, x, dim, pieces_of(x.size(dim), length));
  }
  const std::vector<int64_t> lengths = read_list(L, 2, "split");
  int64_t total = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > x.size(dim))
      fail("split: a length of ", length, " does not fit dim ", dim + 1, " of shape ", x.shape());
    if (__builtin_add_overflow(total, length, &total)) total = INT64_MAX;
  }
  if (total != x.size(dim))
    fail("split: the lengths add up to ", total, " where dim ", dim + 1, " of shape ", x.shape(), " has ",
         x.size(dim));
  return push_pieces(L, x, dim, lengths);
}

// x:chunk(count, dim): at most `count` pieces of equal length; the last one may be shorter
int chunk(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "chunk");
  place_options(L, "chunk", {"chunks", "dim"});
  const int64_t count = check_integer(L, 2, "chunk");
  const int dim = optional_dim(L, 3, "chunk", x);
  if (count < 1) bad_argument(L, 2, "chunk", text("a count of at least 1 expected, got ", count));
  const int64_t size = x.size(dim), length = size / count + (size % count != 0 || size == 0);
  return push_pieces(L, x, dim, pieces_of(x.size(dim), length));
}

// x:tensor_split(count, dim): exactly `count` pieces; the first ones are longer by one if `count` does not
// divide the size.
// x:tensor_split({offsets}, dim): splits before each offset. Offsets count from 0, negative ones from the
// end.
int tensor_split(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "tensor_split");
  place_options(L, "tensor_split", {"indices_or_sections", "dim"});
  const int dim = optional_dim(L, 3, "tensor_split", x);
  const int64_t size = x.size(dim);
  std::vector<int64_t> lengths;
  if (lua_istable(L, 2)) {
    int64_t start = 0;
    for (const int64_t offset : read_list(L, 2, "tensor_split")) {
      const int64_t end = std::clamp(offset < 0 ? offset + size : offset, start, size);
      lengths.push_back(end - start);
      start = end;
    }
    lengths.push_back(size - start);
  } else {
    constexpr int64_t kMostPieces = 1 << 20;
    const int64_t count = check_integer(L, 2, "tensor_split");
    if (count < 1 || count > kMostPieces)
      bad_argument(L, 2, "tensor_split", text("a count of 1 to ", kMostPieces, " expected, got ", count));
    for (int64_t i = 0; i < count; ++i) lengths.push_back(size / count + (i < size % count ? 1 : 0));
  }
  return push_pieces(L, x, dim, lengths);
}

int unbind(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, "unbind");
  place_options(L, "unbind", {"dim"});
  const int dim = optional_dim(L, 2, "unbind", x);
  mark_line(L);
  check_pieces(x.size(dim));
  std::vector<Tensor> slices = split_of(x, dim, std::vector<int64_t>(size_t(x.size(dim)), 1));
  for (Tensor& slice : slices) slice = squeeze(slice, dim);
  return push_all(L, std::move(slices));
}

constexpr luaL_Reg kSplitMethods[] = {{"split", guard<split>},
                                      {"chunk", guard<chunk>},
                                      {"tensor_split", guard<tensor_split>},
                                      {"unbind", guard<unbind>},
                                      {nullptr, nullptr}};

}  // namespace

void bind_split(lua_State* L, int core, int methods) {
  for (const int table : {core, methods}) {
    lua_pushvalue(L, table);
    luaL_setfuncs(L, kSplitMethods, 0);
    lua_pop(L, 1);
  }
}

}  // namespace lunagrad
