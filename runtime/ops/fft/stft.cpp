// Spectra of overlapping windows of a signal, the inverse, and the shapes of windows.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/core/default_dtype.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/families.h"
#include "runtime/ops/shape/creation.h"

namespace lunagrad {
namespace {

// --- windows ---

const ParamSpec kWindowLength{"window_length", ParamKind::integer, {}};
const ParamSpec kPeriodic{"periodic", ParamKind::boolean, true};

// A window f(t), t from 0 to 1; a periodic one ends a step before 1. It is computed on the CPU for any
// device.
template <class F>
Operands make_window(const Call& call, F&& f) {
  const int64_t length = call.integer(0);
  const DType type = dtype_or(call.params.back(), default_dtype());
  if (length < 0) fail(call.op->name, ": window_length must not be negative (got ", length, ")");
  if (!is_floating(type)) fail(call.op->name, ": a floating type is needed (got ", type, ")");
  const double steps = double(call.flag(1) ? length : length - 1);
  const Tensor made = Tensor::empty({length}, type);
  visit_dtype(type, [&]<class T>() {
    T* const to = made.data<T>();
    parallel_for(length, 1 << 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = convert<T>(length == 1 ? 1.0 : f(double(i) / steps));
    });
  });
  return {to(made, *context().device)};
}

double cosine_of(double turns) { return std::cos(2 * std::numbers::pi * turns); }

Operands hann_compose(const Call& call) {
  return make_window(call, [](double t) { return 0.5 - 0.5 * cosine_of(t); });
}
Operands hamming_compose(const Call& call) {
  const double alpha = call.real(2), beta = call.real(3);
  return make_window(call, [&](double t) { return alpha - beta * cosine_of(t); });
}
Operands blackman_compose(const Call& call) {
  return make_window(call, [](double t) { return 0.42 - 0.5 * cosine_of(t) + 0.08 * cosine_of(2 * t); });
}
Operands bartlett_compose(const Call& call) {
  return make_window(call, [](double t) { return 1 - std::fabs(2 * t - 1); });
}

// exp(-x) I0(x) for x >= 0: the power series, and for large x the asymptotic one (M. Abramowitz and I. A.
// Stegun, "Handbook of Mathematical Functions", 9.6.12 and 9.7.1).
double scaled_bessel_i0(double x) {
  double term = 1, sum = 1;
  if (x < 40) {
    for (int k = 1; k < 200 && term > 1e-18 * sum; ++k) sum += term *= x * x / 4 / (double(k) * k);
    return sum * std::exp(-x);
  }
  for (int k = 1; k < 30; ++k) sum += term *= (2.0 * k - 1) * (2.0 * k - 1) / (8 * x * k);
  return sum / std::sqrt(2 * std::numbers::pi * x);
}
Operands kaiser_compose(const Call& call) {
  const double beta = std::fabs(call.real(2)), whole = scaled_bessel_i0(beta);
  return make_window(call, [&](double t) {
    const double x = beta * std::sqrt(std::max(0.0, 1 - (2 * t - 1) * (2 * t - 1)));
    return scaled_bessel_i0(x) * std::exp(x - beta) / whole;
  });
}

Op window(const char* name, const char* doc, Operands (*compose)(const Call&)) {
  return {
      .name = name,
      .doc = doc,
      .inputs = {},
      .params = {kWindowLength, kPeriodic, kDType},
      .compose = compose,
      .family = OpFamily::other,
      .examples = {
          {{}, {6}}, {{}, {5, false}}, {{}, {1}}, {{}, {-1}, "window_length must not be negative (got -1)"}}};
}
const Op kHann = window("hann_window", "A Hann window, (1 - cos(2 pi t)) / 2.", hann_compose);
const Op kBlackman = window(
    "blackman_window", "A Blackman window, 0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t).", blackman_compose);
const Op kBartlett = window("bartlett_window", "A triangle from 0 to 1 and back.", bartlett_compose);
const Op kHamming{.name = "hamming_window",
                  .doc = "A Hamming window, alpha - beta cos(2 pi t).",
                  .inputs = {},
                  .params = {kWindowLength,
                             kPeriodic,
                             {"alpha", ParamKind::real, 0.54},
                             {"beta", ParamKind::real, 0.46},
                             kDType},
                  .compose = hamming_compose,
                  .family = OpFamily::other,
                  .examples = {{{}, {6}}, {{}, {5, false, 0.5, 0.25}}}};
const Op kKaiser{.name = "kaiser_window",
                 .doc = "A Kaiser window of the shape beta, I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta).",
                 .inputs = {},
                 .params = {kWindowLength, kPeriodic, {"beta", ParamKind::real, 12.0}, kDType},
                 .compose = kaiser_compose,
                 .family = OpFamily::other,
                 .examples = {{{}, {6}}, {{}, {5, false, 4.0}}}};

// --- arguments that stft and istft share: n_fft, hop_length, win_length, window ---

constexpr int kFftAt = 0, kHopAt = 1, kWinAt = 2, kWindowAt = 1;
const ParamSpec kNFft{"n_fft", ParamKind::integer, {}};
const ParamSpec kHop{.name = "hop_length", .kind = ParamKind::integer, .optional = true};
const ParamSpec kWin{.name = "win_length", .kind = ParamKind::integer, .optional = true};
const ExampleOperand kNoWindow{.shape = {}, .kind = ExampleOperand::Kind::absent};
const ParamSpec kOneSided{.name = "onesided", .kind = ParamKind::boolean, .optional = true};

struct Frames {
  int64_t size, hop;
  Tensor window;  // [size]; undefined: ones

  explicit Frames(const Call& call) {
    const char* const op = call.op->name;
    size = call.integer(kFftAt);
    if (size < 1) fail(op, ": n_fft must be at least 1 (got ", size, ")");
    hop = call.params[kHopAt].present() ? call.integer(kHopAt) : std::max<int64_t>(1, size / 4);
    if (hop < 1) fail(op, ": hop_length must be at least 1 (got ", hop, ")");
    const int64_t width = call.params[kWinAt].present() ? call.integer(kWinAt) : size;
    if (width < 1 || width > size)
      fail(op, ": win_length must be from 1 to n_fft = ", size, " (got ", width, ")");
    const DType type = part_type(complex_type(call.input(0).dtype()));
    if (call.has(kWindowAt)) {
      window = call.input(kWindowAt);
      if (window.ndim() != 1 || window.size(0) != width)
        fail(op, ": a window of shape [", width, "] is needed (got shape ", window.shape(), ")");
      if (is_integral(window.dtype())) window = to(window, type);
    }
    if (width == size) return;
    if (size > INT32_MAX) fail(op, ": n_fft = ", size, " is too large");
    if (!window.defined()) window = ones({width}, type, call.input(0).device());
    const int64_t before = (size - width) / 2;
    window = pad(window, {before, size - width - before});
  }
};

// Calls an op by name. Parameters after `params` are undefined values.
Tensor call_op(const char* name, Operands in, Values params) { return apply1(*find_op(name), in, params); }
constexpr int64_t kBackward = 0, kOrtho = 1;  // values of the parameter norm

// --- stft ---

Operands stft_compose(const Call& call) {
  const Tensor& given = call.input(0);
  const Frames frames(call);
  const bool center = call.flag(3), normalized = call.flag(5);
  if (given.ndim() != 1 && given.ndim() != 2)
    fail("stft: a signal of shape [length] or [batch, length] is needed (got shape ", given.shape(), ")");
  if (is_integral(given.dtype()))
    fail("stft: a floating or complex type is needed (got ", given.dtype(), ")");
  Tensor x = to(given, accumulate_type(given.dtype()));
  if (center) x = pad(x, {frames.size / 2, frames.size / 2}, PadMode(call.integer(4)));
  if (x.size(-1) < frames.size)
    fail("stft: n_fft = ", frames.size, " is longer than the signal (", x.size(-1),
         center ? " elements with the padding)" : " elements)");
  x = unfold(x, x.ndim() - 1, frames.size, frames.hop);  // […, frames, n_fft]
  if (frames.window.defined()) x = x * frames.window;
  const bool real = !is_complex(x.dtype());
  const bool half = call.params[6].present() ? call.flag(6) : real;
  if (half && !real) fail("stft: onesided needs a real signal and window; give onesided = false");
  const Tensor spectra =
      call_op(half ? "fft.rfft" : "fft.fft", {x}, {Value(), -1, normalized ? kOrtho : kBackward});
  const Tensor y = transpose(spectra, -2, -1);
  return {call.flag(7) ? y : view_as_real(y)};
}
const Op kStft{
    .name = "stft",
    .doc =
        "The Fourier transforms of windows of n_fft elements of input, hop_length (n_fft / 4) apart: "
        "[.., frequencies, windows]. center pads the signal by pad_mode, so that windows are centred.",
    .inputs = {{"input"}, {"window", true}},
    .params = {kNFft,
               kHop,
               kWin,
               {"center", ParamKind::boolean, true},
               {"pad_mode", ParamKind::choice, 1, {"constant", "reflect", "replicate", "circular"}},
               {"normalized", ParamKind::boolean, false},
               kOneSided,
               {"return_complex", ParamKind::boolean, true}},
    .compose = stft_compose,
    .family = OpFamily::linear_algebra,
    .order = {"input", "n_fft", "hop_length", "win_length", "window", "center", "pad_mode", "normalized",
              "onesided", "return_complex"},
    .examples = {{.inputs = {{{2, 20}}, kNoWindow}, .params = {8}, .types = OpExample::Types::floating},
                 {.inputs = {{{20}}, {{6}, 0.5, 2}},
                  .params = {8, 3, 6, true, 0, true},
                  .types = OpExample::Types::floating},
                 {.inputs = {{{20}}, {{8}, 0.5, 2}},
                  .params = {8, 4, Value(), false, 1, false, false, false},
                  .types = OpExample::Types::floating},
                 {{{{4}}, kNoWindow}, {8, 1, Value(), false}, "is longer than"},
                 {{{{20}}, {{6}}}, {8}, "a window of shape [8] is needed (got shape [6])"}}};

// --- istft ---

// The sums of overlapping windows divided by the sums of the squared window.
Operands istft_compose(const Call& call) {
  const Tensor& z = call.input(0);
  const Frames frames(call);
  const bool center = call.flag(3), normalized = call.flag(4), keeps_complex = call.flag(7);
  if (!is_complex(z.dtype()) || (z.ndim() != 2 && z.ndim() != 3))
    fail(
        "istft: complex spectra of shape [frequencies, windows] or [batch, frequencies, windows] are needed "
        "(got ",
        z.dtype(), " of shape ", z.shape(), ")");
  const int64_t bins = z.size(-2), count = z.size(-1), size = frames.size;
  const bool half = call.params[5].present() ? call.flag(5) : bins != size;
  if (bins != (half ? size / 2 + 1 : size))
    fail("istft: n_fft = ", size, half ? ", onesided," : "", " needs ", half ? size / 2 + 1 : size,
         " frequencies (got shape ", z.shape(), ")");
  if (count < 1) fail("istft: at least one window is needed (got shape ", z.shape(), ")");
  if (half && keeps_complex) fail("istft: half a spectrum gives real numbers; give onesided = false");
  int64_t whole;
  if (__builtin_mul_overflow(frames.hop, count - 1, &whole) || __builtin_add_overflow(whole, size, &whole))
    fail("istft: hop_length = ", frames.hop, " is too large");

  const int64_t norm = normalized ? kOrtho : kBackward;
  Tensor x = transpose(z, -2, -1);
  // Half a spectrum gives real numbers. If a whole spectrum is given, the other half is not read, as in
  // PyTorch.
  if (keeps_complex)
    x = call_op("fft.ifft", {x}, {Value(), -1, norm});
  else
    x = call_op("fft.irfft", {narrow(x, x.ndim() - 1, 0, size / 2 + 1)}, {size, -1, norm});
  Tensor weights;
  if (frames.window.defined()) {
    if (is_complex(frames.window.dtype()) && !keeps_complex)
      fail("istft: a complex window gives complex numbers; give return_complex = true");
    x = x * frames.window;
    weights = frames.window * frames.window;
  } else {
    weights = ones({size}, part_type(x.dtype()), x.device());
  }
  const int64_t start = center ? size / 2 : 0;
  const bool has_length = call.params[6].present();
  if (has_length && call.integer(6) < 1) fail("istft: length must be at least 1 (got ", call.integer(6), ")");
  const int64_t wanted = has_length ? call.integer(6) : whole - 2 * start;
  const int64_t kept = std::min(wanted, whole - start);
  if (kept < 1) fail("istft: ", count, " windows of ", size, " elements give an empty signal");
  const auto overlap_added = [&](const Tensor& windows) {
    const int dim = windows.ndim() - 2;
    return narrow(fold_windows(windows, dim, frames.hop, whole), dim, start, kept);
  };
  const Tensor divisor = overlap_added(expand(weights, {count, size}));
  const double least = min(abs(divisor.detach())).item();
  if (!(least > 1e-11))
    fail("istft: the squared windows add up to ", least,
         " somewhere; every element needs a window that is not 0 there");
  x = overlap_added(x) / divisor;
  if (wanted > kept) x = pad(x, {0, wanted - kept});
  return {x};
}
const Op kIstft{
    .name = "istft",
    .doc = "The signal, of length elements if given, whose stft with the same arguments is input.",
    .inputs = {{"input"}, {"window", true}},
    .params = {kNFft,
               kHop,
               kWin,
               {"center", ParamKind::boolean, true},
               {"normalized", ParamKind::boolean, false},
               kOneSided,
               {.name = "length", .kind = ParamKind::integer, .optional = true},
               {"return_complex", ParamKind::boolean, false}},
    .compose = istft_compose,
    .family = OpFamily::linear_algebra,
    .order = {"input", "n_fft", "hop_length", "win_length", "window", "center", "normalized", "onesided",
              "length", "return_complex"},
    .examples = {{{{{2, 5, 4}, -2, 2, ExampleOperand::Kind::complex}, kNoWindow}, {8}},
                 {{{{4, 5}, -2, 2, ExampleOperand::Kind::complex}, kNoWindow},
                  {8},
                  "needs 5 frequencies (got shape [4, 5])"}}};

}  // namespace

std::span<const Op* const> stft_ops() {
  static constexpr const Op* ops[] = {&kHann, &kHamming, &kBlackman, &kBartlett, &kKaiser, &kStft, &kIstft};
  return ops;
}

}  // namespace lunagrad
