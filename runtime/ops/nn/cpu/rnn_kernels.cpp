// The cells of rnn.h. LSTM: Hochreiter, Schmidhuber, Neural Computation 9, 1997, with the forget gate of
// Gers, Schmidhuber, Cummins, 2000. GRU: Cho et al., EMNLP 2014, with the reset gate applied after the
// product, as in PyTorch.
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/nn/cpu/rnn_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/math.h"
#include "runtime/ops/nn/cpu/rnn.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class T>
HWY_INLINE hn::Vec<D> sum_of(D d, const T* a, const T* b) {
  return hn::Add(hn::LoadU(d, a), hn::LoadU(d, b));
}

// The gradient of h: from later steps plus from the result.
template <class D, class T>
HWY_INLINE hn::Vec<D> total(D d, const T* dh, const T* dout, int64_t i) {
  const auto g = hn::LoadU(d, dh + i);
  return dout ? hn::Add(g, hn::LoadU(d, dout + i)) : g;
}

// The gradients of sigmoid and tanh from their results: g y (1 - y) and g (1 - y^2).
template <class D, class V>
HWY_INLINE V behind_sigmoid(D d, V g, V y) {
  return hn::Mul(hn::Mul(g, y), hn::Sub(hn::Set(d, 1), y));
}
template <class D, class V>
HWY_INLINE V behind_tanh(D d, V g, V y) {
  return hn::Mul(g, hn::NegMulAdd(y, y, hn::Set(d, 1)));
}

template <class T>
void rnn_forward(bool relu, int64_t n, const T* input, const T* hidden, T* h) {
  for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto x = sum_of(d, input + i, hidden + i), zero = hn::Zero(d);
    // Replaces only negative numbers, so NaN stays.
    hn::StoreU(relu ? hn::IfThenElse(hn::Lt(x, zero), zero, x) : math::tanh(d, x), d, h + i);
  });
}

template <class T>
void rnn_backward(bool relu, int64_t n, const T* h, const T* dh, const T* dout, T* dsum) {
  for_vectors<T>(n, [&](auto d, int64_t i) HWY_ATTR {
    const auto g = total(d, dh, dout, i), y = hn::LoadU(d, h + i), zero = hn::Zero(d);
    hn::StoreU(relu ? hn::IfThenElse(hn::Le(y, zero), zero, g) : behind_tanh(d, g, y), d, dsum + i);
  });
}

// i = sigmoid, f = sigmoid, g = tanh, o = sigmoid of their sums;  c = f c' + i g;  h = o tanh(c)
template <class T>
void lstm_forward(int64_t n, T* gates, const T* hidden, const T* c_before, T* c, T* h) {
  for_vectors<T>(n, [&](auto d, int64_t k) HWY_ATTR {
    const auto i = math::sigmoid(d, sum_of(d, gates + k, hidden + k));
    const auto f = math::sigmoid(d, sum_of(d, gates + n + k, hidden + n + k));
    const auto g = math::tanh(d, sum_of(d, gates + 2 * n + k, hidden + 2 * n + k));
    const auto o = math::sigmoid(d, sum_of(d, gates + 3 * n + k, hidden + 3 * n + k));
    const auto cell = hn::MulAdd(f, hn::LoadU(d, c_before + k), hn::Mul(i, g));
    hn::StoreU(i, d, gates + k);
    hn::StoreU(f, d, gates + n + k);
    hn::StoreU(g, d, gates + 2 * n + k);
    hn::StoreU(o, d, gates + 3 * n + k);
    hn::StoreU(cell, d, c + k);
    hn::StoreU(hn::Mul(o, math::tanh(d, cell)), d, h + k);
  });
}

// dc += dh o (1 - tanh(c)^2);  do = dh tanh(c), di = dc g, df = dc c', dg = dc i, each then through its
// activation's gradient;  dc' = dc f
template <class T>
void lstm_backward(int64_t n, const T* gates, const T* c_before, const T* c, const T* dh, const T* dout,
                   T* dc, T* dgates) {
  for_vectors<T>(n, [&](auto d, int64_t k) HWY_ATTR {
    const auto i = hn::LoadU(d, gates + k), f = hn::LoadU(d, gates + n + k);
    const auto g = hn::LoadU(d, gates + 2 * n + k), o = hn::LoadU(d, gates + 3 * n + k);
    const auto dy = total(d, dh, dout, k), squashed = math::tanh(d, hn::LoadU(d, c + k));
    const auto cell = hn::Add(hn::LoadU(d, dc + k), behind_tanh(d, hn::Mul(dy, o), squashed));
    hn::StoreU(behind_sigmoid(d, hn::Mul(cell, g), i), d, dgates + k);
    hn::StoreU(behind_sigmoid(d, hn::Mul(cell, hn::LoadU(d, c_before + k)), f), d, dgates + n + k);
    hn::StoreU(behind_tanh(d, hn::Mul(cell, i), g), d, dgates + 2 * n + k);
    hn::StoreU(behind_sigmoid(d, hn::Mul(dy, squashed), o), d, dgates + 3 * n + k);
    hn::StoreU(hn::Mul(cell, f), d, dc + k);
  });
}

// r = sigmoid, z = sigmoid of their sums;  n = tanh(input + r hidden);  h = n + z (h' - n)
template <class T>
void gru_forward(int64_t n, const T* input, const T* hidden, const T* h_before, T* gates, T* h) {
  for_vectors<T>(n, [&](auto d, int64_t k) HWY_ATTR {
    const auto r = math::sigmoid(d, sum_of(d, input + k, hidden + k));
    const auto z = math::sigmoid(d, sum_of(d, input + n + k, hidden + n + k));
    const auto q = hn::LoadU(d, hidden + 2 * n + k);
    const auto candidate = math::tanh(d, hn::MulAdd(r, q, hn::LoadU(d, input + 2 * n + k)));
    hn::StoreU(r, d, gates + k);
    hn::StoreU(z, d, gates + n + k);
    hn::StoreU(candidate, d, gates + 2 * n + k);
    hn::StoreU(q, d, gates + 3 * n + k);
    hn::StoreU(hn::MulAdd(z, hn::Sub(hn::LoadU(d, h_before + k), candidate), candidate), d, h + k);
  });
}

// dn = dh (1 - z), dz = dh (h' - n), then dr = dn q, each through its activation's gradient;  dq = dn r;
// dh' = dh z plus the part that comes through the product
template <class T>
void gru_backward(int64_t n, const T* gates, const T* h_before, T* dh, const T* dout, T* dinput, T* dhidden) {
  for_vectors<T>(n, [&](auto d, int64_t k) HWY_ATTR {
    const auto r = hn::LoadU(d, gates + k), z = hn::LoadU(d, gates + n + k);
    const auto candidate = hn::LoadU(d, gates + 2 * n + k), q = hn::LoadU(d, gates + 3 * n + k);
    const auto g = total(d, dh, dout, k);
    const auto dn = behind_tanh(d, hn::NegMulAdd(g, z, g), candidate);
    const auto dz = behind_sigmoid(d, hn::Mul(g, hn::Sub(hn::LoadU(d, h_before + k), candidate)), z);
    const auto dr = behind_sigmoid(d, hn::Mul(dn, q), r);
    hn::StoreU(dr, d, dinput + k);
    hn::StoreU(dz, d, dinput + n + k);
    hn::StoreU(dn, d, dinput + 2 * n + k);
    hn::StoreU(dr, d, dhidden + k);
    hn::StoreU(dz, d, dhidden + n + k);
    hn::StoreU(hn::Mul(dn, r), d, dhidden + 2 * n + k);
    hn::StoreU(hn::Mul(g, z), d, dh + k);
  });
}

// One name for each function and type, as HWY_EXPORT requires.
#define LUNAGRAD_CELLS(T, suffix)                                                                       \
  void rnn_##suffix(bool relu, int64_t n, const T* input, const T* hidden, T* h) {                      \
    rnn_forward(relu, n, input, hidden, h);                                                             \
  }                                                                                                     \
  void rnn_grad_##suffix(bool relu, int64_t n, const T* h, const T* dh, const T* dout, T* dsum) {       \
    rnn_backward(relu, n, h, dh, dout, dsum);                                                           \
  }                                                                                                     \
  void lstm_##suffix(int64_t n, T* gates, const T* hidden, const T* c_before, T* c, T* h) {             \
    lstm_forward(n, gates, hidden, c_before, c, h);                                                     \
  }                                                                                                     \
  void lstm_grad_##suffix(int64_t n, const T* gates, const T* c_before, const T* c, const T* dh,        \
                          const T* dout, T* dc, T* dgates) {                                            \
    lstm_backward(n, gates, c_before, c, dh, dout, dc, dgates);                                         \
  }                                                                                                     \
  void gru_##suffix(int64_t n, const T* input, const T* hidden, const T* h_before, T* gates, T* h) {    \
    gru_forward(n, input, hidden, h_before, gates, h);                                                  \
  }                                                                                                     \
  void gru_grad_##suffix(int64_t n, const T* gates, const T* h_before, T* dh, const T* dout, T* dinput, \
                         T* dhidden) {                                                                  \
    gru_backward(n, gates, h_before, dh, dout, dinput, dhidden);                                        \
  }
LUNAGRAD_CELLS(float, f32)
LUNAGRAD_CELLS(double, f64)
#undef LUNAGRAD_CELLS

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(rnn_f32);
HWY_EXPORT(rnn_f64);
HWY_EXPORT(rnn_grad_f32);
HWY_EXPORT(rnn_grad_f64);
HWY_EXPORT(lstm_f32);
HWY_EXPORT(lstm_f64);
HWY_EXPORT(lstm_grad_f32);
HWY_EXPORT(lstm_grad_f64);
HWY_EXPORT(gru_f32);
HWY_EXPORT(gru_f64);
HWY_EXPORT(gru_grad_f32);
HWY_EXPORT(gru_grad_f64);

}  // namespace

// Calls the function of T's type.
#define LUNAGRAD_OF_TYPE(name, ...)                \
  if constexpr (std::is_same_v<T, float>)          \
    HWY_DYNAMIC_DISPATCH(name##_f32)(__VA_ARGS__); \
  else                                             \
    HWY_DYNAMIC_DISPATCH(name##_f64)(__VA_ARGS__);

template <class T>
void rnn_row(bool relu, int64_t n, const T* input, const T* hidden, T* h) {
  LUNAGRAD_OF_TYPE(rnn, relu, n, input, hidden, h)
}
template <class T>
void rnn_grad_row(bool relu, int64_t n, const T* h, const T* dh, const T* dout, T* dsum) {
  LUNAGRAD_OF_TYPE(rnn_grad, relu, n, h, dh, dout, dsum)
}
template <class T>
void lstm_row(int64_t n, T* gates, const T* hidden, const T* c_before, T* c, T* h) {
  LUNAGRAD_OF_TYPE(lstm, n, gates, hidden, c_before, c, h)
}
template <class T>
void lstm_grad_row(int64_t n, const T* gates, const T* c_before, const T* c, const T* dh, const T* dout,
                   T* dc, T* dgates) {
  LUNAGRAD_OF_TYPE(lstm_grad, n, gates, c_before, c, dh, dout, dc, dgates)
}
template <class T>
void gru_row(int64_t n, const T* input, const T* hidden, const T* h_before, T* gates, T* h) {
  LUNAGRAD_OF_TYPE(gru, n, input, hidden, h_before, gates, h)
}
template <class T>
void gru_grad_row(int64_t n, const T* gates, const T* h_before, T* dh, const T* dout, T* dinput,
                  T* dhidden){LUNAGRAD_OF_TYPE(gru_grad, n, gates, h_before, dh, dout, dinput, dhidden)}
#undef LUNAGRAD_OF_TYPE

#define LUNAGRAD_ROWS(T)                                                                          \
  template void rnn_row(bool, int64_t, const T*, const T*, T*);                                   \
  template void rnn_grad_row(bool, int64_t, const T*, const T*, const T*, T*);                    \
  template void lstm_row(int64_t, T*, const T*, const T*, T*, T*);                                \
  template void lstm_grad_row(int64_t, const T*, const T*, const T*, const T*, const T*, T*, T*); \
  template void gru_row(int64_t, const T*, const T*, const T*, T*, T*);                           \
  template void gru_grad_row(int64_t, const T*, const T*, T*, const T*, T*, T*);
LUNAGRAD_ROWS(float) LUNAGRAD_ROWS(double)
#undef LUNAGRAD_ROWS

}  // namespace lunagrad
#endif
