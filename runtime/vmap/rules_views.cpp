// Views: the shape of a sample comes after N. Also the ops that join tensors, and the gradients of views.
#include <algorithm>

#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// Views along dims that parameters name; the outputs may lose a dim.
bool viewed_along_dims(const BatchedCall& call, Operands& out) {
  const Op& op = call.op();
  if (call.ndim(0) == 0) {  // transpose of a scalar: itself
    out = {call.values[0]};
    return std::string_view(op.name) == "transpose";
  }
  Values params = call.call.params;
  for (size_t p = 0; p < params.size(); ++p)
    if (op.params[p].kind == ParamKind::dim)
      params[p] = Value(int64_t(normalize_dim(op.name, params[p].i, call.shape(0)) + 1));
  out = call.run(call.values, std::move(params));
  return true;
}

bool permuted(const BatchedCall& call, Operands& out) {
  Dims order{0};
  for (const int64_t d : call.call.list(0))
    order.push_back(call.ndim(0) == 0 ? d : normalize_dim("permute", d, call.shape(0)) + 1);
  out = call.run(call.values, {Value(order)});
  return true;
}

// Reshapes the value to N, followed by the shape that the shape function gives for a sample.
bool reshaped(const BatchedCall& call, Operands& out) {
  Call sample = call.call;
  call.op().shape(sample);
  out = {reshape(call.values[0], with_size(call.size, sample.out[0].shape()))};
  return true;
}

// Runs the op to get an alias, so that an inner transform differentiates a tensor of its own.
bool viewed(const BatchedCall& call, Operands& out) {
  Call sample = call.call;
  call.op().shape(sample);
  out = call.run(call.values, {Value(with_size(call.size, sample.out[0].shape()))});
  return true;
}

bool expanded(const BatchedCall& call, Operands& out) {
  Call sample = call.call;
  call.op().shape(sample);
  const Shape& wanted = sample.out[0].shape();
  Shape padded = call.shape(0);
  while (padded.size() < wanted.size()) padded.insert(0, 1);
  out = {expand(reshape(call.values[0], with_size(call.size, padded)), with_size(call.size, wanted))};
  return true;
}

bool cat_rule(const BatchedCall& call, Operands& out) {
  Operands in;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (call.ndim(int(i)) == 0) return false;
    in.push_back(call.spread(int(i)));
  }
  out = call.run(std::move(in),
                 {Value(int64_t(normalize_dim("cat", call.call.integer(0), call.shape(0)) + 1))});
  return true;
}

// The gradient of a view: `value` in a contiguous copy of `base`.
bool strided_scatter(const BatchedCall& call, Operands& out) {
  Strides strides = call.call.list(0);
  if (call.ndim(0) == 0 || numel(call.shape(0)) == 0) return false;
  strides.insert(0, numel(call.shape(0)));
  out = call.run({call.spread(0), call.spread(1)}, {Value(strides), call.call.params[1]});
  return true;
}

}  // namespace

std::span<const NamedRule> view_rules() {
  static constexpr NamedRule rules[] = {
      {"view", viewed},
      {"squeeze", reshaped},
      {"unsqueeze", reshaped},
      {"transpose", viewed_along_dims},
      {"permute", permuted},
      {"expand", expanded},
      {"slice", viewed_along_dims},
      {"select", viewed_along_dims},
      {"diagonal", viewed_along_dims},
      {"_split", viewed_along_dims},
      {"unfold", viewed_along_dims},
      {"_fold_windows", viewed_along_dims},
      {"cat", cat_rule},
      {"_as_strided_scatter", strided_scatter},
  };
  return rules;
}

}  // namespace lunagrad
