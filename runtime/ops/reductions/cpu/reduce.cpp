#include "runtime/ops/reductions/cpu/reduce.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"
#include "runtime/ops/elementwise/cpu/copy.h"

namespace lunagrad {
namespace {

constexpr int64_t kChunk = kLongestRow;  // elements of one unit of work
constexpr int64_t kGrain = 2 * kChunk;   // elements that are worth another thread
constexpr int64_t kScratch = 1024;       // elements of the gather buffer
constexpr int64_t kColumns = 512;        // columns reduced together
constexpr int64_t kRows = 64;            // results stored together
constexpr int64_t kShort = 32;           // elements of a result, up to which SIMD along them does not pay

// Iterates over the positions of merged dims in row-major order.
class Odometer {
 public:
  Odometer(const Dims& sizes, const Dims& strides, int64_t start) : sizes_(sizes), strides_(strides) {
    for (int i = sizes.size() - 1; i >= 0; --i) {
      position_[i] = start % sizes[i];
      start /= sizes[i];
      offset_ += position_[i] * strides[i];
    }
  }
  int64_t offset() const { return offset_; }
  int64_t left_in_row() const { return sizes_.empty() ? 1 : sizes_.back() - position_[sizes_.size() - 1]; }
  // n must be at most left_in_row().
  void advance(int64_t n) {
    int i = sizes_.size() - 1;
    if (i < 0) return;
    position_[i] += n;
    offset_ += n * strides_[i];
    for (; position_[i] == sizes_[i] && i > 0; --i) {
      offset_ += strides_[i - 1] - position_[i] * strides_[i];
      position_[i] = 0;
      ++position_[i - 1];
    }
  }

 private:
  const Dims &sizes_, &strides_;
  int64_t position_[kMaxDims];
  int64_t offset_ = 0;
};

// The source of the elements: memory of the computing type, or elements to convert.
template <class T>
struct Source {
  const void* data;
  bool direct;
  void (*load)(T* to, const void* data, int64_t offset, int64_t stride, int64_t n);

  const T* at(int64_t offset) const { return static_cast<const T*>(data) + offset; }
};

template <class T, class From, bool truth>
void load_elements(T* to, const void* data, int64_t offset, int64_t stride, int64_t n) {
  const From* from = static_cast<const From*>(data) + offset;
  if (stride == 1) {
    static const ConvertRow convert_elements =
        convert_row(truth ? DType::boolean : dtype_of<T>, dtype_of<From>);
    return convert_elements(from, to, n);
  }
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (truth)
      to[i] = convert<bool>(from[i * stride]);
    else
      to[i] = convert<T>(from[i * stride]);
  }
}

template <class T, bool truth = false>
Source<T> source_of(const Tensor& x) {
  return visit_any_dtype(x.dtype(), [&]<class From>() {
    constexpr bool kDirect = truth ? std::is_same_v<From, bool> : std::is_same_v<T, From>;
    return Source<T>{x.raw(), kDirect, load_elements<T, From, truth>};
  });
}

// Whether elements adjacent in memory belong to adjacent results.
bool has_columns(const ReducePlan& plan) {
  return !plan.kept_sizes.empty() && plan.kept_strides.back() == 1 && !plan.reduced_sizes.empty();
}

// x, or x converted when this allows reducing columns together.
Tensor ready_for_columns(const Tensor& x, uint32_t mask, DType computed) {
  if (x.dtype() == computed || !has_columns(ReducePlan(x.shape(), x.strides(), mask, true))) return x;
  const Tensor copy = Tensor::empty(x.shape(), computed);
  copy_strided(copy.raw(), computed, copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
  return copy;
}

// Calls f(elements, n) with contiguous pieces of elements begin … end-1 of the result at `base`.
template <class T, class F>
void for_pieces(const Source<T>& x, const ReducePlan& plan, int64_t base, int64_t begin, int64_t end, F&& f) {
  if (begin >= end) return;  // a position in a dim of size 0 has no row
  Odometer at(plan.reduced_sizes, plan.reduced_strides, begin);
  const int64_t stride = plan.reduced_strides.empty() ? 1 : plan.reduced_strides.back();
  const int64_t row = plan.reduced_sizes.empty() ? 1 : plan.reduced_sizes.back();
  if (x.direct && stride == 1 && (row >= 32 || row == plan.count)) {
    for (int64_t i = begin; i < end;) {
      const int64_t n = std::min(at.left_in_row(), end - i);
      f(x.at(base + at.offset()), n);
      at.advance(n);
      i += n;
    }
    return;
  }
  T scratch[kScratch];
  for (int64_t i = begin; i < end;) {
    int64_t filled = 0;
    while (filled < kScratch && i < end) {
      const int64_t n = std::min({at.left_in_row(), end - i, kScratch - filled});
      x.load(scratch + filled, x.data, base + at.offset(), stride, n);
      at.advance(n);
      filled += n;
      i += n;
    }
    f(static_cast<const T*>(scratch), filled);
  }
}

using c64 = std::complex<float>;
using c128 = std::complex<double>;

// Complex numbers are added as columns, two per number: 256 numbers per row, added up at the end.
template <class T>
void reduce_row(ReduceKind reduction, double, const std::complex<T>* x, int64_t n, c128* state) {
  constexpr int64_t kSide = 256;
  int64_t i = 0;
  if (reduction == ReduceKind::sum && n >= 4 * kSide) {
    c128 sums[kSide] = {};
    const int64_t rows = n / kSide;
    reduce_columns(reduction, 0, reinterpret_cast<const T*>(x), 2 * kSide, rows, 2 * kSide,
                   reinterpret_cast<double*>(sums));
    for (const c128& sum : sums) *state += sum;
    i = rows * kSide;
  }
  double re = state->real(), im = state->imag();
  if (reduction == ReduceKind::sum) {
    for (; i < n; ++i) re += double(x[i].real()), im += double(x[i].imag());
  } else {
    for (; i < n; ++i) {
      const double a = double(x[i].real()), b = double(x[i].imag()), real = re * a - im * b;
      im = re * b + im * a;
      re = real;
    }
  }
  *state = c128(re, im);
}
template <class T>
void reduce_columns(ReduceKind reduction, double, const std::complex<T>* x, int64_t row_stride, int64_t rows,
                    int64_t width, c128* state) {
  if (reduction == ReduceKind::sum)
    return reduce_columns(reduction, 0, reinterpret_cast<const T*>(x), 2 * row_stride, rows, 2 * width,
                          reinterpret_cast<double*>(state));
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) reduce_row(reduction, 0, x + i * row_stride + j, 1, state + j);
}

void reset(ReduceKind reduction, c128* states, int64_t n) {
  std::fill_n(states, n, c128(reduction == ReduceKind::product ? 1 : 0));
}
void combine(ReduceKind reduction, c128* into, const c128* other, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    reduction == ReduceKind::product ? reduce_row(reduction, 0, other + i, 1, into + i)
                                     : void(into[i] += other[i]);
}

template <class A>
void reset(ReduceKind reduction, A* states, int64_t n) {
  A identity = 0;
  if (reduction == ReduceKind::product) identity = 1;
  if (reduction == ReduceKind::max || reduction == ReduceKind::min) {
    using Limits = std::numeric_limits<A>;
    const A lowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    const A highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    identity = reduction == ReduceKind::max ? lowest : highest;
  }
  std::fill_n(states, n * reduce_state_size(reduction), identity);
}

// Combines the states other[i] into into[i]; planes are n apart.
template <class A>
void combine(ReduceKind reduction, A* into, const A* other, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    A& a = into[i];
    const A b = other[i];
    switch (reduction) {
      case ReduceKind::product:
        a *= b;
        break;
      case ReduceKind::max:
        a = b > a || b != b ? b : a;
        break;
      case ReduceKind::min:
        a = b < a || b != b ? b : a;
        break;
      case ReduceKind::moments: {
        // Chan, Golub, LeVeque (1979), as in reduce_kernels.cpp.
        if (b == 0) break;
        const A total = a + b, shift = other[n + i] - into[n + i];
        into[n + i] += shift * (b / total);
        into[2 * n + i] += other[2 * n + i] + shift * shift * (a * b / total);
        a = total;
        break;
      }
      default:
        a += b;
    }
  }
}

template <class T, class A>
struct Driver {
  ReduceKind reduction;
  double p;
  const Source<T>& x;
  const ReducePlan& plan;
  const ReduceStore<A>& store;
  const int64_t planes = reduce_state_size(reduction);

  void run() const { x.direct&& has_columns(plan) ? run_columns() : run_rows(); }

  // Results of few elements each are reduced side by side, as columns of a block that is loaded for this.
  bool has_short_rows() const {
    return plan.count <= kShort && !plan.kept_sizes.empty() && plan.kept_sizes.back() >= 8;
  }
  void short_rows(int64_t begin, int64_t end) const {
    int64_t offsets[kShort];
    Odometer element(plan.reduced_sizes, plan.reduced_strides, 0);
    for (int64_t k = 0; k < plan.count; ++k, element.advance(1)) offsets[k] = element.offset();
    Odometer result(plan.kept_sizes, plan.kept_strides, begin);
    T block[kShort * kRows];
    A states[kMaxReduceState * kRows];
    for (int64_t first = begin; first < end;) {
      const int64_t n = std::min({kRows, end - first, result.left_in_row()});
      for (int64_t k = 0; k < plan.count; ++k)
        x.load(block + k * n, x.data, result.offset() + offsets[k], plan.kept_strides.back(), n);
      reset(reduction, states, n);
      reduce_columns(reduction, p, block, n, plan.count, n, states);
      store(first, n, states);
      result.advance(n);
      first += n;
    }
  }
  void whole_rows(int64_t begin, int64_t end) const {
    Odometer at(plan.kept_sizes, plan.kept_strides, begin);
    A one[kMaxReduceState], block[kMaxReduceState * kRows];
    for (int64_t first = begin; first < end; first += kRows) {
      const int64_t n = std::min(kRows, end - first);
      for (int64_t i = 0; i < n; ++i) {
        reduce_chunk(at.offset(), 0, plan.count, one);
        for (int64_t k = 0; k < planes; ++k) block[k * n + i] = one[k];
        at.advance(1);
      }
      store(first, n, block);
    }
  }
  // Computes results begin … end-1, whose rows are not divided.
  void some_rows(int64_t begin, int64_t end) const {
    has_short_rows() ? short_rows(begin, end) : whole_rows(begin, end);
  }

  void run_rows() const {
    const int64_t chunks = std::max<int64_t>(1, (plan.count + kChunk - 1) / kChunk);
    if (chunks == 1) {
      const int64_t grain = has_short_rows() ? kGrain / 4 : kGrain;
      return parallel_for(plan.outputs, iterations_in(grain, plan.count),
                          [&](int64_t begin, int64_t end) { some_rows(begin, end); });
    }
    std::vector<A> partial(size_t(plan.outputs * chunks * planes));
    parallel_for(plan.outputs * chunks, kGrain / kChunk, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % chunks * kChunk;
        const Odometer at(plan.kept_sizes, plan.kept_strides, task / chunks);
        reduce_chunk(at.offset(), first, std::min(first + kChunk, plan.count),
                     &partial[size_t(task * planes)]);
      }
    });
    for (int64_t output = 0; output < plan.outputs; ++output) {
      A* states = &partial[size_t(output * chunks * planes)];
      for (int64_t chunk = 1; chunk < chunks; ++chunk) combine(reduction, states, states + chunk * planes, 1);
      store(output, 1, states);
    }
  }

  void reduce_chunk(int64_t base, int64_t begin, int64_t end, A* state) const {
    reset(reduction, state, 1);
    for_pieces(x, plan, base, begin, end,
               [&](const T* elements, int64_t n) { reduce_row(reduction, p, elements, n, state); });
  }

  void run_columns() const {
    const int64_t width = plan.kept_sizes.back();
    const int64_t block = std::min(width, kColumns), blocks = (width + block - 1) / block;
    const int64_t strips = plan.outputs / width * blocks;  // strips of at most `block` adjacent results
    const int64_t rows = std::max<int64_t>(1, kChunk / block), chunks = (plan.count + rows - 1) / rows;
    const auto width_of = [&](int64_t strip) { return std::min(block, width - strip % blocks * block); };
    const auto first_of = [&](int64_t strip) { return strip / blocks * width + strip % blocks * block; };
    if (chunks == 1) {
      parallel_for(strips, iterations_in(kGrain, plan.count * block), [&](int64_t begin, int64_t end) {
        A states[kMaxReduceState * kColumns];
        for (int64_t strip = begin; strip < end; ++strip) {
          reduce_strip(first_of(strip), width_of(strip), 0, plan.count, states);
          store(first_of(strip), width_of(strip), states);
        }
      });
      return;
    }
    const int64_t states_size = planes * block;
    std::vector<A> partial(size_t(strips * chunks * states_size));
    parallel_for(strips * chunks, kGrain / kChunk, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t strip = task / chunks, first = task % chunks * rows;
        reduce_strip(first_of(strip), width_of(strip), first, std::min(first + rows, plan.count),
                     &partial[size_t(task * states_size)]);
      }
    });
    parallel_for(strips, std::max<int64_t>(1, kChunk / (chunks * block)), [&](int64_t begin, int64_t end) {
      for (int64_t strip = begin; strip < end; ++strip) {
        A* states = &partial[size_t(strip * chunks * states_size)];
        for (int64_t chunk = 1; chunk < chunks; ++chunk)
          combine(reduction, states, states + chunk * states_size, width_of(strip));
        store(first_of(strip), width_of(strip), states);
      }
    });
  }

  void reduce_strip(int64_t first, int64_t width, int64_t begin, int64_t end, A* states) const {
    reset(reduction, states, width);
    const Odometer column(plan.kept_sizes, plan.kept_strides, first);
    Odometer at(plan.reduced_sizes, plan.reduced_strides, begin);
    for (int64_t i = begin; i < end;) {
      const int64_t n = std::min(at.left_in_row(), end - i);
      reduce_columns(reduction, p, x.at(column.offset() + at.offset()), plan.reduced_strides.back(), n, width,
                     states);
      at.advance(n);
      i += n;
    }
  }
};

template <class T, class A>
void reduce_source(ReduceKind reduction, double p, const Source<T>& x, const ReducePlan& plan,
                   const ReduceStore<A>& store) {
  if (plan.outputs == 0) return;
  if (plan.count == 0) {
    std::vector<A> states(size_t(plan.outputs * reduce_state_size(reduction)));
    reset(reduction, states.data(), plan.outputs);
    return store(0, plan.outputs, states.data());
  }
  Driver<T, A>{reduction, p, x, plan, store}.run();
}

}  // namespace

ReducePlan::ReducePlan(const Shape& shape, const Strides& strides, uint32_t mask, bool any_order) {
  const auto append = [](Dims& sizes, Dims& steps, int64_t size, int64_t stride) {
    if (!sizes.empty() && sizes.back() != 0 && steps.back() == stride * size) {
      sizes[sizes.size() - 1] *= size;
      steps[steps.size() - 1] = stride;
    } else {
      sizes.push_back(size);
      steps.push_back(stride);
    }
  };
  int reduced[kMaxDims], reduced_dims = 0;
  for (int i = 0; i < shape.size(); ++i) {
    const bool is_reduced = mask >> i & 1;
    (is_reduced ? count : outputs) *= shape[i];
    if (shape[i] == 1) continue;
    if (is_reduced)
      reduced[reduced_dims++] = i;
    else
      append(kept_sizes, kept_strides, shape[i], strides[i]);
  }
  if (any_order)
    std::stable_sort(reduced, reduced + reduced_dims,
                     [&](int a, int b) { return std::abs(strides[a]) > std::abs(strides[b]); });
  for (int k = 0; k < reduced_dims; ++k)
    append(reduced_sizes, reduced_strides, shape[reduced[k]], strides[reduced[k]]);
}

void reduce_floats(ReduceKind reduction, double p, const Tensor& x, uint32_t mask,
                   const ReduceStore<double>& store) {
  const ReducePlan plan(x.shape(), x.strides(), mask, true);
  if (x.dtype() == DType::f64)
    reduce_source(reduction, p, source_of<double>(x), plan, store);
  else
    reduce_source(reduction, p, source_of<float>(x), plan, store);
}

void for_elements_of(const Tensor& x, const ReducePlan& plan, int64_t output,
                     const std::function<void(const double* x, int64_t n)>& f) {
  const Odometer at(plan.kept_sizes, plan.kept_strides, output);
  for_pieces(source_of<double>(x), plan, at.offset(), 0, plan.count, f);
}

RowReducer::RowReducer(ReduceKind reduction, DType type, int64_t all, int64_t columns)
    : reduction_(reduction), type_(type), plan_({all, columns}, {columns, 1}, 2, true) {}

namespace {

// Calls f(source), with x as a source of the type in which its elements are reduced.
template <class F>
void with_source(DType type, const void* x, F&& f) {
  visit_dtype(type, [&]<class From>() {
    if constexpr (!std::is_integral_v<From>) {
      using T = std::conditional_t<std::is_same_v<From, double>, double, float>;
      f(Source<T>{x, std::is_same_v<T, From>, load_elements<T, From, false>});
    }
  });
}

}  // namespace

void RowReducer::reduce(const void* x, int64_t rows, const ReduceStore<double>& store) const {
  with_source(type_, x, [&]<class T>(const Source<T>& source) {
    Driver<T, double>{reduction_, 0, source, plan_, store}.some_rows(0, rows);
  });
}

void RowReducer::reduce_part(const void* x, int64_t count, double* state) const {
  const ReducePlan part({1, count}, {count, 1}, 2, true);
  const ReduceStore<double> nowhere;
  with_source(type_, x, [&]<class T>(const Source<T>& source) {
    Driver<T, double>{reduction_, 0, source, part, nowhere}.reduce_chunk(0, 0, count, state);
  });
}

void RowReducer::combine(double* state, const double* later) const {
  lunagrad::combine(reduction_, state, later, 1);
}

void reduce_integers(ReduceKind reduction, const Tensor& input, uint32_t mask,
                     const ReduceStore<int64_t>& store) {
  const Tensor x = ready_for_columns(input, mask, DType::i64);
  reduce_source(reduction, 0, source_of<int64_t>(x), ReducePlan(x.shape(), x.strides(), mask, true), store);
}

void reduce_complex(ReduceKind reduction, const Tensor& x, uint32_t mask, const ReduceStore<c128>& store) {
  const ReducePlan plan(x.shape(), x.strides(), mask, true);
  if (x.dtype() == DType::c128)
    reduce_source(reduction, 0, source_of<c128>(x), plan, store);
  else
    reduce_source(reduction, 0, source_of<c64>(x), plan, store);
}

void reduce_truth(bool all, const Tensor& input, uint32_t mask, const ReduceStore<uint8_t>& store) {
  const Tensor x = ready_for_columns(input, mask, DType::boolean);
  const ReducePlan plan(x.shape(), x.strides(), mask, true);
  reduce_source(all ? ReduceKind::min : ReduceKind::max, 0, source_of<uint8_t, true>(x), plan, store);
}

namespace {

// An extreme value and its index. `better` keeps the first of equal values and prefers the first NaN.
template <class T>
bool better(bool largest, T candidate, T best) {
  return (largest ? candidate > best : candidate < best) || (candidate != candidate && best == best);
}

template <class T, class A>
struct ExtremeFinder {
  bool largest;
  const Source<T>& x;
  const ReducePlan& plan;
  std::function<void(int64_t output, T value, int64_t index)> store;

  struct Found {
    T value;
    int64_t index;
  };

  // Searches elements begin … end-1 of the result at base.
  Found search(int64_t base, int64_t begin, int64_t end) const {
    Found found{};
    int64_t seen = begin;
    for_pieces(x, plan, base, begin, end, [&](const T* elements, int64_t n) {
      A state;
      const ReduceKind reduction = largest ? ReduceKind::max : ReduceKind::min;
      reset(reduction, &state, 1);
      reduce_row(reduction, 0, elements, n, &state);
      const T extreme = T(state);
      if (seen == begin || better(largest, extreme, found.value)) {
        found = {extreme, seen + find_element(elements, n, extreme)};
      }
      seen += n;
    });
    return found;
  }

  void run_rows() const {
    const int64_t chunks = (plan.count + kChunk - 1) / kChunk;
    if (chunks == 1) {
      parallel_for(plan.outputs, std::max<int64_t>(1, kChunk / plan.count), [&](int64_t begin, int64_t end) {
        Odometer at(plan.kept_sizes, plan.kept_strides, begin);
        for (int64_t output = begin; output < end; ++output) {
          const Found found = search(at.offset(), 0, plan.count);
          store(output, found.value, found.index);
          at.advance(1);
        }
      });
      return;
    }
    std::vector<Found> partial(size_t(plan.outputs * chunks));
    parallel_for(plan.outputs * chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = task % chunks * kChunk;
        const Odometer at(plan.kept_sizes, plan.kept_strides, task / chunks);
        partial[size_t(task)] = search(at.offset(), first, std::min(first + kChunk, plan.count));
      }
    });
    for (int64_t output = 0; output < plan.outputs; ++output) {
      Found best = partial[size_t(output * chunks)];
      for (int64_t chunk = 1; chunk < chunks; ++chunk) {
        const Found& next = partial[size_t(output * chunks + chunk)];
        if (better(largest, next.value, best.value)) best = next;
      }
      store(output, best.value, best.index);
    }
  }

  void run_columns() const {
    const int64_t width = plan.kept_sizes.back();
    const int64_t block = std::min(width, kColumns), blocks = (width + block - 1) / block;
    parallel_for(plan.outputs / width * blocks, std::max<int64_t>(1, kChunk / (plan.count * block)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t strip = begin; strip < end; ++strip)
                     search_strip(strip / blocks * width + strip % blocks * block,
                                  std::min(block, width - strip % blocks * block));
                 });
  }

  // The row indices, in the integer type of the elements' size.
  using Number = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

  void search_strip(int64_t first, int64_t width) const {
    T values[kColumns];
    Number indices[kColumns];
    const Odometer column(plan.kept_sizes, plan.kept_strides, first);
    Odometer at(plan.reduced_sizes, plan.reduced_strides, 0);
    std::copy_n(x.at(column.offset()), width, values);
    std::fill_n(indices, width, Number(0));
    for (int64_t i = 1; i < plan.count; ++i) {
      at.advance(1);
      take_better_columns(largest, x.at(column.offset() + at.offset()), width, Number(i), values, indices);
    }
    for (int64_t j = 0; j < width; ++j) store(first + j, values[j], indices[j]);
  }
};

}  // namespace

void find_extremes(bool largest, const Tensor& x, uint32_t mask, void* values, int64_t* indices) {
  const ReducePlan plan(x.shape(), x.strides(), mask, false);
  if (plan.outputs == 0) return;
  // The search depends on the order of the elements, so a permuted tensor is copied into order first.
  if (!x.is_contiguous() && !has_columns(plan) && !plan.reduced_strides.empty() &&
      plan.reduced_strides.back() > 1) {
    const Tensor copy = Tensor::empty(x.shape(), x.dtype());
    copy_strided(copy.raw(), copy.dtype(), copy.strides(), x.raw(), x.dtype(), x.strides(), x.shape());
    return find_extremes(largest, copy, mask, values, indices);
  }
  visit_dtype(x.dtype(), [&]<class Element>() {
    using T = std::conditional_t<std::is_integral_v<Element>, int64_t,
                                 std::conditional_t<std::is_same_v<Element, double>, double, float>>;
    using A = std::conditional_t<std::is_integral_v<Element>, int64_t, double>;
    const Source<T> source = source_of<T>(x);
    const ExtremeFinder<T, A> finder{largest, source, plan, [&](int64_t output, T value, int64_t index) {
                                       if (values)
                                         static_cast<Element*>(values)[output] = convert<Element>(value);
                                       indices[output] = index;
                                     }};
    const bool columns =
        source.direct && has_columns(plan) && plan.count <= std::numeric_limits<int32_t>::max();
    columns ? finder.run_columns() : finder.run_rows();
  });
}

}  // namespace lunagrad
