// dropout. The mask is not stored: it is a function of the draw and the row-major position of an element, so
// the gradient computes it again.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/cpu/copy.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/random.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

// Call::args: 0 and 1 are the draw, 2 is the probability, which may change from step to step.
constexpr int kProbability = 2;
constexpr int64_t kPiece = 1024;  // elements at a time; a multiple of 4

void mask_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }

// Element i is dropped if its random word is below p 2^32, else divided by 1 - p.
void mask_cpu(const Call& call) {
  const Tensor &input = call.input(0), &out = call.output();
  const RandomDraw draw{call.args[0].u, call.args[1].u};
  const double p = call.args[kProbability].f;
  if (p == 1) {
    std::memset(out.raw(), 0, out.nbytes());
    return;
  }
  const uint32_t threshold = uint32_t(std::min(std::round(p * 0x1p32), 0x1p32 - 1));
  Tensor x = input;
  if (!x.is_contiguous()) {
    x = out;
    copy_strided(out.raw(), out.dtype(), out.strides(), input.raw(), input.dtype(), input.strides(),
                 input.shape());
  }
  const int64_t count = out.numel();
  const auto run = [&]<class T>() {
    const T* from = x.data<T>();
    T* to = out.data<T>();
    parallel_for((count + kPiece - 1) / kPiece, 32, [&](int64_t begin, int64_t end) {
      alignas(64) uint32_t words[kPiece];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * kPiece, n = std::min(kPiece, count - first);
        philox_words(draw, uint64_t(first / 4), (n + 3) / 4, words);
        drop_by_words(words, threshold, from + first, T(1 / (1 - p)), n, to + first);
      }
    });
  };
  out.dtype() == DType::f64 ? run.template operator()<double>() : run.template operator()<float>();
}

Tensor apply_mask(const Op& op, const Tensor& x, const Arguments& args) {
  Call call;
  call.op = &op;
  call.in = {x};
  call.args = args;
  run(call);
  return call.output();
}

// Linear in x: the gradient of any order applies the same mask to g.
void mask_vjp(Backward& b);
const Op kMask{.name = "_dropout",
               .doc = "The input with the elements of one draw dropped and the others scaled up.",
               .inputs = {{"input"}},
               .shape = mask_shape,
               .cpu = mask_cpu,
               .vjp = mask_vjp,
               .half_through_f32 = true,
               .family = OpFamily::elementwise,
               .flops = kOnePerResult};
void mask_vjp(Backward& b) { b.set(0, apply_mask(kMask, b.grad(), b.args())); }

Tensor drop(const Tensor& x, double p, bool training) {
  if (!(p >= 0 && p <= 1)) fail("dropout: p must lie in [0, 1] (got ", p, ")");
  if (!is_floating(x.dtype())) fail("dropout: a floating-point tensor is needed (got ", x.dtype(), ")");
  if (!training || p == 0) return x;
  const RandomDraw draw = context().generator.draw();
  Arguments args{};
  args[0].u = draw.seed;
  args[1].u = draw.stream;
  args[kProbability].f = p;
  return apply_mask(kMask, x, args);
}

Operands dropout_compose(const Call& call) { return {drop(call.input(0), call.real(0), call.flag(1))}; }
const Op kDropout{
    .name = "dropout",
    .doc = "In training, drops each element of input with probability p and divides the others by 1 - p.",
    .inputs = {{"input"}},
    .params = {{"p", ParamKind::real, 0.5}, {"training", ParamKind::boolean, true}},
    .compose = dropout_compose,
    .family = OpFamily::elementwise};

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) { return apply1(kDropout, {x}, {p, training}); }

std::span<const Op* const> dropout_ops() {
  static const Op* const ops[] = {&kDropout, &kMask};
  return ops;
}

}  // namespace lunagrad
