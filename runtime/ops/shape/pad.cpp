// pad: a tensor with a border around its last dims.
#include <algorithm>

#include "runtime/core/script_numbers.h"
#include "runtime/ops/elementwise/cpu/copy.h"
#include "runtime/ops/families.h"

namespace lunagrad {
namespace {

constexpr int kWidthsAt = 0, kModeAt = 1, kValueAt = 2;

// The widths before and after each dim, from a list that begins with the last dim.
struct Border {
  Dims before, after;
  Border(const Dims& widths, const Shape& shape) : before(shape.size(), 0), after(shape.size(), 0) {
    if (widths.size() % 2 != 0)
      fail("pad: the widths come in pairs, before and after (got ", widths.size(), ")");
    if (widths.size() / 2 > shape.size())
      fail("pad: ", widths.size() / 2, " pairs of widths for shape ", shape);
    for (int i = 0; i < widths.size() / 2; ++i) {
      const int d = shape.size() - 1 - i;
      before[d] = widths[2 * i];
      after[d] = widths[2 * i + 1];
    }
  }
};

// --- a constant around ---

void constant_shape(Call& call) {
  const Tensor& x = call.input(0);
  const Border border(call.list(0), x.shape());
  Shape shape = x.shape();
  for (int d = 0; d < shape.size(); ++d)
    if (__builtin_add_overflow(shape[d], border.before[d], &shape[d]) ||
        __builtin_add_overflow(shape[d], border.after[d], &shape[d]) || shape[d] < 0)
      fail("pad: widths ", border.before[d], " and ", border.after[d], " do not fit dim ", d + 1,
           " of shape ", x.shape());
  check_converts("pad", x.dtype(), call.params[1]);
  call.emit(shape, x.dtype());
}

// From the first dim to the last: fills the slabs before and after the region of the input, then copies the
// input.
void constant_cpu(const Call& call) {
  const Tensor &x = call.input(0), &out = call.output();
  const Border border(call.list(0), x.shape());
  const int64_t item = int64_t(item_size(out.dtype()));
  const double value = call.real(1);
  const Strides once(out.ndim(), 0);
  char* to = static_cast<char*>(out.raw());
  const char* from = static_cast<const char*>(x.raw());
  Shape rest = out.shape();
  const auto fill = [&](int d, int64_t first, int64_t length) {
    Shape slab = rest;
    slab[d] = length;
    copy_strided(to + first * out.strides()[d] * item, out.dtype(), out.strides(), &value, DType::f64, once,
                 slab);
  };
  for (int d = 0; d < out.ndim(); ++d) {
    const int64_t before = border.before[d], length = out.size(d);
    const int64_t first = std::clamp<int64_t>(before, 0, length);
    const int64_t end = std::clamp<int64_t>(before + x.size(d), first, length);
    fill(d, 0, first);
    fill(d, end, length - end);
    to += first * out.strides()[d] * item;
    from += std::max<int64_t>(-before, 0) * x.strides()[d] * item;
    rest[d] = end - first;
  }
  copy_strided(to, out.dtype(), out.strides(), from, x.dtype(), x.strides(), rest);
}
// The gradient crops the border that was added, and pads with 0 where the input was cropped.
void constant_vjp(Backward& b) {
  Dims back = b.list(0);
  for (int i = 0; i < back.size(); ++i) back[i] = -back[i];
  b.set(0, pad(b.grad(), back));
}
const Op kPadConstant{.name = "_pad",
                      .doc = "A tensor with a border of one value; negative widths cut.",
                      .inputs = {{"input"}},
                      .params = {{"pad", ParamKind::integers, {}}, {"value", ParamKind::real, 0.0}},
                      .shape = constant_shape,
                      .cpu = constant_cpu,
                      .vjp = constant_vjp,
                      .complex = true,
                      .family = OpFamily::view,
                      .flops = kMovesData};

// --- the tensor's own elements around ---

// `width` positions that are placed before (or after) dim d.
Tensor side(const Tensor& x, int d, PadMode mode, int64_t width, bool before) {
  const int64_t size = x.size(d);
  switch (mode) {
    case PadMode::reflect:
      return flip(narrow(x, d, before ? 1 : size - 1 - width, width), {d});
    case PadMode::circular:
      return narrow(x, d, before ? size - width : 0, width);
    default:
      break;
  }
  Shape shape = x.shape();
  shape[d] = width;
  return expand(narrow(x, d, before ? 0 : size - 1, 1), shape);
}

Operands pad_compose(const Call& call) {
  Tensor x = call.input(0);
  const PadMode mode = PadMode(call.integer(kModeAt));
  if (mode == PadMode::constant)
    return apply(kPadConstant, {x}, {call.params[kWidthsAt], call.params[kValueAt]});
  const Border border(call.list(kWidthsAt), x.shape());
  static constexpr const char* kNames[] = {"constant", "reflect", "replicate", "circular"};
  for (int d = 0; d < x.ndim(); ++d) {
    const int64_t size = x.size(d), before = border.before[d], after = border.after[d];
    if (before < 0 || after < 0)
      fail("pad: widths must not be negative in ", kNames[int(mode)], " mode (got ", before, " and ", after,
           ")");
    if (before == 0 && after == 0) continue;
    const int64_t most = mode == PadMode::reflect ? size - 1 : size;
    if (mode != PadMode::replicate && std::max(before, after) > most)
      fail("pad: ", kNames[int(mode)], " mode adds at most ", std::max<int64_t>(most, 0), " to dim ", d + 1,
           " of shape ", x.shape(), " (got ", before, " and ", after, ")");
    if (size == 0) fail("pad: dim ", d + 1, " of shape ", x.shape(), " has nothing to replicate");
    TensorList parts{x};
    if (before > 0) parts.insert(parts.begin(), side(x, d, mode, before, true));
    if (after > 0) parts.push_back(side(x, d, mode, after, false));
    x = cat(parts, d);
  }
  return {x.same(call.input(0)) ? clone(x) : x};
}
const Op kPad{.name = "pad",
              .doc =
                  "Adds a border around the last dims: value, or elements reflected, repeated or taken from "
                  "the other end. The widths in pad come in pairs, last dim first.",
              .inputs = {{"input"}},
              .params = {{"pad", ParamKind::integers, {}},
                         {"mode", ParamKind::choice, 0, {"constant", "reflect", "replicate", "circular"}},
                         {"value", ParamKind::real, 0.0}},
              .compose = pad_compose,
              .family = OpFamily::view};

}  // namespace

Tensor pad(const Tensor& x, const Dims& widths, PadMode mode, double value) {
  return apply1(kPad, {x}, {Value(widths), int(mode), value});
}

std::span<const Op* const> pad_ops() {
  static constexpr const Op* ops[] = {&kPad, &kPadConstant};
  return ops;
}

}  // namespace lunagrad
