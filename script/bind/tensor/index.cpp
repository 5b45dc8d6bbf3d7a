// Binds indexing: x[i], x[{i, {first, last, step}, {}}], x[indices], x[mask], x[{i, indices, …}] with index
// tensors that select elements together, and assignment to each. A step below 0 selects a copy in reverse
// order. Positions count from 1. The numbers in an index tensor are data and count from 0.
#include "script/bind/tensor/index.h"

#include <algorithm>

#include "runtime/core/called.h"
#include "runtime/core/in_place.h"
#include "runtime/core/script_numbers.h"
#include "runtime/ops.h"
#include "script/bind/tensor/called_as.h"
#include "script/lua/binding_state.h"
#include "script/lua/bindings.h"
#include "script/lua/convert.h"
#include "script/lua/garbage.h"
#include "script/lua/guard.h"
#include "script/lua/script_line.h"

namespace lunagrad {
namespace {

constexpr const char* kIndex = "index";

// lg.newaxis is the address of this: an entry of x[{…}] that adds a dim of size 1. A nil would end the table.
constexpr char kNewAxis = 0;

bool is_newaxis(lua_State* L, int index) { return lua_touserdata(L, index) == &kNewAxis; }

// The slice of x at the positions first, first + step, … of `dim`, up to and including last. With a step
// below 0 the slice is in ascending order. Error messages name the dim `of_whole` of the shape `whole`.
Tensor slice_positions(const Tensor& x, int dim, int64_t first, int64_t last, int64_t step, int of_whole,
                       const Shape& whole) {
  const int64_t size = x.size(dim);
  const auto from_start = [&](int64_t position) { return position < 0 ? position + size + 1 : position; };
  int64_t from = from_start(first), to = from_start(last);
  if (step < 0) std::swap(from, to);
  if (first == 0 || last == 0 || from < 1 || from > size + 1 || to < 0 || to > size)
    fail("index: {", first, ", ", last, "} is out of range for dim ", of_whole + 1, " of shape ", whole);
  if (step == 0) fail("index: a step must not be 0 (got {", first, ", ", last, ", 0})");
  // A step above the size of the dim selects only the first position, as a step equal to the size does.
  const int64_t most = std::max<int64_t>(size, 1),
                apart = step < 0 ? -std::max(step, -most) : std::min(step, most);
  if (step < 0 && to > from) from += (to - from) % apart;
  return slice(x, dim, from - 1, std::max(to, from - 1), apart);
}

Tensor select_position(const Tensor& x, int dim, int64_t position, int of_whole, const Shape& whole) {
  const int64_t size = x.size(dim);
  if (position == 0) fail("index: positions count from 1, or from -1 at the end; got 0");
  if (position > size || position < -size)
    fail("index: position ", position, " is out of range for dim ", of_whole + 1, " of shape ", whole);
  return select(x, dim, position > 0 ? position - 1 : position + size);
}

const Op& require_op(const char* name) {
  const Op* const op = find_op(name);
  if (!op) fail("index: this needs the op ", name);
  return *op;
}

// PyTorch lets an assigned value have more dims than its destination, if the leading ones have size 1.
Tensor without_leading_ones(Tensor value, int ndim) {
  while (value.ndim() > ndim && value.size(0) == 1) value = select(value, 0, 0);
  return value;
}

void need_index(const Tensor& index) {
  if (is_floating(index.dtype()))
    fail("index: an index tensor holds integers (from 0) or booleans, got ", index.dtype());
}

// x[indices] for an integer tensor, on one dim: the shape of the indices takes the place of the dim.
Tensor select_by_numbers(const Tensor& x, int dim, const Tensor& given) {
  const Tensor indices = x.ndim() == 0 ? given : indices_from_front(given, x.size(dim));
  const bool plain = indices.ndim() == 1 || x.ndim() == 0;
  if (!plain && x.ndim() - 1 + indices.ndim() > kMaxDims)
    fail("index: more than ", kMaxDims, " dims (shape ", x.shape(), " at indices of shape ", indices.shape(),
         ")");
  const Tensor flat = plain ? indices : reshape(indices, {indices.numel()});
  const Tensor rows = run_called("index", [&] {
    return apply1(require_op("index_select"), {x, flat}, {dim});
  });
  if (plain) return rows;
  Shape shape = x.shape();
  shape.erase(dim);
  for (int d = 0; d < indices.ndim(); ++d) shape.insert(dim + d, indices.size(d));
  return reshape(rows, shape);
}

// The selection of x[{…}]: a view of x, and the index tensors that act on some of its dims.
struct Selection {
  Tensor view;
  std::vector<std::pair<int, Tensor>> picks;  // a dim of the view (a mask's first dim), and its index tensor
  Shape whole;                                // of x, for messages
  Dims reversed = {};                         // dims of the view that have a step below 0

  // Lets an index tensor act on the dim; returns how many dims of the view it covers.
  int pick(int dim, const Tensor& index) {
    const bool mask = index.dtype() == DType::boolean;
    if (mask && index.ndim() == 0) {
      // As in PyTorch: a mask without dims masks a new dim of size 1.
      view = unsqueeze(view, dim);
      picks.emplace_back(dim, reshape(index, {1}));
      return 1;
    }
    picks.emplace_back(dim, index);
    return mask ? index.ndim() : 1;
  }
};

// A selection in the form that the op index takes: the dims on which the index tensors act come first.
struct Points {
  Tensor view;  // permuted
  TensorList tensors;
  Dims order, back;  // permutations: of the view's dims, and of the result's dims
};

Points points_of(const Selection& selection) {
  Points points;
  std::vector<bool> acted(size_t(selection.view.ndim()));
  int first = -1, picked = 0;  // first dim indexed; number of dims of the broadcast index tensors
  for (const auto& [dim, tensor] : selection.picks) {
    const bool mask = tensor.dtype() == DType::boolean;
    const int dims = mask ? tensor.ndim() : 1;
    picked = std::max(picked, mask ? 1 : tensor.ndim());
    for (int d = dim; d < dim + dims; ++d) {
      acted[size_t(d)] = true;
      points.order.push_back(d);
    }
    if (first < 0) first = dim;
    points.tensors.push_back(tensor);
  }
  // As in PyTorch: adjacent indexed dims are replaced where they are, others move to the front.
  const int acts = points.order.size();
  const bool together = points.order[acts - 1] - points.order[0] == acts - 1;
  for (int d = 0; d < selection.view.ndim(); ++d)
    if (!acted[size_t(d)]) points.order.push_back(d);
  points.view = permute(selection.view, points.order);
  const int before = together ? first : 0, all = picked + points.view.ndim() - acts;
  if (all > kMaxDims) fail("index: more than ", kMaxDims, " dims (shape ", selection.whole, ")");
  for (int d = 0; d < before; ++d) points.back.push_back(picked + d);
  for (int d = 0; d < picked; ++d) points.back.push_back(d);
  for (int d = picked + before; d < all; ++d) points.back.push_back(d);
  return points;
}

Operands with_tensors(std::initializer_list<Tensor> first, const TensorList& tensors) {
  Operands operands;
  for (const Tensor& tensor : first) operands.push_back(tensor);
  for (const Tensor& tensor : tensors) operands.push_back(tensor);
  return operands;
}

// The selection with its reversed dims flipped: the view becomes a copy.
Selection in_order(Selection selection) {
  if (!selection.reversed.empty()) selection.view = flip(selection.view, selection.reversed);
  selection.reversed = {};
  return selection;
}

Tensor picked(const Selection& given) {
  const Selection selection = in_order(given);
  if (selection.picks.empty()) return selection.view;
  const auto& [dim, tensor] = selection.picks[0];
  if (selection.picks.size() == 1) {
    if (tensor.dtype() != DType::boolean) return select_by_numbers(selection.view, dim, tensor);
    if (dim == 0 && tensor.ndim() >= selection.view.ndim())
      return apply1(require_op("masked_select"), {selection.view, tensor});
  }
  const Points points = points_of(selection);
  return permute(apply1(require_op("index"), with_tensors({points.view}, points.tensors)), points.back);
}

// x[{…}] = v without index tensors.
void assign_view(const Selection& selection, const Tensor& given) {
  const Tensor value = without_leading_ones(given, selection.view.ndim());
  const int added = selection.view.ndim() - value.ndim();
  Dims reversed;  // dims of the value
  for (const int64_t d : selection.reversed)
    if (d >= added && value.size(int(d) - added) > 1) reversed.push_back(d - added);
  copy_(selection.view, reversed.empty() ? value : flip(value, reversed));
}

// x[{…}] = v when some entries are index tensors.
void assign_picked(const Selection& selection, Tensor value) {
  const Points points = points_of(selection);
  if (!value.is_number()) {
    // The value broadcasts to the shape that reading returns. The op index has its dims in another order.
    Dims order = points.back;
    for (int d = 0; d < order.size(); ++d) order[points.back[d]] = d;
    value = to(without_leading_ones(value, order.size()), points.view.dtype());
    while (value.ndim() < order.size()) value = unsqueeze(value, 0);
    if (value.ndim() == order.size()) value = permute(value, order);
  }
  run_in_place(require_op("index_put"), with_tensors({points.view, value}, points.tensors), {false});
}
void assign_picked_in_order(const Selection& selection, const Tensor& value) {
  if (selection.reversed.empty()) return assign_picked(selection, value);
  const Selection ordered = in_order(selection);
  assign_picked(ordered, value);
  copy_(selection.view, flip(ordered.view, selection.reversed));
}

// Whether the table at the top of the stack has no entry at all: {nil, 3} has length 0, too.
bool is_empty_table(lua_State* L) {
  lua_pushnil(L);
  if (!lua_next(L, -2)) return true;
  lua_pop(L, 2);
  return false;
}

// The number of entries of x[{…}]. A nil at the end cannot be seen in the table. A nil inside can, since
// later entries follow it.
int count_entries(lua_State* L, int index) {
  int64_t last = 0;
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (!lua_isinteger(L, -2))
      fail("index: positions expected in x[{…}], got a field '",
           lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : type_name(L, -2), "'");
    last = std::max<int64_t>(last, lua_tointeger(L, -2));
  }
  return int(std::min<int64_t>(last, 2 * kMaxDims + 1));
}

// Applies entry `i` of x[{…}], which is on top of the stack, to dim `dim` of the selection, which is dim
// `of_whole` of the tensor. Returns how many dims of the resulting view the entry covers.
int add_entry(lua_State* L, Selection& selection, int i, int dim, int of_whole) {
  Tensor& view = selection.view;
  if (const Tensor* const index = to_tensor(L, -1)) {
    need_index(*index);
    for (int d = 0; index->dtype() == DType::boolean && d < index->ndim(); ++d)
      if (index->size(d) != view.size(dim + d))
        fail("index: a mask of shape ", index->shape(), " does not fit dim ", of_whole + d + 1, " of shape ",
             selection.whole);
    return selection.pick(dim, *index);
  }
  if (is_newaxis(L, -1)) {
    view = unsqueeze(view, dim);
    return 1;
  }
  if (lua_type(L, -1) == LUA_TNUMBER) {
    view = select_position(view, dim, check_integer(L, lua_gettop(L), kIndex), of_whole, selection.whole);
    return 0;
  }
  if (lua_type(L, -1) != LUA_TTABLE)
    fail("index: an integer, {first, last, step} or {} expected at [", i, "], got ", type_name(L, -1),
         lua_isnil(L, -1) ? "; a new dim is lg.newaxis, a whole dim is {}" : "");
  const int64_t count = list_length(L, -1, 2, kIndex);
  if (count == 0 && is_empty_table(L)) return 1;
  // {i} keeps the dim, as i:i+1 does in Python.
  if (count == 1) {
    const int64_t position = check_integers(L, lua_gettop(L), lua_gettop(L), kIndex)[0];
    select_position(view, dim, position, of_whole, selection.whole);
    view = slice_positions(view, dim, position, position, 1, of_whole, selection.whole);
    return 1;
  }
  if (count != 2 && count != 3)
    fail("index: {first, last} or {first, last, step} expected at [", i, "], got ", count,
         count == 0 ? " positions; {1, last} begins a dim, and {} is the whole of it"
                    : " numbers; a list of positions is an index tensor, which counts from 0");
  const Dims range = check_integers(L, lua_gettop(L), lua_gettop(L), kIndex);
  const int64_t step = count == 3 ? range[2] : 1;
  view = slice_positions(view, dim, range[0], range[1], step, of_whole, selection.whole);
  if (step < 0 && view.size(dim) > 1) selection.reversed.push_back(dim);
  return 1;
}

// Whether ipairs is reading x[key]; it ends at the first nil.
bool asked_by_ipairs(lua_State* L) {
  lua_Debug caller;
  return lua_getstack(L, 1, &caller) && lua_getinfo(L, "Sn", &caller) && *caller.what == 'C' &&
         std::string_view(caller.namewhat) == "for iterator";
}

// How many dims of the tensor the value at the top of the stack, an entry of x[{…}], indexes.
int dims_of_entry(lua_State* L) {
  if (is_newaxis(L, -1)) return 0;
  const Tensor* const index = to_tensor(L, -1);
  return index && index->dtype() == DType::boolean ? index->ndim() : 1;
}

// How many dims the entries of the table at index 2 index.
int count_dims(lua_State* L, int entries) {
  int dims = 0;
  for (int i = 1; i <= entries; ++i) {
    lua_rawgeti(L, 2, i);
    dims += dims_of_entry(L);
    lua_pop(L, 1);
  }
  return dims;
}

// The selection of x[key], with the key at stack index 2.
Selection selected(lua_State* L, const Tensor& x) {
  Selection selection{x, {}, x.shape()};
  if (const Tensor* const index = to_tensor(L, 2)) {
    need_index(*index);
    selection.pick(0, *index);
    return selection;
  }
  if (lua_type(L, 2) == LUA_TNUMBER) {
    if (x.ndim() == 0) fail("index: a scalar tensor cannot be indexed; use :item()");
    selection.view = select_position(x, 0, check_integer(L, 2, kIndex), 0, x.shape());
    return selection;
  }
  if (is_newaxis(L, 2)) {
    selection.view = unsqueeze(x, 0);
    return selection;
  }
  if (lua_type(L, 2) != LUA_TTABLE)
    fail("index: an integer, a table or a Tensor expected, got ", type_name(L, 2),
         lua_isnil(L, 2) ? "; a new dim is lg.newaxis" : "");
  list_length(L, 2, 2, kIndex);
  const int count = count_entries(L, 2), dims = count_dims(L, count);
  if (dims > x.ndim()) {
    for (int i = 1; i < count; ++i) {
      if (lua_rawgeti(L, 2, i) == LUA_TNIL)
        fail("index: [", i, "] is nil; a new dim is lg.newaxis, a whole dim is {}");
      lua_pop(L, 1);
    }
    fail("index: ", dims, " indices for a tensor of shape ", x.shape());
  }
  int dim = 0, of_whole = 0;
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, 2, i);
    dim += add_entry(L, selection, i, dim, of_whole);
    of_whole += dims_of_entry(L);
    lua_pop(L, 1);
  }
  return selection;
}

// x[mask] = v: writes v, broadcast to the shape of x[mask], where the mask is true. A mask with fewer dims
// than x covers the first dims of x.
void assign_masked(const Tensor& x, const Tensor& mask, const Tensor& value) {
  Tensor holds = mask;
  while (holds.ndim() < x.ndim()) holds = unsqueeze(holds, holds.ndim());
  const int inner = x.ndim() - mask.ndim();
  if (value.ndim() <= inner || value.numel() == 1) {
    copy_(x, apply1(require_op("where"), {holds, value, clone(x)}));
    return;
  }
  // A row of v for each true element, in order.
  Shape rows = x.shape();
  const int64_t count = sum(mask).item_integer();
  Shape wanted{count};
  for (int d = mask.ndim(); d < x.ndim(); ++d) wanted.push_back(rows[d]);
  if (value.ndim() != inner + 1 || (value.size(0) != count && value.size(0) != 1))
    fail("index: the mask selects elements of shape ", wanted, ", the value has shape ", value.shape(),
         value.shape() == x.shape() ? "; write x[mask] = v[mask]" : "");
  const Tensor source = contiguous(expand(to(value, x.dtype()), wanted));
  copy_(x, apply1(require_op("masked_scatter"), {clone(x), expand(holds, rows), source}));
}

// x[indices] = v: writes row by row, so that the last of several equal indices wins.
void assign_rows(const Tensor& x, Tensor indices, Tensor value) {
  if (x.ndim() == 0) fail("index: a scalar tensor cannot be indexed");
  if (indices.ndim() != 1) {
    // A value with the dims of the indices and of a row has a row for each index.
    if (value.ndim() == x.ndim() - 1 + indices.ndim()) {
      Shape rows = indices.shape(), flat{indices.numel()};
      for (int d = 1; d < x.ndim(); ++d) rows.push_back(x.size(d)), flat.push_back(x.size(d));
      value = reshape(expand(value, rows), flat);
    } else if (value.ndim() >= x.ndim()) {
      fail("index: a value of shape ", value.shape(), " does not fit indices of shape ", indices.shape(),
           " of a tensor of shape ", x.shape());
    }
    indices = reshape(indices, {indices.numel()});
  }
  const std::vector<int64_t> rows = indices.to_vector<int64_t>();
  const bool each = value.ndim() == x.ndim();
  if (each && value.size(0) != int64_t(rows.size()) && value.size(0) != 1)
    fail("index: ", value.size(0), " rows do not fit ", rows.size(), " indices");
  for (size_t i = 0; i < rows.size(); ++i) {
    const int64_t row = rows[i] < 0 ? rows[i] + x.size(0) : rows[i];
    if (row < 0 || row >= x.size(0))
      fail("index: index ", rows[i], " is out of range for dim 1 of shape ", x.shape(),
           " (indices count from 0)");
    copy_(select(x, 0, row), each ? select(value, 0, value.size(0) == 1 ? 0 : int64_t(i)) : value);
  }
}

}  // namespace

int index_positions(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, kIndex);
  mark_line(L);
  Tensor result;
  if (x.ndim() > 0 && lua_isinteger(L, 2) && lua_tointeger(L, 2) == x.size(0) + 1 && asked_by_ipairs(L))
    return 0;
  with_memory_retry(L, [&] { result = picked(selected(L, x)); });
  push_result(L, std::move(result));
  after_op(L);
  return 1;
}

int assign_positions(lua_State* L) {
  const Tensor& x = check_tensor(L, 1, kIndex);
  const Tensor value = check_operand(L, 3, kIndex);
  mark_line(L);
  const Tensor* const indices = to_tensor(L, 2);
  const Selection target = indices ? Selection() : selected(L, x);
  called_as("x[…] = v", [&] {
    if (!target.picks.empty())
      assign_picked_in_order(target, value);
    else if (!indices)
      assign_view(target, value);
    else if (indices->dtype() == DType::boolean)
      assign_masked(x, *indices, value);
    else
      assign_rows(x, *indices, value);
  });
  after_op(L);
  return 0;
}

void bind_index(lua_State* L, int core, int) {
  lua_pushlightuserdata(L, const_cast<char*>(&kNewAxis));
  lua_setfield(L, core, "newaxis");
}

}  // namespace lunagrad
