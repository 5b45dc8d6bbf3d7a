// Gathered elements compared or multiplied with others, so that they need no memory of their own.
#include "runtime/ops/index/gather_with.h"

#include "runtime/ops/blank.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/index/indices.h"

namespace lunagrad {
namespace {

enum class GatherUse : int64_t { equals, times };
constexpr int kUse = 1;  // parameter

bool compares(const Call& call) { return GatherUse(call.integer(kUse)) == GatherUse::equals; }

void gather_with_shape(Call& call) {
  const Tensor &x = call.input(0), &index = call.input(1), &other = call.input(2);
  need_index_type("gather", index);
  check_lanes("gather", "a tensor", with_one_dim(x.shape()), with_one_dim(index.shape()), dim_of(call));
  if (!is_floating(x.dtype()) || other.dtype() != x.dtype() || !(other.shape() == index.shape()))
    fail("gather: the other operand is ", other.dtype(), ' ', other.shape(), ", the tensor ", x.dtype(),
         ", the index ", index.shape());
  call.emit(index.shape(), x.dtype());
}
void gather_with_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), other = in_order(call.input(2));
  const Tensor& index = call.input(1);
  const Shape whole = with_one_dim(x.shape());
  const int dim = dim_of(call);
  const Indices indices("gather", index, dim, whole[dim]);
  const int64_t stride = contiguous_strides(whole)[dim];
  visit_dtype(x.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T *const from = x.data<T>(), *const with = other.data<T>();
      T* const to = call.output().data<T>();
      const auto walk = [&](auto&& use) {
        for_lanes_in_parallel(with_one_dim(index.shape()), whole, dim, [&](int64_t i, int64_t lane) {
          to[i] = use(from[lane + indices[i] * stride], with[i]);
        });
      };
      if (compares(call))
        walk([](T a, T b) { return T(a == b); });
      else
        walk([](T a, T b) { return T(a * b); });
    }
  });
}
Operands gather_with_compose(const Call& call) {
  const Tensor gathered = gather(call.input(0), dim_of(call), call.input(1)), &other = call.input(2);
  return {compares(call) ? to(eq(other, gathered), other.dtype()) : other * gathered};
}
void gather_with_vjp(Backward& b) {
  if (GatherUse(b.integer(kUse)) == GatherUse::equals) return;
  const Tensor g = b.grad();
  const int dim = dim_of(b);
  if (b.needs(0))
    b.set(0, scatter_add(blank(b.shape(0), g.dtype(), g.device()), dim, b.input(1), g * b.input(2)));
  if (b.needs(2)) b.set(2, times_gathered(b.input(0), dim, b.input(1), g));
}
const Op kGatherWith{.name = "_gather_with",
                     .doc = "other compared with, or times, the elements of input that gather gives.",
                     .inputs = {{"input"}, {"index"}, {"other"}},
                     .params = {{"dim", ParamKind::dim, {}}, {"use", ParamKind::choice, {}, {"eq", "mul"}}},
                     .shape = gather_with_shape,
                     .cpu = gather_with_cpu,
                     .vjp = gather_with_vjp,
                     .reads = {{.inputs = 6}, {}, {.inputs = 3}},
                     .compose = gather_with_compose,
                     .half_through_f32 = true,
                     .integer_inputs = 2,
                     .family = OpFamily::view,
                     .flops = kOnePerResult};

}  // namespace

Tensor equals_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other) {
  const NoGrad off;
  return apply1(kGatherWith, {x, index, other}, {dim, int64_t(GatherUse::equals)});
}
Tensor times_gathered(const Tensor& x, int dim, const Tensor& index, const Tensor& other) {
  return apply1(kGatherWith, {x, index, other}, {dim, int64_t(GatherUse::times)});
}

std::span<const Op* const> gather_with_ops() {
  static const Op* const ops[] = {&kGatherWith};
  return ops;
}

}  // namespace lunagrad
