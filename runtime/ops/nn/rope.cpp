// Rotary position embedding: Su, Lu, Pan, Murtadha, Wen, Liu, "RoFormer", 2021. At position t the i-th pair
// (a, b) of features of a row becomes (a cos - b sin, b cos + a sin) with the cosine and sine at [t, i]. The
// gradient is the inverse rotation.
#include "runtime/ops/nn/cpu/rope.h"

#include <algorithm>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

constexpr int64_t kRopeGrain = 8192;  // elements

void rope_shape(Call& call) {
  const Tensor &x = call.input(0), &cos = call.input(1), &sin = call.input(2);
  require_floating(call);
  if (x.ndim() < 2) fail("rope: the input must be [..., T, D] (got shape ", x.shape(), ")");
  if (!(cos.shape() == sin.shape()))
    fail("rope: cos has shape ", cos.shape(), " and sin ", sin.shape(), "; they must be the same");
  if (cos.ndim() != 2 || cos.size(0) != x.size(-2) || 2 * cos.size(1) > x.size(-1))
    fail("rope: an input of shape ", x.shape(), " needs cos and sin of shape [", x.size(-2), ", at most ",
         x.size(-1) / 2, "] (got ", cos.shape(), ")");
  call.emit(x.shape(), x.dtype());
}

// The offset of row `row` of x; rows are counted in row-major order.
int64_t start_of(const Tensor& x, int64_t row) {
  int64_t start = 0;
  for (int d = x.ndim() - 2; d >= 0; --d) {
    start += row % x.size(d) * x.strides()[d];
    row /= x.size(d);
  }
  return start;
}

void rope_cpu(const Call& call) {
  const Tensor x = call.input(0).strides().back() == 1 ? call.input(0) : in_order(call.input(0));
  const Tensor cos = in_order(call.input(1)), sin = in_order(call.input(2));
  const int64_t positions = x.size(-2), features = x.size(-1), n = cos.size(1), rows = x.numel() / features;
  const auto run = [&]<class T>() {
    parallel_for(rows, iterations_in(kRopeGrain, features), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* const from = x.data<T>() + start_of(x, row);
        T* const to = call.output().data<T>() + row * features;
        const int64_t angles = row % positions * n;
        rope_row(call.flag(0), n, from, cos.data<T>() + angles, sin.data<T>() + angles, to);
        std::copy(from + 2 * n, from + features, to + 2 * n);
      }
    });
  };
  x.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

// The first and the second features of the pairs.
std::pair<Tensor, Tensor> pairs_of(const Tensor& x, int64_t n, bool interleaved) {
  if (interleaved) return {slice(x, -1, 0, 2 * n, 2), slice(x, -1, 1, 2 * n, 2)};
  return {narrow(x, -1, 0, n), narrow(x, -1, n, n)};
}

void rope_vjp(Backward& b) {
  const Tensor g = b.grad();
  if (b.needs(0)) b.set(0, rope(g, b.input(1), -b.input(2), b.flag(0)));
  if (!b.needs(1) && !b.needs(2)) return;
  const int64_t n = b.shape(1)[1];
  const auto [a, c] = pairs_of(b.input(0), n, b.flag(0));
  const auto [ga, gc] = pairs_of(g, n, b.flag(0));
  if (b.needs(1)) b.set(1, ga * a + gc * c);
  if (b.needs(2)) b.set(2, gc * a - ga * c);
}

double rope_flops(const Call& call) {
  const double turned = 2 * double(call.input(1).size(1)) / std::max(1.0, double(call.input(0).size(-1)));
  return 3 * elements(call.in[0]) * turned;
}

const Op kRope{.name = "rope",
               .doc =
                   "Rotary position embedding: rotates pairs of features of the last dim by angles given as "
                   "cos and sin.",
               .inputs = {{"input"}, {"cos"}, {"sin"}},
               .params = {{"interleaved", ParamKind::boolean, false}},
               .shape = rope_shape,
               .cpu = rope_cpu,
               .vjp = rope_vjp,
               .reads = {{.inputs = 6}, {.inputs = 1}},
               .half_through_f32 = true,
               .family = OpFamily::elementwise,
               .flops = {rope_flops, "3 for each feature that is turned: 4 products and 2 sums for a pair"}};

}  // namespace

Tensor rope(const Tensor& x, const Tensor& cos, const Tensor& sin, bool interleaved) {
  return apply1(kRope, {x, cos, sin}, {interleaved});
}

std::span<const Op* const> rope_ops() {
  static constexpr const Op* ops[] = {&kRope};
  return ops;
}

}  // namespace lunagrad
