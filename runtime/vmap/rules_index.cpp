// Gathers and scatters.
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

Value behind(const BatchedCall& call) {
  return Value(int64_t(normalize_dim(call.op().name, call.call.integer(0), call.shape(0)) + 1));
}

// Operands with as many dims each: gather, scatter, scatter_add.
bool all_along(const BatchedCall& call, Operands& out) {
  Operands in;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (call.ndim(int(i)) != call.ndim(0) || call.ndim(0) == 0) return false;
    in.push_back(call.spread(int(i)));
  }
  Values params = call.call.params;
  params[0] = behind(call);
  out = call.run(std::move(in), std::move(params));
  return true;
}

// The rows that indices of each sample name in rows of its own: one selection among the rows of all samples.
Tensor select_rows(const BatchedCall& call, int dim) {
  const Tensor moved = movedim(call.spread(0), {dim + 1}, {1});  // [N, rows, ...]
  Shape flat = moved.shape();
  const int64_t rows = flat[1], picked = numel(call.shape(1));
  flat[1] *= flat[0];
  flat.erase(0);
  const Tensor index = to(reshape(call.spread(1), {call.size, picked}), DType::i64);
  // An index out of range must not name a row of another sample.
  const Tensor checked = index_select(arange(0, double(rows), 1, DType::i64, index.device()), 0,
                                      reshape(index, {call.size * picked}));
  const Tensor first =
      reshape(arange(0, double(call.size), 1, DType::i64, index.device()), {call.size, 1}) * double(rows);
  const Tensor at = reshape(reshape(checked, {call.size, picked}) + to(first, DType::i64),
                            {call.size * picked});
  Tensor chosen = index_select(reshape(moved, flat), 0, at);
  Shape apart = chosen.shape();
  apart[0] = picked;
  apart.insert(0, call.size);
  return movedim(reshape(chosen, apart), {1}, {dim + 1});
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

// The index is the same for all samples.
bool written_rows(const BatchedCall& call, Operands& out) {
  if (call.is(1) || call.ndim(0) == 0 || call.ndim(2) != call.ndim(0)) return false;
  Values params = call.call.params;
  params[0] = behind(call);
  out = call.run({call.spread(0), call.values[1], call.spread(2)}, std::move(params));
  return true;
}

}  // namespace

std::span<const NamedRule> index_rules() {
  static constexpr NamedRule rules[] = {
      {"gather", all_along},      {"scatter", all_along},       {"scatter_add", all_along},
      {"index_select", selected}, {"index_add", written_rows},  {"index_copy", written_rows},
  };
  return rules;
}

}  // namespace lunagrad
