// Running sums along one dim.
#include "runtime/cpu/copy.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

constexpr int kDimAt = 0, kExclusiveAt = 1, kReverseAt = 2;
constexpr int64_t kTogether = 8;

// Integers and bool add up in i64.
void running_shape(Call& call) {
  const Tensor& x = call.input(0);
  normalize_dim("cumsum", call.integer(kDimAt), x.shape());
  call.emit(x.shape(), is_floating(x.dtype()) ? x.dtype() : DType::i64);
}
// y_i = x_0 + … + x_i, without x_i if exclusive, from the other end if reverse; floats are added in f64.
void running_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  const Split split(with_one_dim(x.shape()), normalize_dim("cumsum", call.integer(kDimAt), x.shape()));
  const bool exclusive = call.flag(kExclusiveAt), reverse = call.flag(kReverseAt);
  copy_strided(out.raw(), out.dtype(), out.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  const auto run = [&]<class T, class Sum>() {
    for_rows(split, std::array{static_cast<const T*>(out.data<T>())}, out.data<T>(),
             [&](int64_t, const auto& in, T* to) {
               const T* from = in[0];
               const int64_t n = split.size, first = reverse ? n - 1 : 0, step = reverse ? -1 : 1;
               Sum sum = 0;
               int64_t k = 0;
               // Eight at a time, so that only one addition of eight waits for those before.
               for (; k + kTogether <= n; k += kTogether) {
                 Sum part[kTogether + 1] = {};
                 for (int64_t j = 0; j < kTogether; ++j)
                   part[j + 1] = part[j] + Sum(from[first + (k + j) * step]);
                 for (int64_t j = 0; j < kTogether; ++j)
                   to[first + (k + j) * step] = T(sum + part[exclusive ? j : j + 1]);
                 sum += part[kTogether];
               }
               for (; k < n; ++k) {
                 const Sum value = Sum(from[first + k * step]);
                 to[first + k * step] = T(exclusive ? sum : sum + value);
                 sum += value;
               }
             });
  };
  switch (out.dtype()) {
    case DType::f64:
      return run.template operator()<double, double>();
    case DType::i64:
      return run.template operator()<int64_t, int64_t>();
    default:
      return run.template operator()<float, double>();
  }
}
void running_vjp(Backward& b);
const Op kRunningSum{.name = "_cumsum",
                     .doc = "Running sums along a dim, from either end.",
                     .inputs = {{"input"}},
                     .params = {{"dim", ParamKind::dim, {}},
                                {"exclusive", ParamKind::boolean, false},
                                {"reverse", ParamKind::boolean, false}},
                     .shape = running_shape,
                     .cpu = running_cpu,
                     .vjp = running_vjp,
                     .half_through_f32 = true};
// Each element is part of the sums after it: the running sum from the other end.
void running_vjp(Backward& b) {
  b.set(0, apply1(kRunningSum, {b.grad()}, {b.integer(kDimAt), b.flag(kExclusiveAt), !b.flag(kReverseAt)}));
}

Operands cumsum_compose(const Call& call) {
  return apply(kRunningSum, call.in, {call.params[kDimAt], call.params[kExclusiveAt], false});
}
const Op kCumsum{.name = "cumsum",
                 .doc = "Running sums along a dim; exclusive ones leave out the element itself.",
                 .inputs = {{"input"}},
                 .params = {{"dim", ParamKind::dim, {}}, {"exclusive", ParamKind::boolean, false}},
                 .compose = cumsum_compose};

}  // namespace

Tensor cumsum(const Tensor& x, int dim, bool exclusive) { return apply1(kCumsum, {x}, {dim, exclusive}); }

std::span<const Op* const> scan_ops() {
  static const Op* const ops[] = {&kCumsum, &kRunningSum};
  return ops;
}

}  // namespace lunagrad
