// The loops of optimizer.h. The rules are the updates of optimizers.def over SIMD vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "runtime/core/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/optimizer/cpu/optimizer_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/vector.h"
#include "runtime/ops/optimizer/cpu/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

// The words of optimizers.def that vector.h lacks.
template <class T>
HWY_INLINE Vector<T> mul_add(Vector<T> a, Vector<T> b, Vector<T> c) {
  return hn::MulAdd(a.v, b.v, c.v);
}
template <class T>
HWY_INLINE Vector<T> neg_mul_add(Vector<T> a, Vector<T> b, Vector<T> c) {
  return hn::NegMulAdd(a.v, b.v, c.v);
}
template <class T>
HWY_INLINE Vector<T> average(Vector<T> share, Vector<T> rest, Vector<T> state, Vector<T> value) {
  return mul_add(share, state, rest * value);
}
template <class T>
HWY_INLINE void regularize(bool maximize, Vector<T> decay, Vector<T>& p, Vector<T>& g) {
  if (maximize) g = -g;
  const Mask<T> decoupled = decay < Vector<T>(0);
  const Vector<T> decayed = mul_add(p, decay, p), pulled = mul_add(decay, p, g);
  p = sel(decoupled, decayed, p);
  g = sel(decoupled, g, pulled);
}

// The numbers of a rule in the tensors' type, in their order.
template <class T>
struct NumberReader {
  const T* at;
  HWY_INLINE Vector<T> next() { return hn::Set(hn::ScalableTag<T>(), *at++); }
  HWY_INLINE bool flag() { return *at++ != 0; }
};

// A rule as a struct: adam_rule::update<kStates>(numbers, p, g, states) updates a vector of elements. kStates
// has bit k set when state k exists. Always inlined, so that vectors stay in registers.
#define K(c) V(double(c))
#define NUMBER(name, sample) [[maybe_unused]] const V name = numbers_.next();
#define COUNT(name, sample) NUMBER(name, sample)
#define FLAG(name) [[maybe_unused]] const bool name = numbers_.flag();
#define DERIVED(name, expression) NUMBER(name, 0)
#define STATE(name) V& name = states_[state_++];
#define STATE_IF(condition, name)                       \
  const bool has_##name = (kStates >> state_ & 1) != 0; \
  V& name = states_[state_++];
#define OPTIMIZER(name, doc, states, numbers, derived, ...)                               \
  struct name##_rule {                                                                    \
    template <uint32_t kStates, class V, class T>                                         \
    [[gnu::always_inline]] static inline void update(NumberReader<T> numbers_, V& p, V g, \
                                                     [[maybe_unused]] V* states_) {       \
      [[maybe_unused]] int state_ = 0;                                                    \
      numbers derived states __VA_ARGS__                                                  \
    }                                                                                     \
  };
#include "runtime/optimizer/optimizers.def"
#undef K

// Whole vectors: count is a multiple of their length.
template <class R, uint32_t kStates, class T, size_t... I>
HWY_NOINLINE void update_vectors(const RuleUse& use, int64_t count, T* const* arrays,
                                 std::index_sequence<I...>) {
  using V = Vector<T>;
  const hn::ScalableTag<T> d;
  T numbers[kMostRuleNumbers];
  std::copy(use.numbers.begin(), use.numbers.end(), numbers);
  T* const param = arrays[0];
  const T* const grad = arrays[1];
  T* const states[] = {arrays[2 + I]...};
  for (int64_t i = 0; i < count; i += int64_t(HWY_LANES(T))) {
    V p = hn::LoadU(d, param + i);
    V s[] = {kStates >> I & 1 ? V(hn::LoadU(d, states[I] + i)) : V(0.0)...};
    R::template update<kStates>(NumberReader<T>{numbers}, p, V(hn::LoadU(d, grad + i)), s);
    hn::StoreU(p.v, d, param + i);
    ((kStates >> I & 1 ? hn::StoreU(s[I].v, d, states[I] + i) : void()), ...);
  }
}

// Elements that do not fill a vector go through a buffer.
template <class R, uint32_t kStates, class T>
void update_all(const RuleUse& use, int64_t count, T* const* arrays) {
  constexpr auto kIndices = std::make_index_sequence<size_t(kMostStates)>();
  constexpr int64_t kLanes = int64_t(HWY_LANES(T));
  const int64_t rest = count % kLanes, whole = count - rest;
  if (whole > 0) update_vectors<R, kStates>(use, whole, arrays, kIndices);
  if (rest == 0) return;
  T buffers[2 + kMostStates][kLanes] = {};
  T* pointers[2 + kMostStates];
  const auto exists = [](int a) { return a < 2 || (kStates >> (a - 2) & 1) != 0; };
  for (int a = 0; a < 2 + kMostStates; ++a) {
    pointers[a] = buffers[a];
    if (exists(a)) std::memcpy(buffers[a], arrays[a] + whole, size_t(rest) * sizeof(T));
  }
  update_vectors<R, kStates>(use, kLanes, pointers, kIndices);
  for (int a = 0; a < 2 + kMostStates; ++a)
    if (exists(a) && a != 1) std::memcpy(arrays[a] + whole, buffers[a], size_t(rest) * sizeof(T));
}

// The loops of a rule, by the states that exist; null for impossible combinations.
template <class T>
using Loop = void (*)(const RuleUse&, int64_t, T* const*);
template <class T>
using Loops = std::array<Loop<T>, 1 << kMostStates>;

template <class R, Rule rule, uint32_t kStates, class T>
constexpr Loop<T> loop_of() {
  constexpr StateMasks kMasks = kStateMasks[int(rule)];
  if constexpr ((kStates & kMasks.always) == kMasks.always && (kStates & kMasks.all) == kStates)
    return update_all<R, kStates, T>;
  else
    return nullptr;
}
template <class R, Rule rule, class T, size_t... I>
constexpr Loops<T> loops_of(std::index_sequence<I...>) {
  return {loop_of<R, rule, uint32_t(I), T>()...};
}

template <class T>
void run_rule(const RuleUse& use, int64_t count, T* const* arrays) {
#define OPTIMIZER(name, doc, states, numbers, derived, ...) \
  loops_of<name##_rule, Rule::name, T>(std::make_index_sequence<1 << kMostStates>()),
  static constexpr Loops<T> kLoops[] = {
#include "runtime/optimizer/optimizers.def"
  };
  kLoops[int(use.rule)][use.states](use, count, arrays);
}

void rule_f32(const RuleUse& use, int64_t count, float* const* arrays) { run_rule(use, count, arrays); }
void rule_f64(const RuleUse& use, int64_t count, double* const* arrays) { run_rule(use, count, arrays); }

double square_sum_f32(int64_t count, const float* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const int64_t lanes = int64_t(hn::Lanes(d));
  auto even = hn::Zero(d), odd = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    const auto a = hn::PromoteTo(d, hn::LoadU(narrow, x + i));
    const auto b = hn::PromoteTo(d, hn::LoadU(narrow, x + i + lanes));
    even = hn::MulAdd(a, a, even);
    odd = hn::MulAdd(b, b, odd);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; i < count; ++i) sum += double(x[i]) * double(x[i]);
  return sum;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(rule_f32);
HWY_EXPORT(rule_f64);
HWY_EXPORT(square_sum_f32);

// 16-bit tensors are converted to f32 in a buffer on the stack, this many elements at a time.
constexpr int64_t kBlock = 512;

template <class T>
void through_f32(const RuleUse& use, int64_t count, T* const* arrays) {
  constexpr int kMost = 2 + kMostStates;
  float in_f32[kMost][kBlock];
  float* pointers[kMost];
  for (int a = 0; a < kMost; ++a) pointers[a] = in_f32[a];
  const auto exists = [&](int a) { return a < 2 || (use.states >> (a - 2) & 1) != 0; };
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    for (int a = 0; a < kMost; ++a)
      for (int64_t i = 0; exists(a) && i < n; ++i) in_f32[a][i] = float(arrays[a][start + i]);
    HWY_DYNAMIC_DISPATCH(rule_f32)(use, n, pointers);
    for (int a = 0; a < kMost; ++a)
      for (int64_t i = 0; exists(a) && a != 1 && i < n; ++i) arrays[a][start + i] = T(in_f32[a][i]);
  }
}

}  // namespace

template <class T>
void step_stretch(const RuleUse& use, int64_t count, T* const* arrays) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(rule_f32)(use, count, arrays);
  else if constexpr (std::is_same_v<T, double>)
    HWY_DYNAMIC_DISPATCH(rule_f64)(use, count, arrays);
  else
    through_f32(use, count, arrays);
}

template <class T>
void scale_stretch(int64_t count, T* x, double factor) {
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_floating_point_v<T>)
      x[i] *= T(factor);
    else
      x[i] = T(float(x[i]) * float(factor));
  }
}

template <class T>
double power_sum(int64_t count, const T* x, double p) {
  if constexpr (std::is_same_v<T, float>)
    if (p == 2) return HWY_DYNAMIC_DISPATCH(square_sum_f32)(count, x);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = convert<double>(x[i]);
    sum += p == 2 ? value * value : p == 1 ? std::abs(value) : std::pow(std::abs(value), p);
  }
  return sum;
}

template <class T>
double largest_magnitude(int64_t count, const T* x) {
  double largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double value = std::abs(convert<double>(x[i]));
    if (value > largest || std::isnan(value)) largest = value;
    if (std::isnan(largest)) break;
  }
  return largest;
}

#define LUNAGRAD_STRETCHES(T)                                     \
  template void step_stretch(const RuleUse&, int64_t, T* const*); \
  template void scale_stretch(int64_t, T*, double);               \
  template double power_sum(int64_t, const T*, double);           \
  template double largest_magnitude(int64_t, const T*);
LUNAGRAD_STRETCHES(float)
LUNAGRAD_STRETCHES(double)
LUNAGRAD_STRETCHES(Half)
LUNAGRAD_STRETCHES(BFloat16)
#undef LUNAGRAD_STRETCHES

}  // namespace lunagrad
#endif
