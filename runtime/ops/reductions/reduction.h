#pragma once
// What the records of reductions share: their parameters dim and keepdim, and shapes. A mask has bit i set if
// dim i is reduced. Pure; any thread.
#include "runtime/ops/families.h"
#include "runtime/ops/reductions/cpu/reduce.h"
#include "runtime/ops/reductions/cpu/reduce_again.h"

namespace lunagrad {

inline const ParamSpec kDims{.name = "dim", .kind = ParamKind::dims, .optional = true};
inline const ParamSpec kKeepdim{"keepdim", ParamKind::boolean, false};
inline const ParamSpec kOneDim{.name = "dim", .kind = ParamKind::dim, .optional = true};

// of var, std, var_mean and std_mean
inline const std::vector<ParamSpec> kVarParams = {
    kDims,
    {.name = "unbiased", .kind = ParamKind::boolean, .optional = true},
    kKeepdim,
    {"correction", ParamKind::integer, 1}};
inline constexpr int kUnbiasedAt = 1, kVarKeepdimAt = 2, kCorrectionAt = 3;

inline uint32_t mask_of(const char* op, const Value& dims, const Shape& shape) {
  if (dims.kind == Value::Kind::integer) return dim_mask(op, std::span(&dims.i, 1), shape);
  return dims.present() ? dim_mask(op, dims.list, shape) : dim_mask(op, {}, shape);
}

inline Shape reduced_shape(const Shape& shape, uint32_t mask, bool keepdim) {
  Shape result;
  for (int i = 0; i < shape.size(); ++i) {
    if (!(mask >> i & 1))
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

// Positions of the parameters in most records.
inline constexpr int kDimsAt = 0, kKeepdimAt = 1;

inline uint32_t mask_of(const Call& call, int at = kDimsAt) {
  return mask_of(call.op->name, call.params[size_t(at)], call.input(0).shape());
}

inline const Value& param(const Backward& b, int i) { return b.node().attributes->params[size_t(i)]; }
inline uint32_t mask_of(const Backward& b, int at = kDimsAt) {
  return mask_of(b.node().op->name, param(b, at), b.shape(0));
}

// The number of elements that are reduced to one result.
inline int64_t reduced_count(const Shape& shape, uint32_t mask) {
  int64_t count = 1;
  for (int i = 0; i < shape.size(); ++i)
    if (mask >> i & 1) count *= shape[i];
  return count;
}

inline void emit_reduced(Call& call, DType dtype, int dims_at = kDimsAt, int keepdim_at = kKeepdimAt) {
  call.emit(reduced_shape(call.input(0).shape(), mask_of(call, dims_at), call.flag(keepdim_at)), dtype);
}

inline void need_floating(const Call& call) {
  const DType dtype = call.input(0).dtype();
  if (!is_floating(dtype))
    fail(call.op->name, ": a floating-point tensor is needed (got ", dtype,
         "); convert it with :float() first");
}

inline void need_elements(const Call& call, uint32_t mask) {
  const Shape& shape = call.input(0).shape();
  if (reduced_count(shape, mask) == 0)
    fail(call.op->name[0] == '_' ? call.op->name + 1 : call.op->name,
         ": cannot reduce an empty tensor without an identity (shape ", shape, ")");
}

// An empty list stands for all dims.
inline Value dims_value(const Dims& dims) { return dims.empty() ? Value() : Value(dims); }

// Expands a result or its gradient to the shape of the input: the reduced dims get size 1 and are then
// repeated.
inline Tensor with_kept_dims(const Tensor& y, const Shape& shape, uint32_t mask) {
  const Shape kept = reduced_shape(shape, mask, true);
  return y.shape() == kept ? y : reshape(y, kept);
}
inline Tensor spread(const Tensor& y, const Shape& shape, uint32_t mask) {
  return expand(with_kept_dims(y, shape, mask), shape);
}

// A composition for 16-bit numbers computes in f32, as the CPU's kernels do, so that no step overflows.
template <Operands (*compose)(const Call&)>
Operands compose_in_f32(const Call& call) {
  const DType type = call.input(0).dtype();
  if (!is_16bit_float(type)) return compose(call);
  Call upcast = call;
  upcast.in[0] = to(upcast.in[0], DType::f32);
  return {to(compose(upcast)[0], type)};
}

// Runs a reduction and writes finish(states of one result) to output 0, converted to its type.
template <class Finish>
void reduce_into(const Call& call, ReduceKind reduction, double p, int dims_at, Finish&& finish) {
  const Tensor& out = call.output();
  visit_dtype(out.dtype(), [&]<class Out>() {
    Out* to = out.data<Out>();
    reduce_floats(reduction, p, call.input(0), mask_of(call, dims_at),
                  [&](int64_t first, int64_t n, const double* s) {
                    for (int64_t i = 0; i < n; ++i) to[first + i] = convert<Out>(finish(s, i, n));
                  });
  });
}
// The same for reductions whose states may leave the range of f64 while the result does not. Where
// ordinary(state) is false, the result is again(the elements).
template <class Finish, class Ordinary, class Again>
void reduce_checked(const Call& call, ReduceKind reduction, double p, int dims_at, Finish&& finish,
                    Ordinary&& ordinary, Again&& again) {
  const Tensor &x = call.input(0), &out = call.output();
  const uint32_t mask = mask_of(call, dims_at);
  const ReducePlan plan(x.shape(), x.strides(), mask, true);
  visit_dtype(out.dtype(), [&]<class Out>() {
    Out* to = out.data<Out>();
    reduce_floats(reduction, p, x, mask, [&](int64_t first, int64_t n, const double* s) {
      for (int64_t i = 0; i < n; ++i) {
        const auto elements = [&](const auto& f) { for_elements_of(x, plan, first + i, f); };
        to[first + i] = convert<Out>(ordinary(s, i, n) ? finish(s, i, n) : again(elements));
      }
    });
  });
}
// A function object, so that calls of it are inlined.
inline constexpr auto first_state = [](const double* states, int64_t i, int64_t) { return states[i]; };

}  // namespace lunagrad
