// The loops of reduce_kernels.h, compiled once per SIMD target. Floats are summed in f64: a sum of 2^24 equal
// f32 values is exact. The order of the additions differs between targets; its effect is below the rounding
// of the f32 result.
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/reductions/cpu/reduce_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/ops/reductions/cpu/reduce_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// Sums and products of integers wrap around in this type.
template <class A>
using Wrapping =
    typename std::conditional_t<std::is_integral_v<A>, std::make_unsigned<A>, std::type_identity<A>>::type;

// Reductions, one element at a time. `next` of the comparisons takes a NaN and then keeps it.
struct Sum {
  template <class A>
  static A next(A state, A x, double) {
    return A(Wrapping<A>(state) + Wrapping<A>(x));
  }
};
struct Product {
  template <class A>
  static A next(A state, A x, double) {
    return A(Wrapping<A>(state) * Wrapping<A>(x));
  }
};
struct Max {
  template <class A>
  static A next(A state, A x, double) {
    return x > state || x != x ? x : state;
  }
};
struct Min {
  template <class A>
  static A next(A state, A x, double) {
    return x < state || x != x ? x : state;
  }
};
struct SumAbs {
  template <class A>
  static A next(A state, A x, double) {
    return state + (x < 0 ? -x : x);
  }
};
struct SumNumbers {
  template <class A>
  static A next(A state, A x, double) {
    return x == x ? state + x : state;
  }
};
struct SumSquares {
  template <class A>
  static A next(A state, A x, double) {
    return state + x * x;
  }
};
struct SumPowers {
  template <class A>
  static A next(A state, A x, double p) {
    return state + A(std::pow(std::fabs(double(x)), p));
  }
};

// --- rows ---

template <class T>
HWY_INLINE auto load_f64(const T* x) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<T, decltype(d)> dx;
  if constexpr (sizeof(T) == 8)
    return hn::LoadU(dx, x);
  else
    return hn::PromoteTo(d, hn::LoadU(dx, x));
}

// Four f64 vectors at a time.
template <class T, class F>
double accumulate(const T* x, int64_t n, F&& f) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto load = [&](int64_t at) HWY_ATTR { return load_f64(x + at); };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::Add(s0, f(load(i)));
    s1 = hn::Add(s1, f(load(i + lanes)));
    s2 = hn::Add(s2, f(load(i + 2 * lanes)));
    s3 = hn::Add(s3, f(load(i + 3 * lanes)));
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::Add(s0, f(load(i)));
  double total = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; i < n; ++i) total += hn::GetLane(f(hn::Set(d, double(x[i]))));
  return total;
}

// Running products in four f64 vectors, which hides the latency of a multiplication.
template <class T>
double multiply(const T* x, int64_t n) {
  const hn::ScalableTag<double> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto load = [&](int64_t at) HWY_ATTR { return load_f64(x + at); };
  auto p0 = hn::Set(d, 1.0), p1 = p0, p2 = p0, p3 = p0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    p0 = hn::Mul(p0, load(i));
    p1 = hn::Mul(p1, load(i + lanes));
    p2 = hn::Mul(p2, load(i + 2 * lanes));
    p3 = hn::Mul(p3, load(i + 3 * lanes));
  }
  HWY_ALIGN double parts[HWY_LANES(double)];
  hn::Store(hn::Mul(hn::Mul(p0, p1), hn::Mul(p2, p3)), d, parts);
  double product = 1;
  for (int64_t k = 0; k < lanes; ++k) product *= parts[k];
  for (; i < n; ++i) product *= double(x[i]);
  return product;
}

template <bool largest, class T>
T extreme(const T* x, int64_t n, T start) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  // Comparisons skip NaN; the sum of all elements shows whether there is a NaN.
  const auto step = [](auto state, auto v) HWY_ATTR {
    return hn::IfThenElse(largest ? hn::Gt(v, state) : hn::Lt(v, state), v, state);
  };
  auto s0 = hn::Set(d, start), s1 = s0, s2 = s0, s3 = s0;
  auto sums = hn::Zero(d);
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    const auto a = hn::LoadU(d, x + i), b = hn::LoadU(d, x + i + lanes);
    const auto c = hn::LoadU(d, x + i + 2 * lanes), e = hn::LoadU(d, x + i + 3 * lanes);
    s0 = step(s0, a);
    s1 = step(s1, b);
    s2 = step(s2, c);
    s3 = step(s3, e);
    sums = hn::Add(sums, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  s0 = step(step(s0, s1), step(s2, s3));
  T result = largest ? hn::GetLane(hn::MaxOfLanes(d, s0)) : hn::GetLane(hn::MinOfLanes(d, s0));
  // The sum is NaN if an element is NaN, or if infinities of both signs were added: only then search again.
  const T sum = hn::GetLane(hn::SumOfLanes(d, sums));
  if (sum != sum)
    for (int64_t k = 0; k < i; ++k)
      if (x[k] != x[k]) return x[k];
  for (; i < n; ++i) result = largest ? Max::next(result, x[i], 0) : Min::next(result, x[i], 0);
  return result;
}

template <class Step, class T, class A>
void reduce_elements(double p, const T* x, int64_t n, A* state) {
  A s = *state;
  for (int64_t i = 0; i < n; ++i) s = Step::next(s, A(x[i]), p);
  *state = s;
}

// Mean and squared deviations of each part, combined as in T. Chan, G. Golub, R. LeVeque, "Updating formulae
// and a pairwise algorithm for computing sample variances" (1979).
template <class T>
void reduce_moments(const T* x, int64_t n, double* state) {
  constexpr int64_t kPart = 2048;
  for (int64_t done = 0; done < n; done += kPart) {
    const int64_t part = std::min(kPart, n - done);
    const double mean = accumulate(x + done, part, [](auto v) HWY_ATTR { return v; }) / double(part);
    const hn::ScalableTag<double> d;
    const auto center = hn::Set(d, mean);
    const double squares = accumulate(x + done, part, [center](auto v) HWY_ATTR {
      const auto difference = hn::Sub(v, center);
      return hn::Mul(difference, difference);
    });
    const double total = state[0] + double(part), shift = mean - state[1];
    state[1] += shift * (double(part) / total);
    state[2] += squares + shift * shift * (state[0] * double(part) / total);
    state[0] = total;
  }
}

template <class T>
void reduce_float_row(ReduceKind reduction, double p, const T* x, int64_t n, double* state) {
  switch (reduction) {
    case ReduceKind::sum:
      *state += accumulate(x, n, [](auto v) HWY_ATTR { return v; });
      return;
    case ReduceKind::sum_abs:
      *state += accumulate(x, n, [](auto v) HWY_ATTR { return hn::Abs(v); });
      return;
    case ReduceKind::sum_numbers:
      *state += accumulate(x, n, [](auto v) HWY_ATTR { return hn::IfThenZeroElse(hn::IsNaN(v), v); });
      return;
    case ReduceKind::sum_squares:
      *state += accumulate(x, n, [](auto v) HWY_ATTR { return hn::Mul(v, v); });
      return;
    case ReduceKind::max:
      if (*state == *state) *state = extreme<true>(x, n, T(*state));
      return;
    case ReduceKind::min:
      if (*state == *state) *state = extreme<false>(x, n, T(*state));
      return;
    case ReduceKind::product:
      *state *= multiply(x, n);
      return;
    case ReduceKind::sum_powers:
      return reduce_elements<SumPowers>(p, x, n, state);
    case ReduceKind::moments:
      return reduce_moments(x, n, state);
  }
}

void RowF32(ReduceKind reduction, double p, const float* x, int64_t n, double* state) {
  reduce_float_row(reduction, p, x, n, state);
}
void RowF64(ReduceKind reduction, double p, const double* x, int64_t n, double* state) {
  reduce_float_row(reduction, p, x, n, state);
}

template <class F>
void choose_integer_step(ReduceKind reduction, F&& f) {
  switch (reduction) {
    case ReduceKind::sum:
      return f(Sum());
    case ReduceKind::product:
      return f(Product());
    case ReduceKind::max:
      return f(Max());
    case ReduceKind::min:
      return f(Min());
    default:
      return;
  }
}

void RowI64(ReduceKind reduction, double p, const int64_t* x, int64_t n, int64_t* state) {
  choose_integer_step(reduction, [&](auto step) { reduce_elements<decltype(step)>(p, x, n, state); });
}

// Bool tensors: bytes 0 and 1. Their maximum is any(), their minimum is all().
void RowU8(ReduceKind reduction, double, const uint8_t* x, int64_t n, uint8_t* state) {
  uint8_t s = *state;
  if (reduction == ReduceKind::max)
    for (int64_t i = 0; i < n; ++i) s |= x[i];
  else
    for (int64_t i = 0; i < n; ++i) s &= x[i];
  *state = s;
}

// The index of the first element that equals `value`, or is NaN if `value` is NaN; there must be one.
template <class T>
int64_t find_first(const T* x, int64_t n, T value) {
  const hn::ScalableTag<T> d;
  const int64_t lanes = int64_t(hn::Lanes(d));
  const auto wanted = hn::Set(d, value);
  const bool nan = value != value;
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    auto found = hn::Eq(v, wanted);
    if constexpr (std::is_floating_point_v<T>)
      if (nan) found = hn::IsNaN(v);
    const intptr_t lane = hn::FindFirstTrue(d, found);
    if (lane >= 0) return i + lane;
  }
  while (nan ? x[i] == x[i] : x[i] != value) ++i;
  return i;
}
int64_t FindF32(const float* x, int64_t n, float value) { return find_first(x, n, value); }
int64_t FindF64(const double* x, int64_t n, double value) { return find_first(x, n, value); }
int64_t FindI64(const int64_t* x, int64_t n, int64_t value) { return find_first(x, n, value); }

// --- columns: plain loops over independent columns, which the compiler vectorises for the target ---

template <class Step, class T, class A>
void reduce_each_column(double p, const T* HWY_RESTRICT x, int64_t row_stride, int64_t rows, int64_t width,
                        A* HWY_RESTRICT state) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4) {
    const T *HWY_RESTRICT r0 = x + i * row_stride, *HWY_RESTRICT r1 = r0 + row_stride,
                          *HWY_RESTRICT r2 = r1 + row_stride, *HWY_RESTRICT r3 = r2 + row_stride;
    // Comparisons are exact in the elements' type. Four rows are compared first, so only one of four values
    // is converted.
    if constexpr (std::is_same_v<Step, Max> || std::is_same_v<Step, Min>) {
      for (int64_t j = 0; j < width; ++j) {
        const T best = Step::next(Step::next(r0[j], r1[j], p), Step::next(r2[j], r3[j], p), p);
        state[j] = Step::next(state[j], A(best), p);
      }
      continue;
    }
    for (int64_t j = 0; j < width; ++j) {
      A s = Step::next(state[j], A(r0[j]), p);
      s = Step::next(s, A(r1[j]), p);
      s = Step::next(s, A(r2[j]), p);
      state[j] = Step::next(s, A(r3[j]), p);
    }
  }
  for (; i < rows; ++i) {
    const T* HWY_RESTRICT row = x + i * row_stride;
    for (int64_t j = 0; j < width; ++j) state[j] = Step::next(state[j], A(row[j]), p);
  }
}

void ColumnsU8(ReduceKind reduction, double, const uint8_t* x, int64_t row_stride, int64_t rows,
               int64_t width, uint8_t* state) {
  for (int64_t i = 0; i < rows; ++i, x += row_stride)
    if (reduction == ReduceKind::max)
      for (int64_t j = 0; j < width; ++j) state[j] |= x[j];
    else
      for (int64_t j = 0; j < width; ++j) state[j] &= x[j];
}

// Updates the best value of each column with row `index`. A NaN is better than everything except a NaN.
// Values and indices have the same size, so that one mask serves both.
template <bool largest, class T, class I>
void take_better(const T* HWY_RESTRICT row, int64_t width, I index, T* HWY_RESTRICT values,
                 I* HWY_RESTRICT indices) {
  for (int64_t j = 0; j < width; ++j) {
    const T x = row[j], best = values[j];
    const bool take = (largest ? x > best : x < best) | ((x != x) & (best == best));
    values[j] = take ? x : best;
    indices[j] = take ? index : indices[j];
  }
}
void BetterF32(bool largest, const float* row, int64_t width, int32_t index, float* values,
               int32_t* indices) {
  largest ? take_better<true>(row, width, index, values, indices)
          : take_better<false>(row, width, index, values, indices);
}
void BetterF64(bool largest, const double* row, int64_t width, int64_t index, double* values,
               int64_t* indices) {
  largest ? take_better<true>(row, width, index, values, indices)
          : take_better<false>(row, width, index, values, indices);
}
void BetterI64(bool largest, const int64_t* row, int64_t width, int64_t index, int64_t* values,
               int64_t* indices) {
  largest ? take_better<true>(row, width, index, values, indices)
          : take_better<false>(row, width, index, values, indices);
}

// B. P. Welford, "Note on a method for calculating corrected sums of squares and products" (1962).
template <class T>
void reduce_column_moments(const T* HWY_RESTRICT x, int64_t row_stride, int64_t rows, int64_t width,
                           double* HWY_RESTRICT state) {
  double *HWY_RESTRICT counts = state, *HWY_RESTRICT means = state + width,
                       *HWY_RESTRICT squares = state + 2 * width;
  for (int64_t i = 0; i < rows; ++i) {
    const T* HWY_RESTRICT row = x + i * row_stride;
    const double count = counts[0] + double(i) + 1, inverse = 1 / count;
    for (int64_t j = 0; j < width; ++j) {
      const double difference = double(row[j]) - means[j];
      means[j] += difference * inverse;
      squares[j] += difference * (double(row[j]) - means[j]);
    }
  }
  for (int64_t j = 0; j < width; ++j) counts[j] += double(rows);
}

template <class T>
void reduce_float_columns(ReduceKind reduction, double p, const T* x, int64_t row_stride, int64_t rows,
                          int64_t width, double* state) {
  switch (reduction) {
    case ReduceKind::sum:
      return reduce_each_column<Sum>(p, x, row_stride, rows, width, state);
    case ReduceKind::product:
      return reduce_each_column<Product>(p, x, row_stride, rows, width, state);
    case ReduceKind::max:
      return reduce_each_column<Max>(p, x, row_stride, rows, width, state);
    case ReduceKind::min:
      return reduce_each_column<Min>(p, x, row_stride, rows, width, state);
    case ReduceKind::sum_abs:
      return reduce_each_column<SumAbs>(p, x, row_stride, rows, width, state);
    case ReduceKind::sum_numbers:
      return reduce_each_column<SumNumbers>(p, x, row_stride, rows, width, state);
    case ReduceKind::sum_squares:
      return reduce_each_column<SumSquares>(p, x, row_stride, rows, width, state);
    case ReduceKind::sum_powers:
      return reduce_each_column<SumPowers>(p, x, row_stride, rows, width, state);
    case ReduceKind::moments:
      return reduce_column_moments(x, row_stride, rows, width, state);
  }
}

void ColumnsF32(ReduceKind reduction, double p, const float* x, int64_t row_stride, int64_t rows,
                int64_t width, double* state) {
  reduce_float_columns(reduction, p, x, row_stride, rows, width, state);
}
void ColumnsF64(ReduceKind reduction, double p, const double* x, int64_t row_stride, int64_t rows,
                int64_t width, double* state) {
  reduce_float_columns(reduction, p, x, row_stride, rows, width, state);
}
void ColumnsI64(ReduceKind reduction, double p, const int64_t* x, int64_t row_stride, int64_t rows,
                int64_t width, int64_t* state) {
  choose_integer_step(reduction, [&](auto step) {
    reduce_each_column<decltype(step)>(p, x, row_stride, rows, width, state);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {

HWY_EXPORT(RowF32);
HWY_EXPORT(RowF64);
HWY_EXPORT(RowI64);
HWY_EXPORT(FindF32);
HWY_EXPORT(FindF64);
HWY_EXPORT(FindI64);
HWY_EXPORT(ColumnsF32);
HWY_EXPORT(ColumnsF64);
HWY_EXPORT(ColumnsI64);
HWY_EXPORT(RowU8);
HWY_EXPORT(ColumnsU8);
HWY_EXPORT(BetterF32);
HWY_EXPORT(BetterF64);
HWY_EXPORT(BetterI64);

void reduce_row(ReduceKind reduction, double p, const float* x, int64_t n, double* state) {
  HWY_DYNAMIC_DISPATCH(RowF32)(reduction, p, x, n, state);
}
void reduce_row(ReduceKind reduction, double p, const double* x, int64_t n, double* state) {
  HWY_DYNAMIC_DISPATCH(RowF64)(reduction, p, x, n, state);
}
void reduce_row(ReduceKind reduction, double p, const int64_t* x, int64_t n, int64_t* state) {
  HWY_DYNAMIC_DISPATCH(RowI64)(reduction, p, x, n, state);
}
void reduce_row(ReduceKind reduction, double p, const uint8_t* x, int64_t n, uint8_t* state) {
  HWY_DYNAMIC_DISPATCH(RowU8)(reduction, p, x, n, state);
}
int64_t find_element(const float* x, int64_t n, float value) {
  return HWY_DYNAMIC_DISPATCH(FindF32)(x, n, value);
}
int64_t find_element(const double* x, int64_t n, double value) {
  return HWY_DYNAMIC_DISPATCH(FindF64)(x, n, value);
}
int64_t find_element(const int64_t* x, int64_t n, int64_t value) {
  return HWY_DYNAMIC_DISPATCH(FindI64)(x, n, value);
}
void reduce_columns(ReduceKind reduction, double p, const float* x, int64_t row_stride, int64_t rows,
                    int64_t width, double* state) {
  HWY_DYNAMIC_DISPATCH(ColumnsF32)(reduction, p, x, row_stride, rows, width, state);
}
void reduce_columns(ReduceKind reduction, double p, const double* x, int64_t row_stride, int64_t rows,
                    int64_t width, double* state) {
  HWY_DYNAMIC_DISPATCH(ColumnsF64)(reduction, p, x, row_stride, rows, width, state);
}
void reduce_columns(ReduceKind reduction, double p, const int64_t* x, int64_t row_stride, int64_t rows,
                    int64_t width, int64_t* state) {
  HWY_DYNAMIC_DISPATCH(ColumnsI64)(reduction, p, x, row_stride, rows, width, state);
}
void reduce_columns(ReduceKind reduction, double p, const uint8_t* x, int64_t row_stride, int64_t rows,
                    int64_t width, uint8_t* state) {
  HWY_DYNAMIC_DISPATCH(ColumnsU8)(reduction, p, x, row_stride, rows, width, state);
}
void take_better_columns(bool largest, const float* row, int64_t width, int32_t index, float* values,
                         int32_t* indices) {
  HWY_DYNAMIC_DISPATCH(BetterF32)(largest, row, width, index, values, indices);
}
void take_better_columns(bool largest, const double* row, int64_t width, int64_t index, double* values,
                         int64_t* indices) {
  HWY_DYNAMIC_DISPATCH(BetterF64)(largest, row, width, index, values, indices);
}
void take_better_columns(bool largest, const int64_t* row, int64_t width, int64_t index, int64_t* values,
                         int64_t* indices) {
  HWY_DYNAMIC_DISPATCH(BetterI64)(largest, row, width, index, values, indices);
}

}  // namespace lunagrad
#endif  // HWY_ONCE
