#include "runtime/ops/linalg/cpu/pair_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/products/cpu/blas.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/ops/linalg/cpu/pair_kernels.cpp"
#include "hwy/foreach_target.h"
// after foreach_target
#include "hwy/highway.h"
#include "runtime/cpu/loops.h"
#include "runtime/cpu/math.h"

#ifndef LUNAGRAD_PAIR_KERNELS_SHARED
#define LUNAGRAD_PAIR_KERNELS_SHARED
namespace lunagrad {
namespace {

// The kinds of PairFunction.
enum class PairPower { constant, linear, square, any, largest };

// Powers from -1 to 1 are applied to the difference and to the scale separately: neither leaves the range,
// and there is no division for each term. All other powers are applied to the quotient.
bool divides_first(const PairFunction& f) { return !(std::abs(f.power) <= 1); }

// The value of a pair; i and j count rows of x1 and x2. 1 without values.
template <class T>
double value_of_pair(const Matrices<T>& of, const T* first, int64_t i, int64_t j, const PairCall<T>& call) {
  if (!first) return 1;
  if (!call.condensed) return double(first[i * of.row + j * of.column]);
  if (i == j) return 0;
  return double(first[pair_index(std::min(i, j), std::max(i, j), call.n) * of.column]);
}

// The factor of a pair's terms: its weight, over the power of its scale unless the scale divides the
// differences. A scale of 0 becomes infinite, so that all quotients are 0.
template <class T>
double factor_of_pair(const PairCall<T>& call, double weight, double& scale) {
  if (scale == 0) {
    scale = INFINITY;
    return 0;
  }
  if (divides_first(call.function) || scale == 1) return weight;
  return call.function.power == 1 ? weight / scale : weight / std::pow(scale, call.function.power);
}

// A row of the result, and the matrices that belong to it.
template <class T>
struct PairRow {
  PairRow(const PairCall<T>& call, int64_t row)
      : i(row % call.m),
        own(call.x1.item(row / call.m, call.shape) + i * call.x1.row),
        others(call.x2.item(row / call.m, call.shape)),
        weights(call.weights.item(row / call.m, call.shape)),
        scales(call.scale.item(row / call.m, call.shape)),
        factors(call.factors.item(row / call.m, call.shape)) {}
  int64_t i;
  const T *own, *others, *weights, *scales, *factors;
};

}  // namespace
}  // namespace lunagrad
#endif

HWY_BEFORE_NAMESPACE();
namespace lunagrad {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

// size^power for numbers above 0. The power of a single lane is a lane of a whole vector, so that it has the
// same bits.
template <class D, class V>
HWY_INLINE V PowerOf(D d, V size, double power) {
  using T = hn::TFromD<D>;
  const hn::ScalableTag<T> whole;
  if constexpr (std::is_same_v<D, hn::ScalableTag<T>>)
    return math::pow(d, size, hn::Set(d, T(power)));
  else
    return hn::Set(
        d, hn::GetLane(math::pow(whole, hn::Set(whole, hn::GetLane(size)), hn::Set(whole, T(power)))));
}

template <PairPower kPower, bool kOdd>
struct AppliedFunction {
  double power;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V t) const {
    const V size = hn::Abs(t), zero = hn::Zero(d), one = math::constant(d, 1);
    V raised = size;
    if constexpr (kPower == PairPower::constant) raised = math::or_nan(d, t, one);
    if constexpr (kPower == PairPower::square) raised = size * size;
    if constexpr (kPower == PairPower::largest)
      raised = math::or_nan(d, t, hn::IfThenElseZero(size >= one, one));
    if constexpr (kPower == PairPower::any)
      raised = hn::IfThenElse(size == zero, zero, PowerOf(d, hn::IfThenElse(size == zero, one, size), power));
    if constexpr (kOdd) return hn::IfThenElse(t == zero, zero, hn::CopySign(raised, t));
    return raised;
  }
};

template <bool kOdd, class Visit>
HWY_INLINE void VisitPower(double power, Visit&& visit) {
  if (power == 0) return visit(AppliedFunction<PairPower::constant, kOdd>{power});
  if (power == 1) return visit(AppliedFunction<PairPower::linear, kOdd>{power});
  if (power == 2) return visit(AppliedFunction<PairPower::square, kOdd>{power});
  if (std::isinf(power)) return visit(AppliedFunction<PairPower::largest, kOdd>{power});
  visit(AppliedFunction<PairPower::any, kOdd>{power});
}
template <class Visit>
HWY_INLINE void VisitFunction(const PairFunction& f, Visit&& visit) {
  f.odd ? VisitPower<true>(f.power, visit) : VisitPower<false>(f.power, visit);
}

// factors[c] f((own[c] - other[c]) / scale), without factors if they are null.
template <class T, class F>
struct PairTerm {
  const T *own, *other, *factors;
  T scale;
  bool divides;
  F f;

  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, int64_t c) const {
    hn::Vec<D> t = hn::LoadU(d, own + c) - hn::LoadU(d, other + c);
    if (divides) t = t / hn::Set(d, scale);
    t = f(d, t);
    return factors ? t * hn::LoadU(d, factors + c) : t;
  }
};

// Rows of the sums over columns. Each sum has sixteen parts, whatever the size of a vector.
template <class T>
void ColumnSumRows(const PairCall<T>& call, int64_t begin, int64_t end) {
  constexpr int64_t kParts = 16;
  const bool divides = divides_first(call.function);
  VisitFunction(call.function, [&](auto f) HWY_ATTR {
    for (int64_t row = begin; row < end; ++row) {
      const PairRow<T> at(call, row);
      const T* const weights = at.weights + at.i * call.weights.row;
      for (int64_t j = 0; j < call.n; ++j) {
        double scale = value_of_pair(call.scale, at.scales, at.i, j, call);
        const double factor = factor_of_pair(call, 1.0, scale);
        const PairTerm<T, decltype(f)> term{at.own,
                                            at.others + j * call.x2.row,
                                            at.factors ? at.factors + j * call.factors.row : nullptr,
                                            T(scale),
                                            divides,
                                            f};
        T parts[kParts] = {};
        for (int64_t first = 0; first < call.k; first += kParts)
          for_vectors<T>(std::min(kParts, call.k - first), [&](auto d, int64_t i) HWY_ATTR {
            const auto sum = hn::LoadU(d, parts + i);
            hn::StoreU(sum + hn::LoadU(d, weights + first + i) * term(d, first + i), d, parts + i);
          });
        double sum = 0;
        for (const T part : parts) sum += double(part);
        call.out[row * call.n + j] = factor == 0 ? T(0) : T(sum * factor);
      }
    }
  });
}

// Rows of the sums over the rows of x2. `block` and `sums` have k elements: the terms of some rows are added
// in T, and these sums in double precision.
template <class T>
void RowSumRows(const PairCall<T>& call, int64_t begin, int64_t end, T* block, double* sums) {
  constexpr int64_t kBlock = 64;
  const bool divides = divides_first(call.function);
  const int64_t k = call.k;
  VisitFunction(call.function, [&](auto f) HWY_ATTR {
    for (int64_t row = begin; row < end; ++row) {
      const PairRow<T> at(call, row);
      std::fill(sums, sums + k, 0.0);
      for (int64_t first = 0; first < call.n; first += kBlock) {
        std::fill(block, block + k, T(0));
        for (int64_t j = first; j < std::min(first + kBlock, call.n); ++j) {
          double scale = value_of_pair(call.scale, at.scales, at.i, j, call);
          const T weight =
              T(factor_of_pair(call, value_of_pair(call.weights, at.weights, at.i, j, call), scale));
          const PairTerm<T, decltype(f)> term{at.own,
                                              at.others + j * call.x2.row,
                                              at.factors ? at.factors + j * call.factors.row : nullptr,
                                              T(scale),
                                              divides,
                                              f};
          for_vectors<T>(k, [&](auto d, int64_t c) HWY_ATTR {
            hn::StoreU(hn::LoadU(d, block + c) + hn::Set(d, weight) * term(d, c), d, block + c);
          });
        }
        for (int64_t c = 0; c < k; ++c) sums[c] += double(block[c]);
      }
      for (int64_t c = 0; c < k; ++c) call.out[row * k + c] = T(sums[c]);
    }
  });
}

void ColumnSumRowsF32(const PairCall<float>& call, int64_t begin, int64_t end) {
  ColumnSumRows(call, begin, end);
}
void ColumnSumRowsF64(const PairCall<double>& call, int64_t begin, int64_t end) {
  ColumnSumRows(call, begin, end);
}
void RowSumRowsF32(const PairCall<float>& call, int64_t begin, int64_t end, float* block, double* sums) {
  RowSumRows(call, begin, end, block, sums);
}
void RowSumRowsF64(const PairCall<double>& call, int64_t begin, int64_t end, double* block, double* sums) {
  RowSumRows(call, begin, end, block, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace lunagrad
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lunagrad {
namespace {

HWY_EXPORT(ColumnSumRowsF32);
HWY_EXPORT(ColumnSumRowsF64);
HWY_EXPORT(RowSumRowsF32);
HWY_EXPORT(RowSumRowsF64);

// Rows of about 20 µs.
template <class T>
int64_t rows_in_range(const PairCall<T>& call) {
  const double power = call.function.power;
  const bool plain = power == 0 || power == 1 || power == 2 || std::isinf(power);
  return iterations_in(plain ? 80000 : 8000, call.n * call.k);
}

// A number near the mean of a column of n elements, which one element far away does not move: the mean, kept
// between the second smallest and the second largest of a few elements.
template <class T>
T center_of(double mean, const T* column, int64_t step, int64_t n) {
  constexpr int64_t kSampled = 7;
  const int64_t count = std::min(n, kSampled);
  if (count == 1) return column[0];
  if (count == 2) return std::abs(column[0]) < std::abs(column[step]) ? column[0] : column[step];
  T least = std::numeric_limits<T>::infinity(), second_least = least, most = -least, second_most = most;
  for (int64_t i = 0; i < count; ++i) {
    const T x = column[i * (n - 1) / (count - 1) * step];
    second_least = std::min(second_least, std::max(least, x));
    least = std::min(least, x);
    second_most = std::max(second_most, std::min(most, x));
    most = std::max(most, x);
  }
  return T(std::min(std::max(mean, double(second_least)), double(second_most)));
}
// shifted = rows - center, for n rows of k columns.
template <class T>
void shift_to_center(const T* rows, int64_t row_step, int64_t n, int64_t k, T* center, T* shifted) {
  const Workspace<double> sums(k);
  double* const sum = sums.data();
  parallel_for(k, iterations_in(20000, n), [&](int64_t low, int64_t high) {
    std::fill(sum + low, sum + high, 0.0);
    for (int64_t j = 0; j < n; ++j)
      for (int64_t i = low; i < high; ++i) sum[i] += double(rows[j * row_step + i]);
    for (int64_t i = low; i < high; ++i) center[i] = center_of(sum[i] / double(n), rows + i, row_step, n);
  });
  parallel_for(n, iterations_in(40000, k), [&](int64_t low, int64_t high) {
    for (int64_t j = low; j < high; ++j)
      for (int64_t i = 0; i < k; ++i) shifted[j * k + i] = rows[j * row_step + i] - center[i];
  });
}

// w / scale for rows of pairs, and the total of each row. The rows begin with number `begin` of the result's
// rows.
template <class T>
struct PairWeights {
  // How the elements lie: w has a row for each row of x1, or one for each row of x2.
  static bool by_columns(const PairCall<T>& call) {
    return !call.condensed && call.weights.row < call.weights.column && is_near(call.weights.row) &&
           (!call.scale.first || call.scale.row == 1);
  }
  static bool by_rows(const PairCall<T>& call) {
    return !call.condensed && is_near(call.weights.column) && (!call.scale.first || call.scale.column == 1);
  }
  static bool is_near(int64_t step) { return step == 0 || step == 1; }
  static T weight(T weight, T scale) { return scale == 0 ? T(0) : weight / scale; }

  // out [n, count]: rows low ... high - 1.
  static void fill_columns(const PairCall<T>& call, int64_t begin, int64_t count, int64_t low, int64_t high,
                           T* out, double* totals) {
    const PairRow<T> at(call, begin + low);
    const int64_t step = call.weights.row, size = high - low;
    std::fill(totals + low, totals + high, 0.0);
    for (int64_t j = 0; j < call.n; ++j) {
      const T* const w = at.weights + at.i * step + j * call.weights.column;
      const T* const s = at.scales ? at.scales + at.i + j * call.scale.column : nullptr;
      T* const to = out + j * count + low;
      for (int64_t r = 0; r < size; ++r) to[r] = s ? weight(w[r * step], s[r]) : w[r * step];
      for (int64_t r = 0; r < size; ++r) totals[low + r] += double(to[r]);
    }
  }
  // out [count, n]
  static void fill_rows(const PairCall<T>& call, int64_t begin, int64_t low, int64_t high, T* out,
                        double* totals) {
    constexpr int64_t kParts = 4;
    const bool plain = by_rows(call);
    const int64_t step = call.weights.column, n = call.n;
    for (int64_t r = low; r < high; ++r) {
      const PairRow<T> at(call, begin + r);
      T* const to = out + r * n;
      if (plain) {
        const T* const w = at.weights + at.i * call.weights.row;
        const T* const s = at.scales ? at.scales + at.i * call.scale.row : nullptr;
        for (int64_t j = 0; j < n; ++j) to[j] = s ? weight(w[j * step], s[j]) : w[j * step];
      } else {
        for (int64_t j = 0; j < n; ++j) {
          double scale = value_of_pair(call.scale, at.scales, at.i, j, call);
          to[j] = T(factor_of_pair(call, value_of_pair(call.weights, at.weights, at.i, j, call), scale));
        }
      }
      double parts[kParts] = {};
      int64_t j = 0;
      for (; j + kParts <= n; j += kParts)
        for (int64_t k = 0; k < kParts; ++k) parts[k] += double(to[j + k]);
      for (; j < n; ++j) parts[0] += double(to[j]);
      totals[r] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
  }
};

// The 2-norm's slope: the sum over j of w[i, j] (x1[i] - x2[j]) is a product. Its terms cancel where rows lie
// far from the origin, so both sides are relative to a center of x2. Rows of weights are computed some at a
// time, so that they take an eighth of the memory of all weights at most, unless they are few.
template <class T>
void sum_by_product(const PairCall<T>& call) {
  constexpr int64_t kFew = 1 << 12, kMost = 1 << 20, kAdjacent = 64;  // elements
  const int64_t n = std::max<int64_t>(call.n, 1),
                rows = std::clamp<int64_t>(std::clamp(call.m / 8, kFew / n, kMost / n), 1, call.m);
  const Workspace<T> memory(rows * call.n);
  const Workspace<double> totals(rows);
  const Workspace<T> center(call.k);
  const Workspace<T> shifted(call.n * call.k);
  const bool by_columns = PairWeights<T>::by_columns(call);
  T* const weights = memory.data();
  for (int64_t begin = 0; begin < numel(call.shape) * call.m; begin += rows) {
    const int64_t first = begin % call.m, count = std::min(rows, call.m - first);
    const int64_t item = begin / call.m;
    T* const out = call.out + begin * call.k;
    if (first == 0)
      shift_to_center(call.x2.item(item, call.shape), call.x2.row, call.n, call.k, center.data(),
                      shifted.data());
    const int64_t grain = iterations_in(20000, call.n);
    if (by_columns)
      parallel_for((count + kAdjacent - 1) / kAdjacent, iterations_in(20000, call.n * kAdjacent),
                   [&](int64_t low, int64_t high) {
                     PairWeights<T>::fill_columns(call, begin, count, low * kAdjacent,
                                                  std::min(high * kAdjacent, count), weights, totals.data());
                   });
    else
      parallel_for(count, grain, [&](int64_t low, int64_t high) {
        PairWeights<T>::fill_rows(call, begin, low, high, weights, totals.data());
      });
    blas::multiply<T>({.m = count,
                       .n = call.k,
                       .k = call.n,
                       .a = {weights, by_columns ? count : call.n, by_columns},
                       .b = {shifted.data(), call.k},
                       .c = out,
                       .batch = {1},
                       .a_strides = {0},
                       .b_strides = {0}});
    parallel_for(count, iterations_in(20000, call.k), [&](int64_t low, int64_t high) {
      for (int64_t r = low; r < high; ++r) {
        const PairRow<T> at(call, begin + r);
        T* const to = out + r * call.k;
        const double total = totals.data()[r];
        const T *const own = at.own, *const middle = center.data();
        for (int64_t c = 0; c < call.k; ++c)
          to[c] = T(total * (double(own[c]) - double(middle[c])) - double(to[c]));
      }
    });
    begin -= rows - count;  // the next matrix begins with its first row
  }
}

}  // namespace

template <class T>
void ColumnSums<T>::run(const PairCall<T>& call) {
  parallel_for(numel(call.shape) * call.m, rows_in_range(call), [&](int64_t begin, int64_t end) {
    if constexpr (sizeof(T) == 4)
      HWY_DYNAMIC_DISPATCH(ColumnSumRowsF32)(call, begin, end);
    else
      HWY_DYNAMIC_DISPATCH(ColumnSumRowsF64)(call, begin, end);
  });
}

template <class T>
void RowSums<T>::run(const PairCall<T>& call) {
  const PairFunction& f = call.function;
  if (f.power == 1 && f.odd && !call.factors.first && call.n > 0) return sum_by_product(call);
  parallel_for(numel(call.shape) * call.m, rows_in_range(call), [&](int64_t begin, int64_t end) {
    const Workspace<T> block(call.k);
    const Workspace<double> sums(call.k);
    if constexpr (sizeof(T) == 4)
      HWY_DYNAMIC_DISPATCH(RowSumRowsF32)(call, begin, end, block.data(), sums.data());
    else
      HWY_DYNAMIC_DISPATCH(RowSumRowsF64)(call, begin, end, block.data(), sums.data());
  });
}

template struct ColumnSums<float>;
template struct ColumnSums<double>;
template struct RowSums<float>;
template struct RowSums<double>;

}  // namespace lunagrad
#endif
