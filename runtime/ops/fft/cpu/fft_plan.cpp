#include "runtime/ops/fft/cpu/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <list>
#include <mutex>
#include <numbers>
#include <utility>

#include "runtime/cpu/parallel.h"
#include "runtime/ops/fft/cpu/fft_kernels.h"

namespace lunagrad {
namespace {

constexpr int64_t kLongestLine =
    128;  // a chain of passes works on many rows at once; longer chains are squares
constexpr int64_t kGrain = 1 << 12;        // roots computed in about 20 µs
constexpr size_t kCacheEntries = 64;       // plans in a cache: a search reads all of them
constexpr size_t kCacheBytes = 512 << 20;  // for each kind of plan; the least recently used plans are dropped

// exp(-2 pi i k / n), computed from an angle of at most pi / 4.
template <class W>
std::complex<W> exact_root(int64_t k, int64_t n) {
  int64_t a = 4 * k;  // the angle in units of 2 pi / (4 n)
  const bool lower = a > 2 * n;
  if (lower) a = 4 * n - a;
  const bool left = a > n;
  if (left) a = 2 * n - a;
  const bool steep = 2 * a > n;
  if (steep) a = n - a;
  const W angle = std::numbers::pi_v<W> * W(a) / W(2 * n);
  W cosine = std::cos(angle), sine = std::sin(angle);
  if (steep) std::swap(cosine, sine);
  return {left ? -cosine : cosine, lower ? sine : -sine};
}

// The radices of a chain of passes for n; empty with `rest` > 1 if n has a larger prime factor.
std::vector<int> radices_of(int64_t n, int64_t& rest) {
  std::vector<int> radices;
  for (const int radix : kFftRadices)
    while (n % radix == 0) {
      radices.push_back(radix);
      n /= radix;
    }
  rest = n;
  // Two passes of radix 4 instead of radix 8 and radix 2.
  const auto two = std::find(radices.begin(), radices.end(), 2);
  const auto eight = std::find(radices.begin(), radices.end(), 8);
  if (two != radices.end() && eight != radices.end()) *two = *eight = 4;
  return radices;
}

bool is_smooth(int64_t n) {
  int64_t rest;
  radices_of(n, rest);
  return rest == 1;
}

// The largest divisor of n that is at most its square root.
int64_t side_of(int64_t n) {
  int64_t side = 1;
  for (int64_t d = 1; d * d <= n; ++d)
    if (n % d == 0) side = d;
  return side;
}

// A length of at least `least` with the factors 2, 3 and 5. A large length is a multiple of 16, so that its
// sides fill vectors.
int64_t convolution_length(int64_t least) {
  const int64_t step = least > 4 * kLongestLine ? 16 : 1;
  int64_t best = step;
  while (best < least) best *= 2;
  for (int64_t fives = step; fives < best; fives *= 5)
    for (int64_t threes = fives; threes < best; threes *= 3) {
      int64_t n = threes;
      while (n < least) n *= 2;
      best = std::min(best, n);
    }
  return best;
}

template <class T>
FftLine<T> make_line(int64_t length) {
  FftLine<T> line;
  line.length = length;
  const UnitRoots<T> roots(length);
  int64_t n = length, stride = 1, rest;
  for (const int radix : radices_of(length, rest)) {
    const int64_t left = n / radix;
    line.passes.push_back({radix, left, line.twiddles.size()});
    for (int64_t p = 0; p < left; ++p)
      for (int j = 1; j < radix; ++j) {
        const std::complex<T> w = roots(p * j * stride);
        line.twiddles.push_back(w.real());
        line.twiddles.push_back(w.imag());
      }
    n = left;
    stride *= radix;
  }
  return line;
}

template <class T>
void make_square(FftPlan<T>& plan) {
  const int64_t lanes = fft_kernels<T>().lanes, n1 = side_of(plan.length), n2 = plan.length / n1;
  plan.kind = FftPlan<T>::Kind::square;
  plan.first = make_line<T>(n1);
  plan.second = make_line<T>(n2);
  plan.between_row = (n1 + lanes - 1) / lanes * 2 * lanes;
  plan.between.assign(size_t(n2 * plan.between_row), T(0));
  const UnitRoots<T> roots(plan.length);
  parallel_for(n2, iterations_in(kGrain, n1), [&](int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; ++j)
      for (int64_t k = 0; k < n1; ++k) {
        T* const to = plan.between.data() + j * plan.between_row + k / lanes * 2 * lanes + k % lanes;
        const std::complex<T> w = roots(j * k);
        to[0] = w.real();
        to[lanes] = w.imag();
      }
  });
}

// A transform of any length as a convolution, since j k = (j^2 + k^2 - (k - j)^2) / 2 (L. I. Bluestein, "A
// linear filtering approach to the computation of the discrete Fourier transform", 1970):
//   y_k = c_k sum over j of (x_j c_j) conj c_(k - j),  c_k = exp(-pi i k^2 / n)
template <class T>
void make_chirp(FftPlan<T>& plan) {
  const int64_t n = plan.length, whole = convolution_length(2 * n - 1);
  plan.kind = FftPlan<T>::Kind::chirp;
  plan.inner = fft_plan<T>(whole);
  plan.chirp.resize(size_t(2 * n));
  std::vector<double> filter(size_t(2 * whole), 0.0);
  const UnitRoots<T> roots(2 * n);
  const UnitRoots<double> filter_roots(2 * n);
  parallel_for(n, kGrain, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      const int64_t place = int64_t(__int128(k) * k % (2 * n));
      const std::complex<T> c = roots(place);
      plan.chirp[size_t(2 * k)] = c.real();
      plan.chirp[size_t(2 * k + 1)] = c.imag();
      const std::complex<double> f = std::conj(filter_roots(place));
      for (int64_t at : {k, (whole - k) % whole}) {
        filter[size_t(2 * at)] = f.real();
        filter[size_t(2 * at + 1)] = f.imag();
      }
    }
  });
  transform_filter(filter.data(), whole, 1.0 / double(whole));
  plan.filter.assign(filter.begin(), filter.end());
}

template <class T>
std::shared_ptr<const FftPlan<T>> make_plan(int64_t length) {
  auto plan = std::make_shared<FftPlan<T>>();
  plan->length = length;
  if (!is_smooth(length))
    make_chirp(*plan);
  else if (length > kLongestLine)
    make_square(*plan);
  else
    plan->first = make_line<T>(length);
  return plan;
}

// Values by length and by the SIMD target's lanes, most recently used first.
template <class Value>
class Cache {
 public:
  template <class Make, class Bytes>
  std::shared_ptr<const Value> get(int64_t length, int64_t lanes, Make&& make, Bytes&& bytes) {
    {
      const std::lock_guard lock(mutex_);
      if (auto known = find(length, lanes)) return known;
    }
    std::shared_ptr<const Value> made =
        make();  // without the lock: it may take long, and ask for other plans
    const size_t size = bytes(*made);
    if (size > kCacheBytes) return made;
    const std::lock_guard lock(mutex_);
    if (auto known = find(length, lanes)) return known;  // another thread was first
    entries_.push_front({length, lanes, size, made});
    total_ += size;
    while (total_ > kCacheBytes || entries_.size() > kCacheEntries) {
      total_ -= entries_.back().bytes;
      entries_.pop_back();
    }
    return made;
  }

 private:
  struct Entry {
    int64_t length, lanes;
    size_t bytes;
    std::shared_ptr<const Value> value;
  };

  std::shared_ptr<const Value> find(int64_t length, int64_t lanes) {
    for (auto at = entries_.begin(); at != entries_.end(); ++at)
      if (at->length == length && at->lanes == lanes) {
        entries_.splice(entries_.begin(), entries_, at);
        return entries_.front().value;
      }
    return nullptr;
  }

  std::mutex mutex_;
  std::list<Entry> entries_;
  size_t total_ = 0;
};

template <class Value>
Cache<Value>& cache() {
  static Cache<Value>* const instance =
      new Cache<Value>;  // never destroyed: a thread may use it until the end
  return *instance;
}

}  // namespace

template <class T>
UnitRoots<T>::UnitRoots(int64_t n) {
  block_ = 1;
  while (block_ * block_ < n) block_ *= 2;
  for (int64_t k = 0; k < std::min(block_, n); ++k) fine_.push_back(exact_root<Precise>(k, n));
  for (int64_t k = 0; k < n; k += block_) coarse_.push_back(exact_root<Precise>(k, n));
}

template <class T>
std::complex<T> UnitRoots<T>::operator()(int64_t k) const {
  const std::complex<Precise> a = fine_[size_t(k % block_)], b = coarse_[size_t(k / block_)];
  return {T(a.real() * b.real() - a.imag() * b.imag()), T(a.real() * b.imag() + a.imag() * b.real())};
}

template <class T>
size_t FftPlan<T>::bytes() const {
  return (between.size() + chirp.size() + filter.size() + first.twiddles.size() + second.twiddles.size()) *
         sizeof(T);
}

template <class T>
std::shared_ptr<const FftPlan<T>> fft_plan(int64_t length) {
  return cache<FftPlan<T>>().get(
      length, fft_kernels<T>().lanes, [&] { return make_plan<T>(length); },
      [](const FftPlan<T>& plan) { return plan.bytes(); });
}

template <class T>
std::shared_ptr<const FftLine<T>> fft_line(int64_t length) {
  if (!is_smooth(length)) return nullptr;
  return cache<FftLine<T>>().get(
      length, 0, [&] { return std::make_shared<FftLine<T>>(make_line<T>(length)); },
      [](const FftLine<T>& line) { return line.twiddles.size() * sizeof(T); });
}

template <class T>
std::shared_ptr<const std::vector<T>> fft_real_roots(int64_t half) {
  return cache<std::vector<T>>().get(
      half, 0,
      [&] {
        auto table = std::make_shared<std::vector<T>>(size_t(half / 2 + 1) * 2);
        const UnitRoots<T> roots(2 * half);
        parallel_for(half / 2 + 1, kGrain, [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            const std::complex<T> w = roots(k);
            (*table)[size_t(2 * k)] = w.real();
            (*table)[size_t(2 * k + 1)] = w.imag();
          }
        });
        return std::shared_ptr<const std::vector<T>>(table);
      },
      [](const std::vector<T>& table) { return table.size() * sizeof(T); });
}

template class UnitRoots<float>;
template class UnitRoots<double>;
template struct FftPlan<float>;
template struct FftPlan<double>;
template std::shared_ptr<const FftPlan<float>> fft_plan(int64_t);
template std::shared_ptr<const FftPlan<double>> fft_plan(int64_t);
template std::shared_ptr<const FftLine<float>> fft_line(int64_t);
template std::shared_ptr<const FftLine<double>> fft_line(int64_t);
template std::shared_ptr<const std::vector<float>> fft_real_roots(int64_t);
template std::shared_ptr<const std::vector<double>> fft_real_roots(int64_t);

}  // namespace lunagrad
