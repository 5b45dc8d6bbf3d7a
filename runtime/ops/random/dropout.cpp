// dropout. The mask is not stored: it is a function of the draw and the row-major position of an element, so
// the gradient recomputes it. The forms that drop whole channels, or keep mean and variance of the input
// (alpha; Klambauer and others, NIPS 2017), are products with a small mask.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/random/cpu/random.h"

namespace lunagrad {
namespace {

// Call::args: 0 and 1 are the draw, 2 is the probability, which may change from step to step.
constexpr int kProbability = 2;
constexpr int64_t kDropoutPiece = 1024;  // elements at a time; a multiple of 4

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
    parallel_for((count + kDropoutPiece - 1) / kDropoutPiece, 32, [&](int64_t begin, int64_t end) {
      alignas(64) uint32_t words[kDropoutPiece];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * kDropoutPiece, n = std::min(kDropoutPiece, count - first);
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

// --- whole channels ---

void check_share(const Call& call) {
  const double p = call.real(0);
  if (!(p >= 0 && p <= 1)) fail(call.op->name, ": p must lie in [0, 1] (got ", p, ")");
  if (!is_floating(call.input(0).dtype()))
    fail(call.op->name, ": a floating-point tensor is needed (got ", call.input(0).dtype(), ")");
}
bool is_idle(const Call& call) { return !call.flag(1) || call.real(0) == 0; }

// The shape of a mask with one element for each channel: the shape of x with spatial dims of size 1. Without
// a batch the channels are dim 0.
Shape channels_of(const Tensor& x, bool batched) {
  Shape shape = x.shape();
  for (int d = batched ? 2 : 1; d < shape.size(); ++d) shape[d] = 1;
  return shape;
}

Operands drop_channels(const Call& call, bool batched) {
  check_share(call);
  const Tensor& x = call.input(0);
  if (is_idle(call)) return {x};
  return {x * drop(ones(channels_of(x, batched), x.dtype(), x.device()), call.real(0), true)};
}

template <int least, int most, int unbatched>
Operands dropout_channels_compose(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.ndim() < least || x.ndim() > most)
    fail(call.op->name, ": an input of ", least, " to ", most, " dims expected (got shape ", x.shape(), ")");
  return drop_channels(call, x.ndim() != unbatched);
}
Operands feature_dropout_compose(const Call& call) {
  if (call.input(0).ndim() < 2)
    fail("feature_dropout: an input [N, C, …] expected (got shape ", call.input(0).shape(), ")");
  return drop_channels(call, true);
}

// --- keeping mean and variance ---

// Dropped elements become -scale alpha, with SELU's scale and alpha; then a x + b restores mean 0 and
// variance 1.
Operands drop_to_negative(const Call& call, const Shape& mask_shape) {
  constexpr double kAlpha = 1.7580993408473766;
  check_share(call);
  const Tensor& x = call.input(0);
  if (is_idle(call)) return {x};
  const double p = call.real(0);
  if (p == 1) return {x * 0.0};
  const Tensor keep = to(bernoulli(full(mask_shape, 1 - p, DType::f32, x.device())), x.dtype());
  const double a = 1 / std::sqrt((kAlpha * kAlpha * p + 1) * (1 - p));
  return {x * (keep * a) + ((keep - 1.0) * (kAlpha * a) + kAlpha * a * p)};
}
Operands alpha_dropout_compose(const Call& call) { return drop_to_negative(call, call.input(0).shape()); }
Operands feature_alpha_dropout_compose(const Call& call) {
  if (call.input(0).ndim() < 2)
    fail("feature_alpha_dropout: an input [N, C, …] expected (got shape ", call.input(0).shape(), ")");
  return drop_to_negative(call, channels_of(call.input(0), true));
}

Op channel_record(const char* name, const char* doc, Operands (*compose)(const Call&), const Shape& good,
                  const char* error) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {{"input"}},
      .params = {{"p", ParamKind::real, 0.5}, {"training", ParamKind::boolean, true}},
      .compose = compose,
      .family = OpFamily::elementwise,
      .examples = {{.inputs = {{.shape = good}}, .params = {0.5, false}, .types = OpExample::Types::floating},
                   {.inputs = {{.shape = good}}, .params = {1.5, true}, .error = "must lie in [0, 1]"},
                   {.inputs = {{.shape = {3}}}, .error = error}}};
}
constexpr const char* kChannelDoc =
    "In training, drops each channel of input with probability p and divides the others by 1 - p.";
const Op kDropout1d = channel_record("dropout1d", kChannelDoc, dropout_channels_compose<2, 3, 2>, {2, 3, 4},
                                     "an input of 2 to 3 dims");
const Op kDropout2d = channel_record("dropout2d", kChannelDoc, dropout_channels_compose<2, 4, 0>,
                                     {2, 3, 2, 2}, "an input of 2 to 4 dims");
const Op kDropout3d = channel_record("dropout3d", kChannelDoc, dropout_channels_compose<4, 5, 4>,
                                     {2, 2, 2, 2, 2}, "an input of 4 to 5 dims");
const Op kFeatureDropout = channel_record("feature_dropout", kChannelDoc, feature_dropout_compose, {2, 3, 4},
                                          "an input [N, C, …] expected");
const Op kFeatureAlphaDropout = channel_record(
    "feature_alpha_dropout",
    "In training, sets each channel of input with probability p to SELU's limit and rescales all so "
    "that mean and variance stay.",
    feature_alpha_dropout_compose, {2, 3, 4}, "an input [N, C, …] expected");
const Op kAlphaDropout{
    .name = "alpha_dropout",
    .doc =
        "In training, sets each element of input with probability p to SELU's limit and rescales all so that "
        "mean and variance stay.",
    .inputs = {{"input"}},
    .params = {{"p", ParamKind::real, 0.5}, {"training", ParamKind::boolean, false}},
    .compose = alpha_dropout_compose,
    .family = OpFamily::elementwise,
    .examples = {{.inputs = {{.shape = {2, 3}}}, .params = {0.5, false}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {2}}}, .params = {-0.5, true}, .error = "must lie in [0, 1]"}}};

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) { return apply1(kDropout, {x}, {p, training}); }

std::span<const Op* const> dropout_ops() {
  static const Op* const ops[] = {&kDropout,      &kDropout1d,           &kDropout2d,      &kDropout3d,
                                  &kAlphaDropout, &kFeatureAlphaDropout, &kFeatureDropout, &kMask};
  return ops;
}

}  // namespace lunagrad
