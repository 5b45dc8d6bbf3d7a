#include "runtime/ops/fft/cpu/fft.h"

#include <algorithm>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/cpu/pieces.h"
#include "runtime/cpu/transpose_kernels.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/fft/cpu/fft_kernels.h"
#include "runtime/ops/fft/cpu/fft_plan.h"

namespace lunagrad {
namespace {

constexpr int64_t kGrain = 1 << 13;    // complex numbers transformed in about 20 µs
constexpr int64_t kBlock = 1 << 14;    // complex numbers of a block, which stays in the second-level cache
constexpr int64_t kAlone = 1 << 15;    // a row with more numbers than this is shared by the threads
constexpr int64_t kTallest = 1 << 12;  // columns longer than this are copied to rows first

int64_t grain_of(int64_t numbers) { return iterations_in(kGrain, numbers); }

// The two buffers between which the passes of a line alternate.
template <class T>
class Buffers {
 public:
  explicit Buffers(int64_t numbers) : memory_(4 * numbers), half_(2 * numbers) {}
  T* front() const { return memory_.data(); }
  // Transforms the first axis of front(), [line.length, v] complex vectors; returns the result.
  const T* run(const FftLine<T>& line, int64_t v) const {
    T *from = memory_.data(), *to = from + half_;
    int64_t stride = v;
    for (const auto& pass : line.passes) {
      fft_kernels<T>().pass(pass.radix, from, to, pass.left, stride, line.twiddles.data() + pass.twiddles);
      std::swap(from, to);
      stride *= pass.radix;
    }
    return from;
  }

 private:
  Workspace<T> memory_;
  int64_t half_;
};

// The number of complex vectors in a row of a block, and in a row of `columns` numbers.
template <class T>
int64_t vectors_of(int64_t columns) {
  const int64_t lanes = fft_kernels<T>().lanes;
  return (columns + lanes - 1) / lanes;
}
template <class T>
int64_t block_width(int64_t length, int64_t columns) {
  const int64_t most = std::max<int64_t>(1, kBlock / (length * fft_kernels<T>().lanes));
  return std::min(most, vectors_of<T>(columns));
}

// --- rows of a short length: many at once, as columns of a transposed block ---

template <class T>
void lines(const FftPlan<T>& plan, const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count,
           bool inverse, double scale) {
  const FftKernels<T>& kernels = fft_kernels<T>();
  const int64_t n = plan.length, lanes = kernels.lanes;
  const int64_t width = std::min<int64_t>(count, std::max<int64_t>(1, 2048 / (n * lanes)) * lanes);
  constexpr int64_t kPair = 2 * sizeof(T);
  parallel_for((count + width - 1) / width, grain_of(n * width), [&](int64_t begin, int64_t end) {
    const Workspace<T> turned(2 * n * width);
    const Buffers<T> buffers(n * vectors_of<T>(width) * lanes);
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * width, rows = std::min(width, count - first), v = vectors_of<T>(rows);
      transpose_block(turned.data(), width * kPair, in + first * in_row, in_row * int64_t(sizeof(T)), n, rows,
                      kPair);
      kernels.load(turned.data(), width, n, rows, inverse, buffers.front());
      kernels.store(buffers.run(plan.first, v), n, rows, inverse, T(scale), turned.data(), width);
      transpose_block(out + first * out_row, out_row * int64_t(sizeof(T)), turned.data(), width * kPair, rows,
                      n, kPair);
    }
  });
}

// --- rows of n1 n2 numbers (W. M. Gentleman and G. Sande, "Fast Fourier transforms: for fun and profit",
// 1966; D. H. Bailey, "FFTs in external or hierarchical memory", 1990). With j = n2 j1 + j2 and k = k1 + n1
// k2:
//   1. for each j2, a transform over j1 gives index k1; the matrix is written transposed, [j2, k1]
//   2. multiply by w^(j2 k1); for each k1, a transform over j2 gives index k2
// Both work on blocks of adjacent columns, so that memory is read and written in whole cache lines ---

template <class T>
class Square {
 public:
  Square(const FftPlan<T>& plan, bool inverse, double scale)
      : plan_(plan),
        inverse_(inverse),
        scale_(T(scale)),
        n1_(plan.first.length),
        n2_(plan.second.length),
        row_((vectors_of<T>(n1_) | 1) * 2 * kernels_.lanes),  // an odd number: no two rows in one cache set
        width1_(block_width<T>(n1_, n2_)),
        width2_(block_width<T>(n2_, n1_)) {}

  int64_t scratch_size() const { return n2_ * row_; }
  int64_t buffer_size() const { return std::max(n1_ * width1_, n2_ * width2_) * kernels_.lanes; }
  int64_t blocks1() const { return (vectors_of<T>(n2_) + width1_ - 1) / width1_; }
  int64_t blocks2() const { return (vectors_of<T>(n1_) + width2_ - 1) / width2_; }

  void first_half(const T* in, T* scratch, int64_t begin, int64_t end, const Buffers<T>& buffers) const {
    const int64_t lanes = kernels_.lanes;
    for (int64_t block = begin; block < end; ++block) {
      const int64_t column = block * width1_ * lanes, columns = std::min(width1_ * lanes, n2_ - column);
      kernels_.load(in + 2 * column, n2_, n1_, columns, inverse_, buffers.front());
      const int64_t v = vectors_of<T>(columns);
      const T* const done = buffers.run(plan_.first, v);
      for (int64_t c = 0; c < columns; c += lanes)
        turn(done + 2 * c, v * 2 * lanes, scratch + (column + c) * row_, std::min(lanes, columns - c));
    }
  }

  void second_half(const T* scratch, T* out, int64_t begin, int64_t end, const Buffers<T>& buffers) const {
    const int64_t lanes = kernels_.lanes;
    for (int64_t block = begin; block < end; ++block) {
      const int64_t column = block * width2_ * lanes, columns = std::min(width2_ * lanes, n1_ - column);
      const int64_t v = vectors_of<T>(columns);
      kernels_.load_times(scratch + 2 * column, row_, plan_.between.data() + 2 * column, plan_.between_row,
                          n2_, v, buffers.front());
      kernels_.store(buffers.run(plan_.second, v), n2_, columns, inverse_, scale_, out + 2 * column, n1_);
    }
  }

 private:
  // Writes one complex vector of each of the n1 rows of a buffer to `columns` rows of the scratch,
  // transposed.
  void turn(const T* in, int64_t in_row, T* out, int64_t columns) const {
    const int64_t lanes = kernels_.lanes;
    constexpr int64_t kItem = sizeof(T);
    for (int64_t r = 0; r < n1_; r += lanes)
      for (int part = 0; part < 2; ++part)
        transpose_block(out + 2 * r + part * lanes, row_ * kItem, in + r * in_row + part * lanes,
                        in_row * kItem, columns, std::min(lanes, n1_ - r), kItem);
  }

  const FftKernels<T>& kernels_ = fft_kernels<T>();
  const FftPlan<T>& plan_;
  bool inverse_;
  T scale_;
  int64_t n1_, n2_, row_, width1_, width2_;
};

template <class T>
void squares(const FftPlan<T>& plan, const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count,
             bool inverse, double scale) {
  const Square<T> square(plan, inverse, scale);
  if (plan.length <= kAlone || count >= 4 * thread_count()) {
    parallel_for(count, grain_of(plan.length), [&](int64_t begin, int64_t end) {
      const Workspace<T> scratch(square.scratch_size());
      const Buffers<T> buffers(square.buffer_size());
      for (int64_t row = begin; row < end; ++row) {
        context().check_stop();
        square.first_half(in + row * in_row, scratch.data(), 0, square.blocks1(), buffers);
        square.second_half(scratch.data(), out + row * out_row, 0, square.blocks2(), buffers);
      }
    });
    return;
  }
  const Workspace<T> scratch(square.scratch_size());
  for (int64_t row = 0; row < count; ++row) {
    parallel_for(square.blocks1(), 1, [&](int64_t begin, int64_t end) {
      const Buffers<T> buffers(square.buffer_size());
      square.first_half(in + row * in_row, scratch.data(), begin, end, buffers);
    });
    parallel_for(square.blocks2(), 1, [&](int64_t begin, int64_t end) {
      const Buffers<T> buffers(square.buffer_size());
      square.second_half(scratch.data(), out + row * out_row, begin, end, buffers);
    });
  }
}

// --- rows of a length with a large prime factor: a convolution (fft_plan.cpp) ---

template <class T>
void run_plan(const FftPlan<T>&, const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count,
              bool inverse, double scale);

template <class T>
void chirps(const FftPlan<T>& plan, const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count,
            bool inverse, double scale) {
  const FftKernels<T>& kernels = fft_kernels<T>();
  const int64_t n = plan.length, whole = plan.inner->length;
  const int64_t together = std::clamp<int64_t>(kGrain / whole, 1, count);
  parallel_for((count + together - 1) / together, grain_of(whole * together),
               [&](int64_t begin, int64_t end) {
                 const Workspace<T> work(2 * whole * together);
                 for (int64_t block = begin; block < end; ++block) {
                   const int64_t first = block * together, rows = std::min(together, count - first);
                   // Many rows are shared by the threads; with few rows, the elements of each row are.
                   const auto for_rows = [&](auto&& f) {
                     for (int64_t r = 0; r < rows; ++r)
                       parallel_for(n, kGrain, [&](int64_t from, int64_t to) { f(r, 2 * from, to - from); });
                   };
                   for_rows([&](int64_t r, int64_t at, int64_t length) {
                     kernels.multiply(in + (first + r) * in_row + at, inverse, plan.chirp.data() + at, length,
                                      T(1), false, work.data() + 2 * r * whole + at);
                   });
                   for (int64_t r = 0; r < rows; ++r)
                     std::memset(static_cast<void*>(work.data() + 2 * (r * whole + n)), 0,
                                 size_t(2 * (whole - n)) * sizeof(T));
                   run_plan(*plan.inner, work.data(), 2 * whole, work.data(), 2 * whole, rows, false, 1.0);
                   for (int64_t r = 0; r < rows; ++r)
                     parallel_for(whole, kGrain, [&](int64_t from, int64_t to) {
                       T* const at = work.data() + 2 * (r * whole + from);
                       kernels.multiply(at, false, plan.filter.data() + 2 * from, to - from, T(1), false, at);
                     });
                   run_plan(*plan.inner, work.data(), 2 * whole, work.data(), 2 * whole, rows, true, 1.0);
                   for_rows([&](int64_t r, int64_t at, int64_t length) {
                     kernels.multiply(work.data() + 2 * r * whole + at, false, plan.chirp.data() + at, length,
                                      T(scale), inverse, out + (first + r) * out_row + at);
                   });
                 }
               });
}

template <class T>
void run_plan(const FftPlan<T>& plan, const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count,
              bool inverse, double scale) {
  using Kind = typename FftPlan<T>::Kind;
  switch (plan.kind) {
    case Kind::line:
      return lines(plan, in, in_row, out, out_row, count, inverse, scale);
    case Kind::square:
      return squares(plan, in, in_row, out, out_row, count, inverse, scale);
    case Kind::chirp:
      return chirps(plan, in, in_row, out, out_row, count, inverse, scale);
  }
}

// Calls f(begin, end) on few rows of n numbers at a time, so that a second loop over them finds them in the
// cache.
template <class F>
void in_chunks(int64_t count, int64_t n, F&& f) {
  const int64_t rows = grain_of(n);
  parallel_for(count, rows, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row += rows) f(row, std::min(row + rows, end));
  });
}

}  // namespace

template <class T>
void fft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n, bool inverse,
              double scale) {
  if (count > 0) run_plan(*fft_plan<T>(n), in, in_row, out, out_row, count, inverse, scale);
}

template <class T>
bool fft_columns(const T* in, T* out, int64_t outer, int64_t n, int64_t inner, bool inverse, double scale) {
  const FftKernels<T>& kernels = fft_kernels<T>();
  const int64_t lanes = kernels.lanes;
  if (n > kTallest || 2 * inner < lanes) return false;
  const auto line = fft_line<T>(n);
  if (!line) return false;
  const int64_t width = block_width<T>(n, inner);
  const int64_t blocks = (vectors_of<T>(inner) + width - 1) / width;
  parallel_for(outer * blocks, grain_of(n * width * lanes), [&](int64_t begin, int64_t end) {
    const Buffers<T> buffers(n * width * lanes);
    for (int64_t block = begin; block < end; ++block) {
      const int64_t column = block % blocks * width * lanes;
      const int64_t at = 2 * (block / blocks * n * inner + column);
      const int64_t columns = std::min(width * lanes, inner - column);
      kernels.load(in + at, inner, n, columns, inverse, buffers.front());
      kernels.store(buffers.run(*line, vectors_of<T>(columns)), n, columns, inverse, T(scale), out + at,
                    inner);
    }
  });
  return true;
}

// A row of even length uses the complex transform of half the length, where two adjacent real numbers make
// one complex number. Other lengths use the complex transform of the whole length.
template <class T>
void rfft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n, double scale) {
  const int64_t half = n / 2;
  if (n % 2 == 0) {
    const auto roots = fft_real_roots<T>(half);
    const auto plan = fft_plan<T>(half);
    in_chunks(count, half, [&](int64_t begin, int64_t end) {
      run_plan(*plan, in + begin * in_row, in_row, out + begin * out_row, out_row, end - begin, false, 1.0);
      for (int64_t row = begin; row < end; ++row) {
        T* const z = out + row * out_row;
        const T re = z[0], im = z[1], s = T(scale);
        parallel_for((half - 1) / 2, kGrain, [&](int64_t from, int64_t to) {
          fft_kernels<T>().untangle(z, half, from + 1, to + 1, roots->data(), s);
        });
        z[0] = s * (re + im);
        z[2 * half] = s * (re - im);
        z[1] = z[2 * half + 1] = 0;
        if (half % 2 == 0) {
          z[half] *= s;
          z[half + 1] *= -s;
        }
      }
    });
    return;
  }
  const auto plan = fft_plan<T>(n);
  parallel_for(count, grain_of(n), [&](int64_t begin, int64_t end) {
    const Workspace<T> work(2 * n);
    for (int64_t row = begin; row < end; ++row) {
      in_pieces(n, [&](int64_t from, int64_t to) {
        for (int64_t j = from; j < to; ++j) {
          work.data()[2 * j] = in[row * in_row + j];
          work.data()[2 * j + 1] = 0;
        }
      });
      run_plan(*plan, work.data(), 2 * n, work.data(), 2 * n, 1, false, scale);
      std::memcpy(out + row * out_row, work.data(), size_t(2 * (half + 1)) * sizeof(T));
      out[row * out_row + 1] = 0;
    }
  });
}

template <class T>
void irfft_rows(const T* in, int64_t in_row, T* out, int64_t out_row, int64_t count, int64_t n,
                double scale) {
  const int64_t half = n / 2;
  if (n % 2 == 0) {
    const auto roots = fft_real_roots<T>(half);
    const auto plan = fft_plan<T>(half);
    in_chunks(count, half, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* const x = in + row * in_row;
        T* const z = out + row * out_row;
        parallel_for((half - 1) / 2, kGrain, [&](int64_t from, int64_t to) {
          fft_kernels<T>().untangle_inverse(x, z, half, from + 1, to + 1, roots->data());
        });
        z[0] = x[0] + x[2 * half];
        z[1] = x[0] - x[2 * half];
        if (half % 2 == 0) {
          z[half] = 2 * x[half];
          z[half + 1] = -2 * x[half + 1];
        }
      }
      run_plan(*plan, out + begin * out_row, out_row, out + begin * out_row, out_row, end - begin, true,
               scale);
    });
    return;
  }
  const auto plan = fft_plan<T>(n);
  parallel_for(count, grain_of(n), [&](int64_t begin, int64_t end) {
    const Workspace<T> work(2 * n);
    for (int64_t row = begin; row < end; ++row) {
      const T* const x = in + row * in_row;
      T* const z = work.data();
      z[0] = x[0];
      z[1] = 0;
      in_pieces(half, [&](int64_t from, int64_t to) {
        for (int64_t k = from + 1; k <= to; ++k) {
          z[2 * k] = z[2 * (n - k)] = x[2 * k];
          z[2 * k + 1] = x[2 * k + 1];
          z[2 * (n - k) + 1] = -x[2 * k + 1];
        }
      });
      run_plan(*plan, z, 2 * n, z, 2 * n, 1, true, scale);
      in_pieces(n, [&](int64_t from, int64_t to) {
        for (int64_t j = from; j < to; ++j) out[row * out_row + j] = z[2 * j];
      });
    }
  });
}

void transform_filter(double* z, int64_t n, double scale) {
  fft_rows<double>(z, 2 * n, z, 2 * n, 1, n, false, scale);
}

template void fft_rows(const float*, int64_t, float*, int64_t, int64_t, int64_t, bool, double);
template void fft_rows(const double*, int64_t, double*, int64_t, int64_t, int64_t, bool, double);
template bool fft_columns(const float*, float*, int64_t, int64_t, int64_t, bool, double);
template bool fft_columns(const double*, double*, int64_t, int64_t, int64_t, bool, double);
template void rfft_rows(const float*, int64_t, float*, int64_t, int64_t, int64_t, double);
template void rfft_rows(const double*, int64_t, double*, int64_t, int64_t, int64_t, double);
template void irfft_rows(const float*, int64_t, float*, int64_t, int64_t, int64_t, double);
template void irfft_rows(const double*, int64_t, double*, int64_t, int64_t, int64_t, double);

}  // namespace lunagrad
