// Gathers and scatters.
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

Value behind(const BatchedCall& call) {
  return Value(int64_t(normalize_dim(call.op().name, call.call.integer(0), call.shape(0)) + 1));
}

// Ops whose operands all have the same number of dims, or are numbers: gather, scatter, scatter_add.
bool all_along(const BatchedCall& call, Operands& out) {
  Operands in;
  for (size_t i = 0; i < call.values.size(); ++i) {
    const bool number = call.values[i].is_number();
    if (!number && (call.ndim(int(i)) != call.ndim(0) || call.ndim(0) == 0)) return false;
    in.push_back(number ? call.values[i] : call.spread(int(i)));
  }
  Values params = call.call.params;
  params[0] = behind(call);
  out = call.run(std::move(in), std::move(params));
  return true;
}

// Indices [N, K] into `rows` rows of each sample as indices [N K] into the rows of all samples.
Tensor among_all_rows(const Tensor& index, int64_t rows) {
  const int64_t size = index.size(0), picked = index.size(1);
  // An index out of range must not name a row of another sample: the selection checks it.
  const Tensor checked = index_select(arange(0, double(rows), 1, DType::i64, index.device()), 0,
                                      reshape(to(index, DType::i64), {size * picked}));
  const Tensor first = arange(0, double(size * rows), double(rows), DType::i64, index.device());
  return reshape(reshape(checked, {size, picked}) + reshape(first, {size, 1}), {size * picked});
}

// For samples with their own indices and their own rows: one selection among the rows of all samples.
Tensor select_rows(const BatchedCall& call, int dim) {
  const Tensor moved = movedim(call.spread(0), {dim + 1}, {1});  // [N, rows, ...]
  Shape flat = moved.shape();
  const int64_t rows = flat[1], picked = numel(call.shape(1));
  flat[1] *= flat[0];
  flat.erase(0);
  const Tensor at = among_all_rows(reshape(call.spread(1), {call.size, picked}), rows);
  const Tensor chosen = index_select(reshape(moved, flat), 0, at);
  Shape apart = chosen.shape();
  apart[0] = picked;
  apart.insert(0, call.size);
  return movedim(reshape(chosen, apart), {1}, {dim + 1});
}

// If each sample has its own table, the rows of all samples become one table. A row without a gradient
// (padding_idx) is not covered then.
bool embedded(const BatchedCall& call, Operands& out) {
  if (call.is(1) && (call.call.params[0].present() || call.size == 0)) return false;
  if (!call.is(1)) {
    out = call.run(call.values);
    return true;
  }
  const int64_t rows = call.shape(1)[0], features = call.shape(1)[1], picked = numel(call.shape(0));
  if (rows == 0) return false;
  const Tensor at = among_all_rows(reshape(call.spread(0), {call.size, picked}), rows);
  const Tensor table = reshape(call.spread(1), {call.size * rows, features});
  Shape shape = with_size(call.size, call.shape(0));
  shape.push_back(features);
  out = {reshape(call.run({at, table})[0], shape)};
  return true;
}

bool selected(const BatchedCall& call, Operands& out) {
  if (call.ndim(0) == 0 || call.size == 0 || numel(call.shape(0)) == 0) return false;
  const int dim = normalize_dim("index_select", call.call.integer(0), call.shape(0));
  if (!call.is(1)) {
    out = call.run(call.values, {Value(int64_t(dim + 1))});
  } else if (call.is(0)) {
    out = {select_rows(call, dim)};
  } else {
    const int64_t picked = numel(call.shape(1));
    Tensor chosen = index_select(call.values[0], dim, reshape(call.values[1], {call.size * picked}));
    Shape apart = chosen.shape();
    apart[dim] = picked;
    apart.insert(dim, call.size);
    out = {movedim(reshape(chosen, apart), {dim}, {0})};
  }
  return true;
}

// Only for an index that all samples share.
bool written_rows(const BatchedCall& call, Operands& out) {
  if (call.is(1) || call.ndim(0) == 0 || call.ndim(2) != call.ndim(0)) return false;
  Values params = call.call.params;
  params[0] = behind(call);
  out = call.run({call.spread(0), call.values[1], call.spread(2)}, std::move(params));
  return true;
}

// Index tensors that name rows together broadcast, so each gets as many dims.
bool flat_positions_of_all(const BatchedCall& call, Operands& out) {
  Shape shape;  // of the positions of a sample
  for (size_t i = 0; i < call.values.size(); ++i)
    shape = broadcast_shapes("index", shape, call.shape(int(i)));
  if (shape.size() == kMaxDims) return false;
  Operands in;
  for (size_t i = 0; i < call.values.size(); ++i) {
    Shape own = call.shape(int(i));
    while (own.size() < shape.size()) own.insert(0, 1);
    in.push_back(call.is(int(i)) ? reshape(call.values[i], with_size(call.size, own)) : call.values[i]);
  }
  out = {reshape(call.run(std::move(in))[0], {call.size, numel(shape)})};
  return true;
}

}  // namespace

std::span<const NamedRule> index_rules() {
  static constexpr NamedRule rules[] = {
      {"gather", all_along},          {"scatter", all_along},
      {"scatter_add", all_along},     {"_gather_with", all_along},
      {"_scatter_reduce", all_along}, {"_scatter_mean", all_along},
      {"index_select", selected},     {"embedding", embedded},
      {"index_add", written_rows},    {"index_copy", written_rows},
      {"_select_once", selected},     {"_flat_positions", flat_positions_of_all},
  };
  return rules;
}

}  // namespace lunagrad
