// Average pooling, one axis after the other: first sums the rows of a window over the full width, then the
// columns of that sum. Each pass reads memory sequentially. When the processor's flag shows that a sum
// overflowed, the infinite means are computed again.
#include <algorithm>
#include <cfenv>
#include <cmath>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/nn/cpu/pool.h"
#include "runtime/ops/reductions/cpu/reduce.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 16384;  // elements read or written
constexpr int64_t kLong = 32;      // elements of a row from which SIMD is worth while

template <class F>
void for_planes(const PoolGeometry& p, F&& f) {
  const int64_t work = std::max<int64_t>(1, p.in_size() + p.out_size());
  parallel_for(p.planes, iterations_in(kGrain, work), f);
}

template <class T>
void add_row(const T* __restrict in, T* __restrict out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) out[i] += in[i];
}

// The divisors of the column windows in the row `window`.
template <class T>
void divisors(const PoolGeometry& p, const PoolWindow& window, T* out) {
  for (int64_t w = 0; w < p.columns.out(); ++w)
    out[w] = T(p.divisor ? p.divisor : window.divisor * p.columns.windows[size_t(w)].divisor);
}

// Tells whether a number overflowed on this thread since the object was made. It costs no instruction in a
// loop.
class Overflow {
 public:
  Overflow() {
    if (std::fetestexcept(FE_OVERFLOW)) std::feclearexcept(FE_OVERFLOW);
  }
  bool happened() const { return std::fetestexcept(FE_OVERFLOW); }
};

// Computes the means that are not finite again, from elements scaled down by a power of two. Next to a sum
// that overflowed, an element that loses digits by this is too small to count.
template <class T>
void correct_means(const PoolGeometry& p, const T* x, T* y, int64_t begin, int64_t end) {
  constexpr double kDown = 0x1p-64;
  const int64_t columns = p.columns.out();
  for (int64_t i = begin * p.out_size(); i < end * p.out_size(); ++i) {
    if (std::isfinite(y[i])) continue;
    const PoolWindow& down = p.rows.windows[size_t(i / columns % p.rows.out())];
    const PoolWindow& across = p.columns.windows[size_t(i % columns)];
    const T* const plane = x + i / p.out_size() * p.in_size();
    double sum = 0;
    for (int64_t h = down.start; h < down.start + down.count; ++h)
      for (int64_t w = across.start; w < across.start + across.count; ++w)
        sum += double(plane[h * p.columns.size + w]) * kDown;
    y[i] = T(sum / double(p.divisor ? p.divisor : down.divisor * across.divisor) / kDown);
  }
}

}  // namespace

template <class T>
void avg_pool(const PoolGeometry& p, const T* x, T* y) {
  const int64_t width = p.columns.size, out = p.columns.out();
  for_planes(p, [&](int64_t begin, int64_t end) {
    const Overflow overflow;
    std::vector<T> sums(size_t(width), T(0)), divide(size_t(out), T(0));
    for (int64_t plane = begin; plane < end; ++plane)
      for (int64_t h = 0; h < p.rows.out(); ++h) {
        const PoolWindow& rows = p.rows.windows[size_t(h)];
        const T* in = x + plane * p.in_size() + rows.start * width;
        if (rows.count > 1) {
          std::copy_n(in, width, sums.data());
          for (int64_t i = 1; i < rows.count; ++i) add_row(in + i * width, sums.data(), width);
          in = sums.data();
        }
        divisors(p, rows, divide.data());
        T* const to = y + plane * p.out_size() + h * out;
        for (int64_t w = 0; w < out; ++w) {
          const PoolWindow& columns = p.columns.windows[size_t(w)];
          if (columns.count >= kLong) {
            double sum = 0;
            reduce_row(ReduceKind::sum, 0, in + columns.start, columns.count, &sum);
            to[w] = T(sum);
            continue;
          }
          T sum = in[columns.start];
          for (int64_t j = 1; j < columns.count; ++j) sum += in[columns.start + j];
          to[w] = sum;
        }
        for (int64_t w = 0; w < out; ++w) to[w] /= divide[size_t(w)];
      }
    if (overflow.happened()) correct_means(p, x, y, begin, end);
  });
}

template <class T>
void avg_pool_spread(const PoolGeometry& p, const T* g, T* dx) {
  const int64_t width = p.columns.size, out = p.columns.out();
  for_planes(p, [&](int64_t begin, int64_t end) {
    std::vector<T> spread(size_t(width), T(0)), divide(size_t(out), T(0));
    std::fill(dx + begin * p.in_size(), dx + end * p.in_size(), T(0));
    for (int64_t plane = begin; plane < end; ++plane)
      for (int64_t h = 0; h < p.rows.out(); ++h) {
        const PoolWindow& rows = p.rows.windows[size_t(h)];
        const T* const from = g + plane * p.out_size() + h * out;
        divisors(p, rows, divide.data());
        for (int64_t w = 0; w < out; ++w) divide[size_t(w)] = from[w] / divide[size_t(w)];
        std::fill(spread.begin(), spread.end(), T(0));
        for (int64_t w = 0; w < out; ++w) {
          const PoolWindow& columns = p.columns.windows[size_t(w)];
          for (int64_t j = 0; j < columns.count; ++j) spread[size_t(columns.start + j)] += divide[size_t(w)];
        }
        T* const to = dx + plane * p.in_size() + rows.start * width;
        for (int64_t i = 0; i < rows.count; ++i) add_row(spread.data(), to + i * width, width);
      }
  });
}

template void avg_pool(const PoolGeometry&, const float*, float*);
template void avg_pool(const PoolGeometry&, const double*, double*);
template void avg_pool_spread(const PoolGeometry&, const float*, float*);
template void avg_pool_spread(const PoolGeometry&, const double*, double*);

}  // namespace lunagrad
