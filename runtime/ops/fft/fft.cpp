// Discrete Fourier transforms, lg.fft: the sizes, the scale and the dims of the transforms along one dim
// (fft_along.cpp), and the helpers of spectra.
#include <algorithm>
#include <cmath>

#include "runtime/core/default_dtype.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/families.h"
#include "runtime/ops/fft/fft_along.h"
#include "runtime/ops/shape/creation.h"

namespace lunagrad {
namespace {

// --- arguments of the public ops ---

enum class Norm : uint8_t { backward, ortho, forward };
const ParamSpec kNorm{"norm", ParamKind::choice, 0, {"backward", "ortho", "forward"}};
const ParamSpec kLength{.name = "n", .kind = ParamKind::integer, .optional = true};
const ParamSpec kSizes{.name = "s", .kind = ParamKind::integers, .optional = true};

double scale_of(Norm norm, bool inverse, double count) {
  switch (norm) {
    case Norm::ortho:
      return 1 / std::sqrt(count);
    case Norm::forward:
      return inverse ? 1 : 1 / count;
    default:
      return inverse ? 1 / count : 1;
  }
}

// 16-bit numbers are computed in f32, integers in the default type.
Tensor as_computed(const Tensor& x) {
  if (is_16bit_float(x.dtype())) return to(x, DType::f32);
  return is_differentiable(x.dtype()) ? x : to(x, accumulate_type(default_dtype()));
}
Tensor as_complex(const Tensor& given) {
  const Tensor x = as_computed(given);
  return is_complex(x.dtype()) ? x : to(x, complex_type(x.dtype()));
}
Tensor as_real(const char* op, const Tensor& x) {
  if (is_complex(x.dtype())) fail(op, ": a real input is needed (got ", x.dtype(), ")");
  return as_computed(x);
}

// The dims that a call transforms and the lengths along them; -1 is the size of the input. With `half` the
// last dim holds half a spectrum, whose default length is 2 (size - 1).
struct Axes {
  Dims dims, lengths;
  double count() const {
    double product = 1;
    for (const int64_t n : lengths) product *= double(n);
    return product;
  }
};

void set_lengths(Axes& axes, const char* op, const Tensor& x, const char* name, bool half) {
  for (int i = 0; i < axes.dims.size(); ++i) {
    const int64_t size = x.size(int(axes.dims[i]));
    const bool given = axes.lengths[i] != -1, from_half = half && i == axes.dims.size() - 1;
    int64_t& n = axes.lengths[i];
    if (!given) n = from_half ? 2 * (size - 1) : size;
    if (n >= 1) {
      if (n > INT64_MAX / 16) fail(op, ": ", name, " = ", n, " is too large");
      continue;
    }
    if (given) fail(op, ": ", name, " must be at least 1 (got ", n, ")");
    fail(op, ": dim ", axes.dims[i] + 1, " of shape ", x.shape(), " is too short; give ", name);
  }
}

Axes one_axis(const Call& call, const Tensor& x, bool half = false) {
  const char* const op = call.op->name;
  if (x.ndim() == 0) fail(op, ": a tensor of at least 1 dim is needed (got a 0-d tensor)");
  const int64_t n = call.params[0].present() ? call.integer(0) : -1;
  Axes axes{{normalize_dim(op, call.integer(1), x.shape())}, {n}};
  if (call.params[0].present() && n < 1) fail(op, ": n must be at least 1 (got ", n, ")");
  set_lengths(axes, op, x, "n", half);
  return axes;
}

Axes many_axes(const Call& call, const Tensor& x, bool half, bool needs_one) {
  const char* const op = call.op->name;
  const bool has_sizes = call.params[0].present(), has_dims = call.params[1].present();
  Axes axes;
  if (has_dims) {
    axes.dims = call.list(1);
  } else {
    const int count = has_sizes ? call.list(0).size() : x.ndim();
    if (count > x.ndim()) fail(op, ": ", count, " sizes in s for shape ", x.shape());
    for (int i = 0; i < count; ++i) axes.dims.push_back(x.ndim() - count + i);
  }
  if (has_sizes && call.list(0).size() != axes.dims.size())
    fail(op, ": s and dim must have equally many numbers (got ", call.list(0).size(), " and ",
         axes.dims.size(), ")");
  if (needs_one && axes.dims.empty()) fail(op, ": at least one dim must be transformed");
  if (x.ndim() == 0 && !axes.dims.empty())
    fail(op, ": a tensor of at least 1 dim is needed (got a 0-d tensor)");
  uint32_t seen = 0;
  for (int i = 0; i < axes.dims.size(); ++i) {
    int64_t& dim = axes.dims[i];
    dim = normalize_dim(op, dim, x.shape());
    if (seen >> dim & 1) fail(op, ": dim ", dim + 1, " is given twice");
    seen |= 1u << dim;
  }
  axes.lengths = has_sizes ? call.list(0) : Dims(axes.dims.size(), -1);
  set_lengths(axes, op, x, "s", half);
  return axes;
}

Norm norm_of(const Call& call) { return Norm(call.integer(2)); }

// Complex transforms along axes [0, count). The scale is applied along the last of them.
Tensor transform(Tensor x, const Axes& axes, int count, bool inverse, double scale) {
  for (int i = 0; i < count; ++i) x = fit_dim(x, int(axes.dims[i]), axes.lengths[i]);
  for (int i = 0; i < count; ++i) x = fft_along(x, int(axes.dims[i]), inverse, i == count - 1 ? scale : 1.0);
  return x;
}
Tensor transform_real(const Tensor& x, const Axes& axes, double scale) {
  const int last = axes.dims.size() - 1, dim = int(axes.dims[last]);
  const Tensor half = rfft_along(fit_dim(x, dim, axes.lengths[last]), dim, scale);
  return transform(half, axes, last, false, 1.0);
}
Tensor transform_to_real(const Tensor& x, const Axes& axes, double scale) {
  const int last = axes.dims.size() - 1, dim = int(axes.dims[last]);
  const int64_t n = axes.lengths[last];
  return irfft_along(transform(fit_dim(x, dim, n / 2 + 1), axes, last, true, 1.0), dim, n, scale);
}

// --- the public ops ---

template <bool inverse>
Operands fft_compose(const Call& call) {
  const Tensor x = as_complex(call.input(0));
  const Axes axes = one_axis(call, x);
  return {transform(x, axes, 1, inverse, scale_of(norm_of(call), inverse, axes.count()))};
}
template <bool inverse>
Operands fftn_compose(const Call& call) {
  const Tensor x = as_complex(call.input(0));
  const Axes axes = many_axes(call, x, false, false);
  const Tensor y =
      transform(x, axes, axes.dims.size(), inverse, scale_of(norm_of(call), inverse, axes.count()));
  return {y.same(call.input(0)) ? clone(y) : y};
}
Operands rfft_compose(const Call& call) {
  const Tensor x = as_real(call.op->name, call.input(0));
  const Axes axes = one_axis(call, x);
  return {transform_real(x, axes, scale_of(norm_of(call), false, axes.count()))};
}
Operands rfftn_compose(const Call& call) {
  const Tensor x = as_real(call.op->name, call.input(0));
  const Axes axes = many_axes(call, x, false, true);
  return {transform_real(x, axes, scale_of(norm_of(call), false, axes.count()))};
}
Operands irfft_compose(const Call& call) {
  const Tensor x = as_complex(call.input(0));
  const Axes axes = one_axis(call, x, true);
  return {transform_to_real(x, axes, scale_of(norm_of(call), true, axes.count()))};
}
Operands irfftn_compose(const Call& call) {
  const Tensor x = as_complex(call.input(0));
  const Axes axes = many_axes(call, x, true, true);
  return {transform_to_real(x, axes, scale_of(norm_of(call), true, axes.count()))};
}
Operands hfft_compose(const Call& call) {
  const Tensor x = as_complex(call.input(0));
  const Axes axes = one_axis(call, x, true);
  return {transform_to_real(conj(x), axes, scale_of(norm_of(call), false, axes.count()))};
}
Operands ihfft_compose(const Call& call) {
  const Tensor x = as_real(call.op->name, call.input(0));
  const Axes axes = one_axis(call, x);
  return {conj(transform_real(x, axes, scale_of(norm_of(call), true, axes.count())))};
}

using Compose = Operands (*)(const Call&);

std::vector<OpExample> one_dim_examples(bool real, const char* refusal) {
  using Kind = ExampleOperand::Kind;
  const Kind kind = real ? Kind::real : Kind::complex;
  std::vector<OpExample> examples{{{{{2, 6}, -2, 2, kind}}},
                                  {{{{2, 5}, -2, 2, kind}}, {int64_t(7), 0, 1}},
                                  {{{{4, 3}, -2, 2, kind}}, {int64_t(3), -2, 2}},
                                  {{{{17}, -2, 2, kind}}},
                                  {{{{2, 6}, -2, 2, kind}}, {int64_t(0)}, "n must be at least 1 (got 0)"}};
  if (refusal) examples.push_back({{{{4}, -2, 2, Kind::complex}}, {}, refusal});
  return examples;
}
std::vector<OpExample> many_dim_examples(bool real, bool all_dims) {
  using Kind = ExampleOperand::Kind;
  const Kind kind = real ? Kind::real : Kind::complex;
  std::vector<OpExample> examples{
      {{{{2, 3, 4}, -2, 2, kind}}},
      {{{{2, 3, 4}, -2, 2, kind}}, {Dims{4, 5}, Dims{0, 2}, 1}},
      {{{{3, 4}, -2, 2, kind}}, {Dims{4, 4}, Dims{0, 0}}, "dim 1 is given twice"},
      {{{{3, 4}, -2, 2, kind}}, {Dims{4}, Dims{0, 1}}, "s and dim must have equally many numbers"}};
  if (all_dims) examples.push_back({{{{2, 3, 4}, -2, 2, kind}}, {Dims{3, 4}, Value(), 2}});
  return examples;
}

Op one_dim(const char* name, const char* doc, Compose compose, bool real = false) {
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kLength, {"dim", ParamKind::dim, -1}, kNorm},
          .compose = compose,
          .family = OpFamily::linear_algebra,
          .examples = one_dim_examples(real, real ? "a real input is needed (got c" : nullptr)};
}
Op many_dims(const char* name, const char* doc, Compose compose, bool two, bool real = false) {
  const ParamSpec dims = two ? ParamSpec{"dim", ParamKind::dims, Dims{-2, -1}}
                             : ParamSpec{.name = "dim", .kind = ParamKind::dims, .optional = true};
  return {.name = name,
          .doc = doc,
          .inputs = {{"input"}},
          .params = {kSizes, dims, kNorm},
          .compose = compose,
          .family = OpFamily::linear_algebra,
          .examples = many_dim_examples(real, !two)};
}

const Op kPublic[] = {
    one_dim("fft.fft", "The Fourier transform of input along dim, cut or filled with zeros to n elements.",
            fft_compose<false>),
    one_dim("fft.ifft", "The inverse Fourier transform of input along dim.", fft_compose<true>),
    one_dim("fft.rfft", "The first n / 2 + 1 elements of the Fourier transform of a real input along dim.",
            rfft_compose, true),
    one_dim(
        "fft.irfft",
        "The inverse of rfft: n real elements, 2 (size - 1) unless given, from half a spectrum along dim.",
        irfft_compose),
    one_dim("fft.hfft",
            "The real Fourier transform of a Hermitian signal, of which input is half, along dim.",
            hfft_compose),
    one_dim("fft.ihfft", "The inverse of hfft: half of a Hermitian signal from its real transform.",
            ihfft_compose, true),
    many_dims("fft.fft2", "The Fourier transform along two dims, cut or filled with zeros to the sizes s.",
              fftn_compose<false>, true),
    many_dims("fft.ifft2", "The inverse Fourier transform along two dims.", fftn_compose<true>, true),
    many_dims("fft.rfft2", "The Fourier transform of a real input along two dims, half of the last one.",
              rfftn_compose, true, true),
    many_dims("fft.irfft2", "The inverse of rfft2.", irfftn_compose, true),
    many_dims("fft.fftn",
              "The Fourier transform along dims (all, or as many of the last ones as there are sizes in s).",
              fftn_compose<false>, false),
    many_dims("fft.ifftn", "The inverse Fourier transform along dims.", fftn_compose<true>, false),
    many_dims("fft.rfftn", "The Fourier transform of a real input along dims, half of the last one.",
              rfftn_compose, false, true),
    many_dims("fft.irfftn", "The inverse of rfftn.", irfftn_compose, false)};

// --- helpers ---

// The first `count` frequencies k / (n d) of a transform of n samples at distance d. From index `turn` on
// they are negative. They are computed on the CPU for any device.
Operands frequencies(const Call& call, int64_t count, int64_t turn) {
  const int64_t n = call.integer(0);
  const DType type = dtype_or(call.params[2], default_dtype());
  if (!is_floating(type)) fail(call.op->name, ": a floating type is needed (got ", type, ")");
  const double step = 1 / (double(n) * call.real(1));
  const Tensor made = Tensor::empty({count}, type);
  visit_dtype(type, [&]<class T>() {
    T* const to = made.data<T>();
    parallel_for(count, 1 << 16, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) to[k] = convert<T>(double(k < turn ? k : k - n) * step);
    });
  });
  return {to(made, *context().device)};
}
int64_t checked_count(const Call& call) {
  if (call.integer(0) < 1) fail(call.op->name, ": n must be at least 1 (got ", call.integer(0), ")");
  if (call.real(1) == 0) fail(call.op->name, ": d must not be 0");
  return call.integer(0);
}
Operands fftfreq_compose(const Call& call) {
  const int64_t n = checked_count(call);
  return frequencies(call, n, n - n / 2);
}
Operands rfftfreq_compose(const Call& call) {
  const int64_t count = checked_count(call) / 2 + 1;
  return frequencies(call, count, count);
}
const Op kFftfreq{.name = "fft.fftfreq",
                  .doc = "The frequencies of the n elements of a transform of samples at distance d.",
                  .inputs = {},
                  .params = {{"n", ParamKind::integer, {}}, {"d", ParamKind::real, 1.0}, kDType},
                  .compose = fftfreq_compose,
                  .family = OpFamily::other,
                  .examples = {{{}, {5}}, {{}, {4, 0.5}}, {{}, {0}, "n must be at least 1 (got 0)"}}};
const Op kRfftfreq{.name = "fft.rfftfreq",
                   .doc = "The frequencies of the n / 2 + 1 elements of rfft of samples at distance d.",
                   .inputs = {},
                   .params = {{"n", ParamKind::integer, {}}, {"d", ParamKind::real, 1.0}, kDType},
                   .compose = rfftfreq_compose,
                   .family = OpFamily::other,
                   .examples = {{{}, {5}}, {{}, {4, 0.5}}, {{}, {4, 0.0}, "d must not be 0"}}};

// Rotates each dim by half its size.
template <bool back>
Operands shift_compose(const Call& call) {
  const Tensor& x = call.input(0);
  Dims dims, shifts;
  if (call.params[0].present()) dims = call.list(0);
  for (int d = 0; !call.params[0].present() && d < x.ndim(); ++d) dims.push_back(d);
  if (dims.empty()) return {clone(x)};
  for (int i = 0; i < dims.size(); ++i) {
    int64_t& dim = dims[i];
    dim = normalize_dim(call.op->name, dim, x.shape());
    const int64_t size = x.ndim() == 0 ? 1 : x.size(int(dim));
    shifts.push_back(back ? (size + 1) / 2 : size / 2);
  }
  return {x.ndim() == 0 ? clone(x) : roll(x, shifts, dims)};
}
const std::vector<OpExample> kShiftExamples{
    {{{{2, 5}}}}, {{{{4, 3}}}, {Dims{1}}}, {{{{2, 3}}}, {Dims{2}}, "dim"}};
const ParamSpec kShiftDims{.name = "dim", .kind = ParamKind::dims, .optional = true};
const Op kFftshift{
    .name = "fft.fftshift",
    .doc = "Moves the frequency 0 of a spectrum from the start to the middle of dim (all dims).",
    .inputs = {{"input"}},
    .params = {kShiftDims},
    .compose = shift_compose<false>,
    .family = OpFamily::view,
    .examples = kShiftExamples};
const Op kIfftshift{.name = "fft.ifftshift",
                    .doc = "The inverse of fftshift.",
                    .inputs = {{"input"}},
                    .params = {kShiftDims},
                    .compose = shift_compose<true>,
                    .family = OpFamily::view,
                    .examples = kShiftExamples};

}  // namespace

std::span<const Op* const> fft_ops() {
  static const std::vector<const Op*> ops = [] {
    std::vector<const Op*> list;
    for (const Op& op : kPublic) list.push_back(&op);
    for (const Op* op : {&kFftfreq, &kRfftfreq, &kFftshift, &kIfftshift}) list.push_back(op);
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
