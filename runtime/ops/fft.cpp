// Discrete Fourier transforms, lg.fft. Three hidden records compute along one dim: complex to complex, real to
// half a spectrum, and back. The public ops fit the sizes, choose the scale and call them for each dim. A
// transform is a symmetric matrix, so its gradient is the same transform of the gradient.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "runtime/cpu/fft.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/creation.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/fft_geometry.h"

namespace lunagrad {
namespace {

double log2_of(double n) { return n > 1 ? std::log2(n) : 0; }

// --- along one dim ---

// Calls f<T>() with the real type of the elements.
template <class F>
void with_part_type(DType type, F&& f) {
  part_type(type) == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

Shape with_last(Shape shape, int dim, int64_t n) {
  shape.erase(dim);
  shape.push_back(n);
  return shape;
}
// Strides of a tensor with dim `dim` moved to the end.
Strides with_last_stride(const Strides& strides, int dim) { return with_last(strides, dim, strides[dim]); }

// The CPU tensor with dim `dim` moved to the end, contiguous.
Tensor rows_of(const Tensor& x, int dim) {
  if (dim == x.ndim() - 1) return in_order(x);
  Tensor rows = Tensor::empty(with_last(x.shape(), dim, x.size(dim)), x.dtype());
  copy_strided(rows.raw(), rows.dtype(), rows.strides(), x.raw(), x.dtype(),
               with_last_stride(x.strides(), dim), rows.shape());
  return rows;
}
// Where to write the rows of the result: `out` itself if the dim is the last one.
Tensor rows_for(const Tensor& out, int dim) {
  if (dim == out.ndim() - 1) return out;
  return Tensor::empty(with_last(out.shape(), dim, out.size(dim)), out.dtype());
}
void copy_back(const Tensor& rows, const Tensor& out, int dim) {
  if (rows.same(out)) return;
  copy_strided(out.raw(), out.dtype(), with_last_stride(out.strides(), dim), rows.raw(), rows.dtype(),
               rows.strides(), rows.shape());
}

// x with dim `dim` cut to n elements, or filled up to n with zeros.
Tensor fit(const Tensor& x, int dim, int64_t n) {
  const int64_t size = x.size(dim);
  if (size == n) return x;
  if (size > n) return narrow(x, dim, 0, n);
  Shape rest = x.shape();
  rest[dim] = n - size;
  return cat({x, zeros(rest, x.dtype(), x.device())}, dim);
}

constexpr int kDimAt = 0;  // of all three

double complex_flops(const Call& call) {
  return 5 * double(call.in[0].numel()) * log2_of(double(call.in[0].size(int(call.integer(kDimAt)))));
}

void fft_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }
void fft_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int dim = int(call.integer(kDimAt));
  const bool inverse = call.flag(1);
  const double scale = call.real(2);
  if (out.numel() == 0) return;
  const Split split(out.shape(), dim);
  with_part_type(out.dtype(), [&]<class T>() {
    const auto numbers = [](const Tensor& z) { return static_cast<T*>(z.raw()); };
    if (split.inner > 1) {
      const Tensor x = in_order(call.input(0));
      if (fft_columns<T>(numbers(x), numbers(out), split.outer, split.size, split.inner, inverse, scale)) return;
    }
    const Tensor x = rows_of(call.input(0), dim), y = rows_for(out, dim);
    fft_rows<T>(numbers(x), 2 * split.size, numbers(y), 2 * split.size, split.outer * split.inner, split.size,
                inverse, scale);
    copy_back(y, out, dim);
  });
}
// Whether a device that has a kernel for lengths with small factors alone computes this one by convolution.
bool fft_by_convolution(const Call& call) {
  const Tensor& x = call.input(0);
  if (x.device().is_cpu() || x.numel() == 0) return false;
  const int64_t n = x.size(int(call.integer(kDimAt)));
  return fft_side(n) == 0 && fft_convolution_length(n) > 0;
}
Operands fft_convolution(const Call&);
void fft_vjp(Backward&);
const Op kFft{.name = "_fft",
              .doc = "The Fourier transform of complex numbers along a dim, times scale.",
              .inputs = {{"input"}},
              .params = {{"dim", ParamKind::dim, {}},
                         {"inverse", ParamKind::boolean, false},
                         {"scale", ParamKind::real, 1.0}},
              .shape = fft_shape,
              .cpu = fft_cpu,
              .vjp = fft_vjp,
              .compose = fft_convolution,
              .composed = fft_by_convolution,
              .complex = true,
              .family = OpFamily::linear_algebra,
              .flops = {complex_flops, "5 n log2 n for each transform of length n"}};
// The transform of a contiguous operand, which kernels of other devices need.
Tensor along(const Tensor& x, const Value& dim, bool inverse, double scale) {
  return apply1(kFft, {x.device().is_cpu() ? x : contiguous(x)}, {dim, inverse, scale});
}
void fft_vjp(Backward& b) {
  b.set(0, along(b.grad(), b.integer(kDimAt), b.flag(1), b.real(2)));
}

// Bluestein's convolution, as in cpu/fft_plan.cpp, in transforms whose length is a power of two. The chirp and the
// spectrum of the filter are computed on the CPU.
Operands fft_convolution(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = int(call.integer(kDimAt));
  const int64_t n = x.size(dim), whole = fft_convolution_length(n);
  const double sign = call.flag(1) ? 1 : -1;
  using Number = std::complex<double>;
  std::vector<Number> chirp(static_cast<size_t>(n)), filter(static_cast<size_t>(whole));
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const double angle = std::numbers::pi * double(k * k % (2 * n)) / double(n);
      chirp[size_t(k)] = {std::cos(angle), sign * std::sin(angle)};
      filter[size_t(k)] = filter[size_t((whole - k) % whole)] = std::conj(chirp[size_t(k)]);
    }
  });
  Shape shape(x.ndim(), 1);
  const auto constant = [&](const Tensor& numbers) {
    shape[dim] = numbers.numel();
    return to(to(reshape(numbers, shape), x.dtype()), x.device());
  };
  const Tensor turns = constant(Tensor::from<Number>(chirp, {n}));
  const Tensor spectrum = constant(along(Tensor::from<Number>(filter, {whole}), 0, false, 1.0));
  const Tensor product = along(fit(x * turns, dim, whole), dim, false, 1.0) * spectrum;
  const Tensor y = narrow(along(product, dim, true, call.real(2) / double(whole)), dim, 0, n);
  return {y * turns};
}

void rfft_shape(Call& call) {
  const Tensor& x = call.input(0);
  Shape shape = x.shape();
  int64_t& n = shape[int(call.integer(kDimAt))];
  n = n / 2 + 1;
  call.emit(shape, complex_type(x.dtype()));
}
void rfft_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int dim = int(call.integer(kDimAt));
  const double scale = call.real(1);
  if (out.numel() == 0) return;
  const Tensor x = rows_of(call.input(0), dim), y = rows_for(out, dim);
  const int64_t n = x.size(-1), m = y.size(-1);
  with_part_type(out.dtype(), [&]<class T>() {
    rfft_rows<T>(static_cast<const T*>(x.raw()), n, static_cast<T*>(y.raw()), 2 * m, y.numel() / m, n, scale);
  });
  copy_back(y, out, dim);
}
double rfft_flops(const Call& call) {
  return 2.5 * double(call.in[0].numel()) * log2_of(double(call.in[0].size(int(call.integer(kDimAt)))));
}
// Half of the complex transform.
Operands rfft_whole(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = int(call.integer(kDimAt));
  const Tensor y = along(to(x, complex_type(x.dtype())), dim, false, call.real(1));
  return {contiguous(narrow(y, dim, 0, x.size(dim) / 2 + 1))};
}
void rfft_vjp(Backward&);
const Op kRfft{.name = "_rfft",
               .doc = "The first half of the Fourier transform of real numbers along a dim, times scale.",
               .inputs = {{"input"}},
               .params = {{"dim", ParamKind::dim, {}}, {"scale", ParamKind::real, 1.0}},
               .shape = rfft_shape,
               .cpu = rfft_cpu,
               .vjp = rfft_vjp,
               .compose = rfft_whole,
               .family = OpFamily::linear_algebra,
               .flops = {rfft_flops, "2.5 n log2 n for each transform of length n"}};

void irfft_shape(Call& call) {
  const Tensor& x = call.input(0);
  Shape shape = x.shape();
  shape[int(call.integer(kDimAt))] = call.integer(1);
  call.emit(shape, part_type(x.dtype()));
}
void irfft_cpu(const Call& call) {
  const Tensor& out = call.output();
  const int dim = int(call.integer(kDimAt));
  const double scale = call.real(2);
  if (out.numel() == 0) return;
  const Tensor x = rows_of(call.input(0), dim), y = rows_for(out, dim);
  const int64_t n = y.size(-1), m = x.size(-1);
  with_part_type(out.dtype(), [&]<class T>() {
    irfft_rows<T>(static_cast<const T*>(x.raw()), 2 * m, static_cast<T*>(y.raw()), n, y.numel() / n, n, scale);
  });
  copy_back(y, out, dim);
}
double irfft_flops(const Call& call) {
  return 2.5 * double(call.out[0].numel()) * log2_of(double(call.integer(1)));
}
// The complex transform of the whole spectrum; the parts that must be 0 are dropped with the imaginary part.
Operands irfft_whole(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = int(call.integer(kDimAt));
  const int64_t n = call.integer(1);
  Tensor whole = x;
  if (n > 2) whole = cat({x, flip(conj(narrow(x, dim, 1, (n - 1) / 2)), {dim})}, dim);
  return {contiguous(real(along(whole, dim, true, call.real(2))))};
}
void irfft_vjp(Backward&);
const Op kIrfft{.name = "_irfft",
                .doc = "n real numbers from the first n / 2 + 1 numbers of their spectrum, times scale.",
                .inputs = {{"input"}},
                .params = {{"dim", ParamKind::dim, {}},
                           {"n", ParamKind::integer, {}},
                           {"scale", ParamKind::real, 1.0}},
                .shape = irfft_shape,
                .cpu = irfft_cpu,
                .vjp = irfft_vjp,
                .compose = irfft_whole,
                .complex = true,
                .family = OpFamily::linear_algebra,
                .flops = {irfft_flops, "2.5 n log2 n for each transform of length n"}};

// x with the numbers of half a spectrum that stand for two of the whole one multiplied by `factor`: all but the
// first and, of an even length n, the last.
Tensor weigh_pairs(const Tensor& x, int dim, int64_t n, double factor) {
  Shape shape(x.ndim(), 1);
  const DType type = part_type(x.dtype());
  const auto run_of = [&](int64_t count, double value) {
    shape[dim] = count;
    return full(shape, value, type, x.device());
  };
  TensorList weights{run_of(1, 1.0)};
  if (n > 2) weights.push_back(run_of((n - 1) / 2, factor));
  if (n > 1 && n % 2 == 0) weights.push_back(run_of(1, 1.0));
  return x * cat(weights, dim);
}

// The gradient of the real x_j is the real part of the sum of g_k exp(-2 pi i j k / n) over half a spectrum. As
// an inverse transform, which counts pairs twice, that is one of conj g.
void rfft_vjp(Backward& b) {
  const int dim = int(b.integer(kDimAt));
  const int64_t n = b.shape(0)[dim];
  b.set(0, apply1(kIrfft, {weigh_pairs(conj(b.grad()), dim, n, 0.5)}, {dim, n, b.real(1)}));
}
void irfft_vjp(Backward& b) {
  const int dim = int(b.integer(kDimAt));
  b.set(0, conj(weigh_pairs(apply1(kRfft, {b.grad()}, {dim, b.real(2)}), dim, b.integer(1), 2.0)));
}

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

// Integers and 16-bit numbers are computed in f32.
Tensor as_computed(const Tensor& x) {
  const DType type = x.dtype();
  return is_complex(type) || type == DType::f64 || type == DType::f32 ? x : to(x, DType::f32);
}
Tensor as_complex(const Tensor& given) {
  const Tensor x = as_computed(given);
  return is_complex(x.dtype()) ? x : to(x, complex_type(x.dtype()));
}
Tensor as_real(const char* op, const Tensor& x) {
  if (is_complex(x.dtype())) fail(op, ": a real input is needed (got ", x.dtype(), ")");
  return as_computed(x);
}

// The dims that a call transforms and the lengths along them; -1 is the size of the input. `half`: the last
// one is half a spectrum, whose default length is 2 (size - 1).
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
  for (int i = 0; i < count; ++i) x = fit(x, int(axes.dims[i]), axes.lengths[i]);
  for (int i = 0; i < count; ++i)
    x = along(x, axes.dims[i], inverse, i == count - 1 ? scale : 1.0);
  return x;
}
Tensor transform_real(const Tensor& x, const Axes& axes, double scale) {
  const int last = axes.dims.size() - 1, dim = int(axes.dims[last]);
  const Tensor half = apply1(kRfft, {fit(x, dim, axes.lengths[last])}, {dim, scale});
  return transform(half, axes, last, false, 1.0);
}
Tensor transform_to_real(const Tensor& x, const Axes& axes, double scale) {
  const int last = axes.dims.size() - 1, dim = int(axes.dims[last]);
  const int64_t n = axes.lengths[last];
  return apply1(kIrfft, {transform(fit(x, dim, n / 2 + 1), axes, last, true, 1.0)}, {dim, n, scale});
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
    one_dim("fft.irfft",
            "The inverse of rfft: n real elements, 2 (size - 1) unless given, from half a spectrum along dim.",
            irfft_compose),
    one_dim("fft.hfft", "The real Fourier transform of a Hermitian signal, of which input is half, along dim.",
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

// The first `count` frequencies k / (n d) of a transform of n samples at distance d; from `turn` on negative ones.
// They are computed on the CPU for any device.
Operands frequencies(const Call& call, int64_t count, int64_t turn) {
  const int64_t n = call.integer(0);
  const DType type = dtype_or(call.params[2], DType::f32);
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
const std::vector<OpExample> kShiftExamples{{{{{2, 5}}}},
                                            {{{{4, 3}}}, {Dims{1}}},
                                            {{{{2, 3}}}, {Dims{2}}, "dim"}};
const ParamSpec kShiftDims{.name = "dim", .kind = ParamKind::dims, .optional = true};
const Op kFftshift{.name = "fft.fftshift",
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
    std::vector<const Op*> list{&kFft, &kRfft, &kIrfft};
    for (const Op& op : kPublic) list.push_back(&op);
    for (const Op* op : {&kFftfreq, &kRfftfreq, &kFftshift, &kIfftshift}) list.push_back(op);
    return list;
  }();
  return ops;
}

}  // namespace lunagrad
