// The loops of optimizer.h. Each rule is one function of SIMD vectors; elements that do not fill a vector use
// the same function with vectors of one lane.
#include <algorithm>
#include <cmath>

#include "runtime/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/optimizer_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// A rule's numbers as vectors: x(i) is number i, x.rest(i) is 1 - number i.
template <class D>
struct Numbers {
  using T = hn::TFromD<D>;
  D d;
  const T* values;
  const T* rests;
  HWY_INLINE hn::Vec<D> operator()(int i) const { return hn::Set(d, values[i]); }
  HWY_INLINE hn::Vec<D> rest(int i) const { return hn::Set(d, rests[i]); }
  HWY_INLINE bool flag(int i) const { return values[i] != 0; }
};

// The first step of every rule except ema: applies the sign and the decay, whose indices are given.
template <class D, class V>
HWY_INLINE void prepare(Numbers<D> x, int sign, int decay, V& p, V& g) {
  if (x.values[sign] < 0) g = hn::Neg(g);
  if (x.values[decay] < 0)
    p = hn::MulAdd(p, x(decay), p);
  else
    g = hn::MulAdd(x(decay), p, g);
}

// state = share state + (1 - share) value
template <class D, class V>
HWY_INLINE V average(Numbers<D> x, int share, V state, V value) {
  return hn::MulAdd(x(share), state, hn::Mul(x.rest(share), value));
}

// p -= lr g
struct Sgd {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V*) {
    prepare(x, 2, 1, p, g);
    p = hn::NegMulAdd(x(0), g, p);
  }
};

// Polyak 1964; Nesterov's form as in Sutskever et al., ICML 2013, as PyTorch defines it:
//   b = momentum b + (1 - dampening) g (the first b is g);  p -= lr b, or p -= lr (g + momentum b)
struct Momentum {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* b) {
    prepare(x, 2, 1, p, g);
    *b = x.flag(5) ? g : hn::MulAdd(x(3), *b, hn::Mul(x(4), g));
    p = hn::NegMulAdd(x(0), x.flag(6) ? hn::MulAdd(x(3), *b, g) : *b, p);
  }
};

// Kingma, Ba, ICLR 2015, algorithm 1; decoupled decay: Loshchilov, Hutter, ICLR 2019; amsgrad: Reddi, Kale,
// Kumar, ICLR 2018:
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2
//   p -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
template <bool amsgrad>
struct Adam {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 6, 3, p, g);
    s[0] = average(x, 0, s[0], g);
    s[1] = average(x, 1, s[1], hn::Mul(g, g));
    V second = s[1];
    if constexpr (amsgrad) second = s[2] = hn::IfThenElse(hn::Ge(s[2], s[1]), s[2], s[1]);
    // Numerator and denominator are multiplied by sqrt(1 - beta2^t), which saves a division.
    const V denominator = hn::MulAdd(x(2), x(5), hn::Sqrt(second));
    p = hn::NegMulAdd(x(4), hn::Div(hn::Mul(s[0], x(5)), denominator), p);
  }
};

// Dozat, ICLR workshop 2016: m and v of Adam;
//   p -= (rate of the gradient g + rate of the mean m) / (sqrt(v) / sqrt(1 - beta2^t) + eps)
struct NAdam {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 7, 3, p, g);
    s[0] = average(x, 0, s[0], g);
    s[1] = average(x, 1, s[1], hn::Mul(g, g));
    const V denominator = hn::MulAdd(x(2), x(6), hn::Sqrt(s[1]));
    const V direction = hn::MulAdd(x(4), g, hn::Mul(x(5), s[0]));
    p = hn::Sub(p, hn::Div(hn::Mul(direction, x(6)), denominator));
  }
};

// Liu et al., ICLR 2020: m and v of Adam;  p -= rate m / (sqrt(v) + eps), or p -= rate m in the first steps,
// where the variance of the adaptive rate is too large
struct RAdam {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 6, 3, p, g);
    s[0] = average(x, 0, s[0], g);
    s[1] = average(x, 1, s[1], hn::Mul(g, g));
    const V direction = x.flag(5) ? hn::Div(s[0], hn::Add(hn::Sqrt(s[1]), x(2))) : s[0];
    p = hn::NegMulAdd(x(4), direction, p);
  }
};

// Kingma, Ba, section 7: m of Adam;  u = max(beta2 u, |g| + eps);  p -= rate m / u
struct Adamax {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 5, 3, p, g);
    s[0] = average(x, 0, s[0], g);
    const V size = hn::Add(hn::Abs(g), x(2)), held = hn::Mul(x(1), s[1]);
    s[1] = hn::IfThenElse(hn::Ge(held, size), held, size);
    p = hn::NegMulAdd(x(4), hn::Div(s[0], s[1]), p);
  }
};

// Tieleman, Hinton 2012; centred: Graves 2013, section 4.2:
//   v = alpha v + (1 - alpha) g^2;  a = alpha a + (1 - alpha) g;  d = g / (sqrt(v - a^2) + eps)
//   b = momentum b + d;  p -= lr b
template <bool momentum, bool centered>
struct RmsProp {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 4, 3, p, g);
    s[0] = average(x, 1, s[0], hn::Mul(g, g));
    V second = s[0];
    if constexpr (centered) {
      V& mean = s[1 + momentum];
      mean = average(x, 1, mean, g);
      second = hn::NegMulAdd(mean, mean, second);
    }
    V direction = hn::Div(g, hn::Add(hn::Sqrt(second), x(2)));
    if constexpr (momentum) direction = s[1] = hn::MulAdd(x(5), s[1], direction);
    p = hn::NegMulAdd(x(0), direction, p);
  }
};

// Duchi, Hazan, Singer, JMLR 12, 2011:  v += g^2;  p -= lr g / (sqrt(v) + eps)
struct Adagrad {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 3, 2, p, g);
    s[0] = hn::MulAdd(g, g, s[0]);
    p = hn::NegMulAdd(x(0), hn::Div(g, hn::Add(hn::Sqrt(s[0]), x(1))), p);
  }
};

// Zeiler 2012:  v = rho v + (1 - rho) g^2;  d = sqrt(u + eps) / sqrt(v + eps) g;
//   u = rho u + (1 - rho) d^2;  p -= lr d
struct Adadelta {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 4, 3, p, g);
    s[0] = average(x, 1, s[0], hn::Mul(g, g));
    const V ratio = hn::Div(hn::Sqrt(hn::Add(s[1], x(2))), hn::Sqrt(hn::Add(s[0], x(2))));
    const V delta = hn::Mul(ratio, g);
    s[1] = average(x, 1, s[1], hn::Mul(delta, delta));
    p = hn::NegMulAdd(x(0), delta, p);
  }
};

// Chen et al., NeurIPS 2023:  p -= lr sign(beta1 m + (1 - beta1) g);  m = beta2 m + (1 - beta2) g
struct Lion {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V* s) {
    prepare(x, 4, 3, p, g);
    const V direction = average(x, 1, s[0], g), zero = hn::Zero(x.d), one = hn::Set(x.d, 1);
    // The sign of zero and of NaN is the value itself.
    const V sign = hn::IfThenElse(hn::Gt(direction, zero), one,
                                  hn::IfThenElse(hn::Lt(direction, zero), hn::Neg(one), direction));
    p = hn::NegMulAdd(x(0), sign, p);
    s[0] = average(x, 2, s[0], g);
  }
};

// p = decay p + (1 - decay) g
struct Ema {
  template <class D, class V>
  static HWY_INLINE void step(Numbers<D> x, V& p, V g, V*) {
    p = average(x, 0, p, g);
  }
};

template <class R, Rule rule, class T>
void loop(const RuleNumbers& numbers, int64_t count, T* const* arrays) {
  constexpr int kStates = states_of(rule);
  T values[8], rests[8];
  for (size_t i = 0; i < 8; ++i) {
    values[i] = T(numbers[i]);
    rests[i] = T(1 - numbers[i]);
  }
  T* const param = arrays[0];
  const T* const grad = arrays[1];
  T* states[kMostStates];
  for (int k = 0; k < kStates; ++k) states[k] = arrays[2 + k];
  for_vectors<T>(count, [&](auto d, int64_t i) HWY_ATTR {
    using V = hn::Vec<decltype(d)>;
    V p = hn::LoadU(d, param + i), s[kMostStates];
    for (int k = 0; k < kStates; ++k) s[k] = hn::LoadU(d, states[k] + i);
    R::step(Numbers<decltype(d)>{d, values, rests}, p, V(hn::LoadU(d, grad + i)), s);
    hn::StoreU(p, d, param + i);
    for (int k = 0; k < kStates; ++k) hn::StoreU(s[k], d, states[k] + i);
  });
}

template <class T>
void run_rule(Rule rule, const RuleNumbers& numbers, int64_t count, T* const* arrays) {
#define LUNAGRAD_RULE(name, ...) \
  case Rule::name:               \
    return loop<__VA_ARGS__, Rule::name>(numbers, count, arrays);
  switch (rule) {
    LUNAGRAD_RULE(sgd, Sgd)
    LUNAGRAD_RULE(momentum, Momentum)
    LUNAGRAD_RULE(adam, Adam<false>)
    LUNAGRAD_RULE(amsgrad, Adam<true>)
    LUNAGRAD_RULE(nadam, NAdam)
    LUNAGRAD_RULE(radam, RAdam)
    LUNAGRAD_RULE(adamax, Adamax)
    LUNAGRAD_RULE(rmsprop, RmsProp<false, false>)
    LUNAGRAD_RULE(rmsprop_momentum, RmsProp<true, false>)
    LUNAGRAD_RULE(rmsprop_centered, RmsProp<false, true>)
    LUNAGRAD_RULE(rmsprop_both, RmsProp<true, true>)
    LUNAGRAD_RULE(adagrad, Adagrad)
    LUNAGRAD_RULE(adadelta, Adadelta)
    LUNAGRAD_RULE(lion, Lion)
    LUNAGRAD_RULE(ema, Ema)
  }
#undef LUNAGRAD_RULE
}

void rule_f32(Rule rule, const RuleNumbers& numbers, int64_t count, float* const* arrays) {
  run_rule(rule, numbers, count, arrays);
}
void rule_f64(Rule rule, const RuleNumbers& numbers, int64_t count, double* const* arrays) {
  run_rule(rule, numbers, count, arrays);
}

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

// 16-bit tensors are converted to f32 in a stack buffer of this many elements.
constexpr int64_t kBlock = 512;

template <class T>
void through_f32(Rule rule, const RuleNumbers& numbers, int64_t count, T* const* arrays) {
  constexpr int kMost = 2 + kMostStates;
  float wide[kMost][kBlock];
  float* pointers[kMost];
  for (int a = 0; a < kMost; ++a) pointers[a] = wide[a];
  const int used = 2 + states_of(rule);
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    for (int a = 0; a < used; ++a)
      for (int64_t i = 0; i < n; ++i) wide[a][i] = float(arrays[a][start + i]);
    HWY_DYNAMIC_DISPATCH(rule_f32)(rule, numbers, n, pointers);
    for (int a = 0; a < used; ++a)
      for (int64_t i = 0; a != 1 && i < n; ++i) arrays[a][start + i] = T(wide[a][i]);
  }
}

}  // namespace

template <class T>
void step_stretch(Rule rule, const RuleNumbers& numbers, int64_t count, T* const* arrays) {
  if constexpr (std::is_same_v<T, float>)
    HWY_DYNAMIC_DISPATCH(rule_f32)(rule, numbers, count, arrays);
  else if constexpr (std::is_same_v<T, double>)
    HWY_DYNAMIC_DISPATCH(rule_f64)(rule, numbers, count, arrays);
  else
    through_f32(rule, numbers, count, arrays);
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

#define LUNAGRAD_STRETCHES(T)                                               \
  template void step_stretch(Rule, const RuleNumbers&, int64_t, T* const*); \
  template void scale_stretch(int64_t, T*, double);                         \
  template double power_sum(int64_t, const T*, double);                     \
  template double largest_magnitude(int64_t, const T*);
LUNAGRAD_STRETCHES(float)
LUNAGRAD_STRETCHES(double)
LUNAGRAD_STRETCHES(Half)
LUNAGRAD_STRETCHES(BFloat16)
#undef LUNAGRAD_STRETCHES

}  // namespace lunagrad
#endif
