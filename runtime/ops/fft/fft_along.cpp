// Fourier transforms along one dim: complex to complex, real to half a spectrum, and back. A transform is a
// symmetric matrix, so its gradient is the same transform of the gradient.
#include "runtime/ops/fft/fft_along.h"

#include <cmath>
#include <complex>
#include <numbers>

#include "runtime/cpu/pieces.h"
#include "runtime/cpu/rows.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/fft/cpu/fft.h"
#include "runtime/ops/fft/fft_geometry.h"

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

constexpr int kDimAt = 0;  // of all three records

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
      if (fft_columns<T>(numbers(x), numbers(out), split.outer, split.size, split.inner, inverse, scale))
        return;
    }
    const Tensor x = rows_of(call.input(0), dim), y = rows_for(out, dim);
    fft_rows<T>(numbers(x), 2 * split.size, numbers(y), 2 * split.size, split.outer * split.inner, split.size,
                inverse, scale);
    copy_back(y, out, dim);
  });
}
// Whether a device other than the CPU computes this length by convolution, because its kernel only takes
// lengths with small factors.
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
void fft_vjp(Backward& b) { b.set(0, fft_along(b.grad(), int(b.integer(kDimAt)), b.flag(1), b.real(2))); }

// Bluestein's convolution, as in ops/fft/cpu/fft_plan.cpp, in transforms whose length is a power of two. The
// chirp and the spectrum of the filter are computed on the CPU.
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
  const Tensor spectrum = constant(fft_along(Tensor::from<Number>(filter, {whole}), 0, false, 1.0));
  const Tensor product = fft_along(fit_dim(x * turns, dim, whole), dim, false, 1.0) * spectrum;
  const Tensor y = narrow(fft_along(product, dim, true, call.real(2) / double(whole)), dim, 0, n);
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
// The first half of the complex transform.
Operands rfft_whole(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = int(call.integer(kDimAt));
  const Tensor y = fft_along(to(x, complex_type(x.dtype())), dim, false, call.real(1));
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
    irfft_rows<T>(static_cast<const T*>(x.raw()), 2 * m, static_cast<T*>(y.raw()), n, y.numel() / n, n,
                  scale);
  });
  copy_back(y, out, dim);
}
double irfft_flops(const Call& call) {
  return 2.5 * double(call.out[0].numel()) * log2_of(double(call.integer(1)));
}
// The complex transform of the whole spectrum. Imaginary parts of x that must be 0 have no effect on the real
// part of the result.
Operands irfft_whole(const Call& call) {
  const Tensor& x = call.input(0);
  const int dim = int(call.integer(kDimAt));
  const int64_t n = call.integer(1);
  Tensor whole = x;
  if (n > 2) whole = cat({x, flip(conj(narrow(x, dim, 1, (n - 1) / 2)), {dim})}, dim);
  return {contiguous(real(fft_along(whole, dim, true, call.real(2))))};
}
void irfft_vjp(Backward&);
const Op kIrfft{
    .name = "_irfft",
    .doc = "n real numbers from the first n / 2 + 1 numbers of their spectrum, times scale.",
    .inputs = {{"input"}},
    .params = {{"dim", ParamKind::dim, {}}, {"n", ParamKind::integer, {}}, {"scale", ParamKind::real, 1.0}},
    .shape = irfft_shape,
    .cpu = irfft_cpu,
    .vjp = irfft_vjp,
    .compose = irfft_whole,
    .complex = true,
    .family = OpFamily::linear_algebra,
    .flops = {irfft_flops, "2.5 n log2 n for each transform of length n"}};

// Multiplies by `factor` the numbers of half a spectrum that stand for two numbers of the whole: all but the
// first and, if n is even, the last.
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

// The gradient of the real x_j is the real part of the sum of g_k exp(-2 pi i j k / n) over half a spectrum.
// This is an inverse transform of conj g, in which the numbers that it counts twice are halved.
void rfft_vjp(Backward& b) {
  const int dim = int(b.integer(kDimAt));
  const int64_t n = b.shape(0)[dim];
  b.set(0, irfft_along(weigh_pairs(conj(b.grad()), dim, n, 0.5), dim, n, b.real(1)));
}
void irfft_vjp(Backward& b) {
  const int dim = int(b.integer(kDimAt));
  b.set(0, conj(weigh_pairs(rfft_along(b.grad(), dim, b.real(2)), dim, b.integer(1), 2.0)));
}

}  // namespace

Tensor fit_dim(const Tensor& x, int dim, int64_t n) {
  const int64_t size = x.size(dim);
  if (size == n) return x;
  if (size > n) return narrow(x, dim, 0, n);
  Shape rest = x.shape();
  rest[dim] = n - size;
  return cat({x, zeros(rest, x.dtype(), x.device())}, dim);
}

// Kernels of other devices need a contiguous operand.
Tensor fft_along(const Tensor& x, int dim, bool inverse, double scale) {
  return apply1(kFft, {x.device().is_cpu() ? x : contiguous(x)}, {dim, inverse, scale});
}
Tensor rfft_along(const Tensor& x, int dim, double scale) { return apply1(kRfft, {x}, {dim, scale}); }
Tensor irfft_along(const Tensor& x, int dim, int64_t n, double scale) {
  return apply1(kIrfft, {x}, {dim, n, scale});
}

std::span<const Op* const> fft_along_ops() {
  static constexpr const Op* ops[] = {&kFft, &kRfft, &kIrfft};
  return ops;
}

}  // namespace lunagrad
