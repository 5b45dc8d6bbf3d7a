// Views, and ops along dims that a parameter names: the dims of a sample come after N. Also the ops that join
// tensors, and the gradients of views.
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

// Adds a dim of size 1 if the samples have no dims; these ops treat them in this way.
Tensor with_one_dim(const Tensor& value) { return value.ndim() == 1 ? unsqueeze(value, 1) : value; }

// All operands have the shape of operand 0. The outputs of samples without dims are scalars.
bool along_dims(const BatchedCall& call, Operands& out) {
  const bool scalar = call.ndim(0) == 0;
  const Op& op = call.op();
  const Shape shape = scalar ? Shape{1} : call.shape(0);
  Operands in;
  for (size_t i = 0; i < call.values.size(); ++i) {
    if (!call.has(int(i)) || call.ndim(int(i)) != call.ndim(0)) return false;
    in.push_back(with_one_dim(call.spread(int(i))));
  }
  Values params = call.call.params;
  for (size_t p = 0; p < params.size(); ++p) {
    const ParamKind kind = op.params[p].kind;
    if (kind == ParamKind::dims) {
      Dims dims;
      if (!params[p].present() || params[p].list.empty())
        for (int d = 0; d < shape.size(); ++d) dims.push_back(d + 1);
      else
        for (const int64_t d : params[p].list) dims.push_back(normalize_dim(op.name, d, shape) + 1);
      params[p] = Value(dims);
    } else if (kind == ParamKind::dim) {
      if (!params[p].present()) return false;
      params[p] = Value(int64_t(normalize_dim(op.name, params[p].i, shape) + 1));
    }
  }
  out = call.run(std::move(in), std::move(params));
  for (Tensor& y : out)
    if (scalar) y = reshape(y, {call.size});
  return true;
}

// Without a dim the op works on all elements.
bool along_dim_or_all(const BatchedCall& call, Operands& out) {
  if (call.call.params[0].present()) return along_dims(call, out);
  Values params = call.call.params;
  params[0] = Value(int64_t(1));
  const bool keepdim = call.call.flag(1);
  params[1] = Value(false);
  out = call.run({reshape(call.spread(0), {call.size, numel(call.shape(0))})}, std::move(params));
  Shape shape{call.size};
  for (int d = 0; keepdim && d < call.ndim(0); ++d) shape.push_back(1);
  for (Tensor& y : out) y = reshape(y, shape);
  return true;
}

// An empty list of dims flips nothing.
bool flipped(const BatchedCall& call, Operands& out) {
  if (call.ndim(0) > 0 && !call.call.list(0).empty()) return along_dims(call, out);
  out = {clone(call.spread(0))};
  return true;
}

bool rolled(const BatchedCall& call, Operands& out) {
  Dims shifts = call.call.list(0);
  shifts.insert(0, 0);
  out = call.run(call.values, {Value(shifts)});
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

std::span<const NamedRule> dim_rules() {
  static constexpr NamedRule rules[] = {
      {"sum", along_dims},
      {"mean", along_dims},
      {"prod", along_dims},
      {"var", along_dims},
      {"std", along_dims},
      {"amax", along_dims},
      {"amin", along_dims},
      {"all", along_dims},
      {"any", along_dims},
      {"_norm", along_dims},
      {"_max", along_dims},
      {"_min", along_dims},
      {"argmax", along_dim_or_all},
      {"argmin", along_dim_or_all},
      {"_cumsum", along_dims},
      {"_cumprod", along_dims},
      {"softmax", along_dims},
      {"log_softmax", along_dims},
      {"_softmax_grad", along_dims},
      {"_log_softmax_grad", along_dims},
      {"_logsumexp", along_dims},
      {"_cumprod_grad", along_dims},
      {"_fft", along_dims},
      {"_rfft", along_dims},
      {"_irfft", along_dims},
      {"sort", along_dims},
      {"topk", along_dims},
      {"flip", flipped},
      {"_roll", rolled},
  };
  return rules;
}

}  // namespace lunagrad
