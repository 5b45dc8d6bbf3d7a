#pragma once
// Norms of the difference of two rows, and their slopes, without a row of the differences. Pure, any thread.
#include <algorithm>
#include <cmath>

#include "runtime/ops/reductions/cpu/reduce.h"
#include "runtime/ops/reductions/cpu/reduce_again.h"

namespace lunagrad {

// x1 - x2 + shift, some elements at a time.
template <class T>
struct Differences {
  static constexpr int64_t kTile = 1024;
  const T *x1, *x2;
  int64_t n;
  T shift;

  // f(t, count, first): elements first ... first + count - 1.
  template <class F>
  void each(F&& f) const {
    T t[kTile];
    for (int64_t first = 0; first < n; first += kTile) {
      const int64_t count = std::min(kTile, n - first);
      const T *const a = x1 + first, *const b = x2 + first;
      for (int64_t i = 0; i < count; ++i) t[i] = a[i] - b[i] + shift;
      f(static_cast<const T*>(t), count, first);
    }
  }
};
template <class T>
double norm_of(const Differences<T>& apart, double p) {
  double state = 0;
  const ReduceKind kind = p == 1   ? ReduceKind::sum_abs
                          : p == 2 ? ReduceKind::sum_squares
                                   : ReduceKind::sum_powers;
  apart.each([&](const T* t, int64_t count, int64_t) {
    if (p == 0) {
      for (int64_t i = 0; i < count; ++i) state += t[i] != 0;
    } else if (std::isinf(p)) {
      for (int64_t i = 0; i < count; ++i) {
        const double size = std::abs(double(t[i]));
        state = size > state || std::isnan(size) ? size : state;
      }
    } else {
      double part = 0;
      reduce_row(kind, p, t, count, &part);
      state += part;
    }
  });
  if (p == 0 || p == 1 || std::isinf(p)) return state;
  if (!power_in_range(state) && (p != 2 || sizeof(T) == 8))
    return norm_again(
        [&](const auto& f) {
          apart.each([&](const T* t, int64_t count, int64_t) {
            for (int64_t i = 0; i < count; ++i) {
              const double element = double(t[i]);
              f(&element, 1);
            }
          });
        },
        p);
  return p == 2 ? std::sqrt(state) : std::pow(state, 1 / p);
}
// d y / d t times g, as in vector_norm.cpp; several largest elements share the gradient for p = inf.
template <class T>
void norm_slopes(const Differences<T>& apart, double p, double y, double g, T* out) {
  if (p != 1 && y == 0) return std::fill(out, out + apart.n, T(0));
  double part = g;
  if (std::isinf(p)) {
    int64_t ties = 0;
    apart.each([&](const T* t, int64_t count, int64_t) {
      for (int64_t i = 0; i < count; ++i) ties += std::abs(t[i]) == T(y);
    });
    part = g / double(ties);
  }
  const double factor = g / y;
  const bool plain = std::isnormal(factor);
  apart.each([&](const T* t, int64_t count, int64_t first) {
    T* const to = out + first;
    if (p == 1 || std::isinf(p)) {
      for (int64_t i = 0; i < count; ++i) {
        const bool has_slope = p == 1 || std::abs(t[i]) == T(y);
        to[i] = std::isnan(t[i]) ? t[i] : !has_slope || t[i] == 0 ? T(0) : T(t[i] > 0 ? part : -part);
      }
    } else if (p == 2 && plain) {
      for (int64_t i = 0; i < count; ++i) to[i] = T(double(t[i]) * factor);
    } else if (p == 2) {
      for (int64_t i = 0; i < count; ++i) to[i] = T(double(t[i]) / y * g);
    } else {
      for (int64_t i = 0; i < count; ++i) {
        const double size = std::abs(double(t[i]));
        const double power = size == 0 ? 0 : std::pow(size / y, p - 1) * g;
        to[i] = T(t[i] < 0 ? -power : power);
      }
    }
  });
}

}  // namespace lunagrad
