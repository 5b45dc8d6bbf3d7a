// The parts of floating-point numbers: mantissa and exponent, and the neighbouring number.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements in about 20 µs

// Calls f(i) for all elements, on all threads.
template <class F>
void for_elements(int64_t count, F&& f) {
  parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) f(i);
  });
}

template <class F>
void visit_floats(DType type, F&& f) {
  type == DType::f64 ? f.template operator()<double>() : f.template operator()<float>();
}

// --- frexp ---

void frexp_shape(Call& call) {
  const Tensor& x = call.input(0);
  if (!is_floating(x.dtype())) fail("frexp: a floating-point tensor is needed (got ", x.dtype(), ")");
  call.emit(x.shape(), x.dtype());
  call.emit(x.shape(), DType::i32);
}
void frexp_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0));
  visit_floats(x.dtype(), [&]<class T>() {
    const T* const from = x.data<T>();
    T* const mantissa = call.output(0).data<T>();
    int32_t* const exponent = call.output(1).data<int32_t>();
    for_elements(x.numel(), [&](int64_t i) {
      int power = 0;
      mantissa[i] = std::frexp(from[i], &power);
      exponent[i] = std::isfinite(from[i]) ? power : 0;
    });
  });
}
// d mantissa = dx 2^-exponent, in two factors because one may overflow.
void frexp_vjp(Backward& b) {
  const Tensor g = b.grad(0), power = neg(to(b.output(1), g.dtype()));
  const Tensor half = trunc(power * 0.5);
  b.set(0, g * exp2(half) * exp2(power - half));
}
const Op kFrexp{.name = "frexp",
                .doc =
                    "The mantissas, of magnitude 0.5 to 1, and the i32 exponents with input = mantissa "
                    "2^exponent.",
                .inputs = {{"input"}},
                .shape = frexp_shape,
                .cpu = frexp_cpu,
                .vjp = frexp_vjp,
                .reads = {{.outputs = 2}},
                .half_through_f32 = true,
                .family = OpFamily::elementwise,
                .autocast = AutocastPolicy::own,
                .flops = kMovesData,
                .examples = {{.inputs = {{{2, 3}}}, .types = OpExample::Types::floating},
                             {.inputs = {{{5}, -1000, 1000}}, .types = OpExample::Types::floating}}};

// --- nextafter ---

void next_shape(Call& call) { call.emit(call.input(0).shape(), call.input(0).dtype()); }
// The magnitudes of f16 and of bf16 numbers have the order of their bits.
uint16_t next_bits(uint16_t bits, float x, float other) {
  constexpr uint16_t kSign = 0x8000;
  if (std::isnan(x) || x == other) return bits;
  if (x == 0) return uint16_t((other < 0 ? kSign : 0) | 1);
  return uint16_t((other > x) == (x > 0) ? bits + 1 : bits - 1);
}

// Magnitudes have the order of their bits. There are no branches, so that the compiler vectorises the loop.
template <class T>
T next_number(T x, T other) {
  using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const Bits bits = std::bit_cast<Bits>(x);
  const Bits step = (other > x) == (bits >= 0) ? 1 : -1;
  const Bits from_zero = (std::bit_cast<Bits>(other) & std::numeric_limits<Bits>::min()) | 1;
  const Bits moved = x == 0 ? from_zero : Bits(bits + step);
  const T next = x == other ? other : std::bit_cast<T>(moved);
  const T known = x == x ? next : x;
  return other == other ? known : other;
}

void next_cpu(const Call& call) {
  const Tensor x = in_order(call.input(0)), other = in_order(call.input(1));
  if (item_size(x.dtype()) == 2) {
    const Tensor values = in_order(to(x, DType::f32)), others = in_order(to(other, DType::f32));
    const auto *const bits = static_cast<const uint16_t*>(x.raw()), *const other_bits =
                                                                        static_cast<const uint16_t*>(
                                                                            other.raw());
    auto* const next = static_cast<uint16_t*>(call.output().raw());
    for_elements(x.numel(), [&](int64_t i) {
      const float to = others.data<float>()[i];
      next[i] = std::isnan(to) ? other_bits[i] : next_bits(bits[i], values.data<float>()[i], to);
    });
    return;
  }
  visit_floats(x.dtype(), [&]<class T>() {
    const T *const from = x.data<T>(), *const to = other.data<T>();
    T* const next = call.output().data<T>();
    for_elements(x.numel(), [&](int64_t i) { next[i] = next_number(from[i], to[i]); });
  });
}
const Op kNext{.name = "_nextafter",
               .doc = "nextafter of operands of one shape and type.",
               .inputs = {{"input"}, {"other"}},
               .shape = next_shape,
               .cpu = next_cpu,
               .family = OpFamily::elementwise,
               .autocast = AutocastPolicy::own,
               .flops = kMovesData};

Operands nextafter_compose(const Call& call) {
  const Tensor &x = call.input(0), &other = call.input(1);
  const DType type = promote(x.dtype(), other.dtype());
  if (!is_floating(type))
    fail("nextafter: floating-point tensors are needed (got ", x.dtype(), " and ", other.dtype(), ")");
  const Shape shape = broadcast_shapes("nextafter", x.shape(), other.shape());
  return {apply1(kNext, {expand(to(x, type), shape), expand(to(other, type), shape)})};
}
const Op kNextafter{
    .name = "nextafter",
    .doc = "The number next to input in the direction of other, in the precision of the type.",
    .inputs = {{"input"}, {"other"}},
    .compose = nextafter_compose,
    .in_place = InPlaceForm::writes,
    .family = OpFamily::elementwise,
    .examples = {{.inputs = {{{2, 3}}, {{3}}}, .types = OpExample::Types::floating},
                 {.inputs = {{.shape = {3}, .low = 0, .high = 3, .kind = ExampleOperand::Kind::index},
                             {.shape = {3}, .low = 0, .high = 3, .kind = ExampleOperand::Kind::index}},
                  .error = "nextafter: floating-point tensors are needed"}}};

}  // namespace

std::span<const Op* const> float_parts_ops() {
  static constexpr const Op* ops[] = {&kFrexp, &kNext, &kNextafter};
  return ops;
}

}  // namespace lunagrad
