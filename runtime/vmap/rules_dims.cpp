// Ops along dims that a parameter names: the dims of a sample come after N.
#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

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
