// The loops of optimizer.h. Each step is written once, as a function of SIMD vectors; the rest of a stretch
// that does not fill a vector goes through the same function with vectors of one lane.
#include <algorithm>
#include <cmath>

#include "runtime/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/optimizer_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/optimizer.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// SGD with momentum (Polyak 1964; Nesterov's form as in Sutskever et al., ICML 2013), as PyTorch defines it:
//   g' = g + weight_decay p;  b = momentum b + (1 - dampening) g' (the first b is g')
//   p -= lr b, or p -= lr (g' + momentum b) for Nesterov's.
template <class D, class V>
void sgd_vector(D d, const SgdStep& s, V& p, V g, V* b) {
  using T = hn::TFromD<D>;
  if (s.maximize) g = hn::Neg(g);
  g = hn::MulAdd(hn::Set(d, T(s.weight_decay)), p, g);
  if (b) {
    const V momentum = hn::Set(d, T(s.momentum));
    *b = s.first ? g : hn::MulAdd(momentum, *b, hn::Mul(hn::Set(d, T(1 - s.dampening)), g));
    g = s.nesterov ? hn::MulAdd(momentum, *b, g) : *b;
  }
  p = hn::NegMulAdd(hn::Set(d, T(s.lr)), g, p);
}

// Adam (Kingma and Ba, ICLR 2015, algorithm 1), with decoupled weight decay (Loshchilov and Hutter, ICLR
// 2019) and amsgrad (Reddi, Kale and Kumar, ICLR 2018), as PyTorch defines them:
//   p *= decay;  g' = g + weight_decay p;  m = beta1 m + (1 - beta1) g';  v = beta2 v + (1 - beta2) g'^2
//   p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) + eps)
template <class D, class V>
void adam_vector(D d, const AdamStep& s, V& p, V g, V& m, V& v, V* largest) {
  using T = hn::TFromD<D>;
  if (s.maximize) g = hn::Neg(g);
  p = hn::Mul(p, hn::Set(d, T(s.decay)));
  g = hn::MulAdd(hn::Set(d, T(s.weight_decay)), p, g);
  m = hn::MulAdd(hn::Set(d, T(s.beta1)), m, hn::Mul(hn::Set(d, T(1 - s.beta1)), g));
  v = hn::MulAdd(hn::Set(d, T(s.beta2)), v, hn::Mul(hn::Set(d, T(1 - s.beta2)), hn::Mul(g, g)));
  V second = v;
  if (largest) second = *largest = hn::IfThenElse(hn::Ge(*largest, v), *largest, v);
  // Multiplied through by sqrt(1 - beta2^t), which saves a division.
  const V root = hn::Sqrt(second), correction = hn::Set(d, T(s.root_correction));
  const V denominator = hn::MulAdd(hn::Set(d, T(s.eps)), correction, root);
  p = hn::NegMulAdd(hn::Set(d, T(s.step_size)), hn::Div(hn::Mul(m, correction), denominator), p);
}

// Calls f(tag, i) over [0, count): whole vectors, then single elements.
template <class T, class F>
HWY_INLINE void for_vectors(int64_t count, F&& f) {
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> one;
  const int64_t lanes = int64_t(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) f(d, i);
  for (; i < count; ++i) f(one, i);
}

template <class T>
void sgd_loop(const SgdStep& s, int64_t count, T* param, const T* grad, T* buffer) {
  for_vectors<T>(count, [&](auto d, int64_t i) HWY_ATTR {
    auto p = hn::LoadU(d, param + i);
    const auto g = hn::LoadU(d, grad + i);
    if (buffer) {
      auto b = s.first ? g : hn::LoadU(d, buffer + i);
      sgd_vector(d, s, p, g, &b);
      hn::StoreU(b, d, buffer + i);
    } else {
      sgd_vector(d, s, p, g, static_cast<decltype(p)*>(nullptr));
    }
    hn::StoreU(p, d, param + i);
  });
}

template <class T>
void adam_loop(const AdamStep& s, int64_t count, T* param, const T* grad, T* mean, T* square, T* largest) {
  for_vectors<T>(count, [&](auto d, int64_t i) HWY_ATTR {
    auto p = hn::LoadU(d, param + i), m = hn::LoadU(d, mean + i), v = hn::LoadU(d, square + i);
    const auto g = hn::LoadU(d, grad + i);
    if (largest) {
      auto most = hn::LoadU(d, largest + i);
      adam_vector(d, s, p, g, m, v, &most);
      hn::StoreU(most, d, largest + i);
    } else {
      adam_vector(d, s, p, g, m, v, static_cast<decltype(p)*>(nullptr));
    }
    hn::StoreU(p, d, param + i);
    hn::StoreU(m, d, mean + i);
    hn::StoreU(v, d, square + i);
  });
}

void sgd_f32(const SgdStep& s, int64_t n, float* p, const float* g, float* b) { sgd_loop(s, n, p, g, b); }
void sgd_f64(const SgdStep& s, int64_t n, double* p, const double* g, double* b) { sgd_loop(s, n, p, g, b); }
void adam_f32(const AdamStep& s, int64_t n, float* p, const float* g, float* m, float* v, float* l) {
  adam_loop(s, n, p, g, m, v, l);
}
void adam_f64(const AdamStep& s, int64_t n, double* p, const double* g, double* m, double* v, double* l) {
  adam_loop(s, n, p, g, m, v, l);
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

HWY_EXPORT(sgd_f32);
HWY_EXPORT(sgd_f64);
HWY_EXPORT(adam_f32);
HWY_EXPORT(adam_f64);
HWY_EXPORT(square_sum_f32);

// Elements that are widened into a buffer on the stack at a time.
constexpr int64_t kBlock = 512;

// 16-bit tensors: f(block length, widened arrays…) on blocks, the first `written` arrays go back.
template <class T, size_t N, class F>
void through_f32(int64_t count, T* const (&arrays)[N], F&& f) {
  float wide[N][kBlock];
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    for (size_t a = 0; a < N; ++a)
      if (arrays[a])
        for (int64_t i = 0; i < n; ++i) wide[a][i] = float(arrays[a][start + i]);
    f(n, wide);
    for (size_t a = 1; a < N; ++a)  // the first is the gradient
      if (arrays[a])
        for (int64_t i = 0; i < n; ++i) arrays[a][start + i] = T(wide[a][i]);
  }
}

}  // namespace

template <class T>
void sgd_stretch(const SgdStep& s, int64_t count, T* param, const T* grad, T* buffer) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(sgd_f32)(s, count, param, grad, buffer);
  } else if constexpr (std::is_same_v<T, double>) {
    HWY_DYNAMIC_DISPATCH(sgd_f64)(s, count, param, grad, buffer);
  } else {
    T* const arrays[] = {const_cast<T*>(grad), param, buffer};
    through_f32(count, arrays, [&](int64_t n, float(*x)[kBlock]) {
      HWY_DYNAMIC_DISPATCH(sgd_f32)(s, n, x[1], x[0], buffer ? x[2] : nullptr);
    });
  }
}

template <class T>
void adam_stretch(const AdamStep& s, int64_t count, T* param, const T* grad, T* mean, T* square, T* largest) {
  if constexpr (std::is_same_v<T, float>) {
    HWY_DYNAMIC_DISPATCH(adam_f32)(s, count, param, grad, mean, square, largest);
  } else if constexpr (std::is_same_v<T, double>) {
    HWY_DYNAMIC_DISPATCH(adam_f64)(s, count, param, grad, mean, square, largest);
  } else {
    T* const arrays[] = {const_cast<T*>(grad), param, mean, square, largest};
    through_f32(count, arrays, [&](int64_t n, float(*x)[kBlock]) {
      HWY_DYNAMIC_DISPATCH(adam_f32)(s, n, x[1], x[0], x[2], x[3], largest ? x[4] : nullptr);
    });
  }
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

#define LUNAGRAD_STRETCHES(T)                                                     \
  template void sgd_stretch(const SgdStep&, int64_t, T*, const T*, T*);           \
  template void adam_stretch(const AdamStep&, int64_t, T*, const T*, T*, T*, T*); \
  template void scale_stretch(int64_t, T*, double);                               \
  template double power_sum(int64_t, const T*, double);                           \
  template double largest_magnitude(int64_t, const T*);
LUNAGRAD_STRETCHES(float)
LUNAGRAD_STRETCHES(double)
LUNAGRAD_STRETCHES(Half)
LUNAGRAD_STRETCHES(BFloat16)
#undef LUNAGRAD_STRETCHES

}  // namespace lunagrad
#endif
