#include "runtime/statistics/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <tuple>

#include "runtime/core/context.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"

namespace lunagrad {
namespace {

// The index of a value in the table is the upper 12 bits of its f32: sign, exponent, three bits of the
// mantissa.
constexpr int kPlaceShift = 20;
constexpr uint32_t kPlacesPerSign = 2048;
constexpr int kPlacesPerBin = 2;
constexpr int64_t kChunk = 1024;  // elements of the conversion buffer
constexpr int kStatisticsLanes = 8;

// The statistics of one range of a tensor.
struct StatisticsPart {
  std::array<uint32_t, 2 * kPlacesPerSign> places{};  // counts of values >= 0, then of negative values
  int64_t finite = 0, zeros = 0, nans = 0, infinities = 0, negative_infinities = 0;
  double min = INFINITY, max = -INFINITY;
  double mean = 0, squares = 0;  // squares: the sum of (x - mean)^2
};

float as_f32(float value) { return value; }
float as_f32(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return float(std::clamp(value, -kLargest, kLargest));
}

template <class T>
void add_finite(StatisticsPart& part, std::span<const T> values) {
  // Subtracts one of the values first: otherwise squares of large, nearly equal numbers would cancel.
  const double shift = double(values[0]);
  double sums[kStatisticsLanes] = {}, squares[kStatisticsLanes] = {};
  T low[kStatisticsLanes], high[kStatisticsLanes];
  std::fill_n(low, kStatisticsLanes, values[0]);
  std::fill_n(high, kStatisticsLanes, values[0]);
  int64_t zeros = 0;
  size_t i = 0;
  for (; i + kStatisticsLanes <= values.size(); i += kStatisticsLanes) {
    for (size_t lane = 0; lane < kStatisticsLanes; ++lane) {
      const T x = values[i + lane];
      const double difference = double(x) - shift;
      sums[lane] += difference;
      squares[lane] += difference * difference;
      low[lane] = x < low[lane] ? x : low[lane];
      high[lane] = x > high[lane] ? x : high[lane];
      zeros += x == T(0);
    }
  }
  for (; i < values.size(); ++i) {
    const T x = values[i];
    const double difference = double(x) - shift;
    sums[0] += difference;
    squares[0] += difference * difference;
    low[0] = std::min(low[0], x);
    high[0] = std::max(high[0], x);
    zeros += x == T(0);
  }
  double sum = 0, square = 0;
  for (int lane = 0; lane < kStatisticsLanes; ++lane) {
    sum += sums[lane];
    square += squares[lane];
  }
  part.min = std::min(part.min, double(*std::min_element(low, low + kStatisticsLanes)));
  part.max = std::max(part.max, double(*std::max_element(high, high + kStatisticsLanes)));
  part.zeros += zeros;
  // Chan, Golub, LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979.
  const double n = double(values.size()), before = double(part.finite);
  const double mean = shift + sum / n, difference = mean - part.mean;
  part.squares += std::max(0.0, square - sum * sum / n) + difference * difference * before * n / (before + n);
  part.mean += difference * n / (before + n);
  part.finite += int64_t(values.size());
}

// Removes NaN and Inf, and counts them.
template <class T>
int64_t keep_finite(StatisticsPart& part, T* values, int64_t count) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    const T x = values[i];
    if (std::isfinite(x)) {
      values[kept++] = x;
    } else {
      (std::isnan(x) ? part.nans : x > 0 ? part.infinities : part.negative_infinities) += 1;
    }
  }
  return kept;
}

template <class T>
void add_chunk(StatisticsPart& part, T* values, int64_t count) {
  bool finite = true;
  for (int64_t i = 0; i < count; ++i) finite &= std::abs(values[i]) <= std::numeric_limits<T>::max();
  if (!finite) count = keep_finite(part, values, count);
  if (count == 0) return;
  for (int64_t i = 0; i < count; ++i)
    ++part.places[std::bit_cast<uint32_t>(as_f32(values[i])) >> kPlaceShift];
  add_finite(part, std::span<const T>(values, size_t(count)));
}

// Copies `count` elements from index `at` on, in row-major order, of a tensor with any strides.
template <size_t kSize>
void gather(const Tensor& x, int64_t at, int64_t count, char* to) {
  int64_t index[kMaxDims] = {}, place = 0;
  for (int d = x.ndim() - 1; d >= 0; --d) {
    index[d] = at % x.size(d);
    at /= x.size(d);
    place += index[d] * x.strides()[d];
  }
  const int last = x.ndim() - 1;
  const char* const from = static_cast<const char*>(x.raw());
  const int64_t step = x.strides()[last];
  while (count > 0) {
    const int64_t run = std::min(count, x.size(last) - index[last]);
    for (int64_t i = 0; i < run; ++i, to += kSize)
      std::memcpy(to, from + (place + i * step) * int64_t(kSize), kSize);
    count -= run;
    place += run * step;
    index[last] += run;
    for (int d = last; d > 0 && index[d] == x.size(d); --d) {
      place += x.strides()[d - 1] - index[d] * x.strides()[d];
      index[d] = 0;
      ++index[d - 1];
    }
  }
}

void gather(const Tensor& x, int64_t at, int64_t count, char* to) {
  switch (item_size(x.dtype())) {
    case 1:
      return gather<1>(x, at, count, to);
    case 2:
      return gather<2>(x, at, count, to);
    case 4:
      return gather<4>(x, at, count, to);
    default:
      return gather<8>(x, at, count, to);
  }
}

template <class T>
void add_range(StatisticsPart& part, const Tensor& x, DType as, int64_t begin, int64_t end,
               const std::stop_token& stop) {
  T chunk[kChunk];
  alignas(8) char gathered[kChunk * 8];
  const ConvertRow convert = convert_row(as, x.dtype());
  const char* const from = static_cast<const char*>(x.raw());
  for (int64_t at = begin; at < end; at += kChunk) {
    if (stop.stop_requested()) fail_as(ErrorKind::cancelled, "statistics: no longer wanted");
    const int64_t count = std::min(kChunk, end - at);
    if (!x.is_contiguous()) gather(x, at, count, gathered);
    convert(x.is_contiguous() ? from + size_t(at) * item_size(x.dtype()) : gathered, chunk, count);
    add_chunk(part, chunk, count);
  }
}

// The tensor without its expanded dims (stride 0): each element once.
Tensor shown_once(const Tensor& x) {
  Shape shape = x.shape();
  for (int d = 0; d < x.ndim(); ++d)
    if (x.strides()[d] == 0 && shape[d] > 1) shape[d] = 1;
  return Tensor(x.storage_ref(), LayoutRef(new Layout(shape, x.strides())), x.offset(), x.dtype());
}

// The tensor on the CPU; repeated elements are copied once.
Tensor copied_to_cpu(const Tensor& x) {
  if (x.device().is_cpu() || x.numel() == 0) return to(x.detach(), cpu_device());
  int64_t extent = 1;
  for (int d = 0; d < x.ndim(); ++d) extent += (x.size(d) - 1) * x.strides()[d];
  if (extent >= x.numel()) return to(x.detach(), cpu_device());
  const Tensor memory =
      to(Tensor(x.storage_ref(), Layout::contiguous({extent}), x.offset(), x.dtype()), cpu_device());
  return Tensor(memory.storage_ref(), x.layout(), memory.offset(), x.dtype());
}

// The smallest magnitude of index `place`, with `per_octave` indices per factor of 2.
double magnitude(int64_t place, int per_octave) {
  const int64_t exponent = place / per_octave;
  const double fraction = double(place % per_octave) / per_octave;
  return exponent == 0 ? std::ldexp(fraction, -126) : std::ldexp(1 + fraction, int(exponent) - 127);
}

// A table entry that is not empty. The first entry of each sign is the value 0.
struct Filled {
  bool negative;
  int64_t place, count;
};

// The entries that are not empty, in ascending order of their values.
std::vector<Filled> filled_places(const std::vector<StatisticsPart>& parts, int64_t times) {
  std::vector<Filled> filled;
  const auto look = [&](bool negative, uint32_t place) {
    int64_t count = 0;
    for (const StatisticsPart& part : parts) count += part.places[place + (negative ? kPlacesPerSign : 0)];
    if (count) filled.push_back({negative, place, count * times});
  };
  for (uint32_t place = kPlacesPerSign; place-- > 0;) look(true, place);
  for (uint32_t place = 0; place < kPlacesPerSign; ++place) look(false, place);
  return filled;
}

void find_percentiles(Statistics& result, const std::vector<Filled>& filled) {
  constexpr int kPerOctave = 8;
  const double n = double(result.finite());
  size_t next = 0;
  int64_t below = 0;
  for (const auto& [negative, place, count] : filled) {
    double low = magnitude(place, kPerOctave), high = place ? magnitude(place + 1, kPerOctave) : 0;
    if (negative) std::tie(low, high) = std::pair(-high, -low);
    while (next < kPercentiles.size() && kPercentiles[next] / 100.0 * n <= double(below + count)) {
      const double within = (kPercentiles[next] / 100.0 * n - double(below)) / double(count);
      result.percentiles[next++] = std::clamp(low + within * (high - low), result.min, result.max);
    }
    below += count;
  }
}

void make_bins(Statistics& result, const std::vector<Filled>& filled) {
  constexpr int kPerOctave = 4;
  std::array<int64_t, 2> top = {0, 0};    // for each sign: one past the last bin that is not empty
  int64_t cut = int64_t(kPlacesPerSign);  // bins below it belong to the bin around 0
  for (const Filled& f : filled) {
    const int64_t bin = f.place / kPlacesPerBin;
    top[f.negative] = std::max(top[f.negative], bin + 1);
    if (bin) cut = std::min(cut, bin);
  }
  const auto bins_of = [&](size_t sign) { return std::max<int64_t>(top[sign] - cut, 0); };
  if (bins_of(0) + bins_of(1) == 0) cut = 1;
  while (bins_of(0) + bins_of(1) + 1 > int64_t(kHistogramBins)) ++cut;

  const int64_t middle = bins_of(1);
  std::vector<int64_t> counts(size_t(middle + 1 + bins_of(0)));
  for (const Filled& f : filled) {
    const int64_t bin = f.place / kPlacesPerBin, away = bin < cut ? 0 : bin - cut + 1;
    counts[size_t(f.negative ? middle - away : middle + away)] += f.count;
  }
  // Edge i is the lower edge of bin i.
  const auto edge = [&](int64_t i) {
    return i <= middle ? -magnitude(cut + middle - i, kPerOctave)
                       : magnitude(cut + i - middle - 1, kPerOctave);
  };
  int64_t first = 0, end = int64_t(counts.size());
  while (counts[size_t(first)] == 0) ++first;
  while (counts[size_t(end - 1)] == 0) --end;
  result.counts.assign(counts.begin() + first, counts.begin() + end);
  for (int64_t i = first; i <= end; ++i) result.edges.push_back(edge(i));
}

}  // namespace

int64_t elements_counted(const Tensor& x) { return shown_once(x).numel(); }

Statistics statistics(const Tensor& x, std::stop_token stop) {
  if (is_complex(x.dtype())) refuse_complex(x.dtype());
  const NoGrad off;
  x.storage().check_whole("statistics");
  const Tensor host = copied_to_cpu(shown_once(x));
  const bool in_f64 = host.dtype() == DType::f64 || host.dtype() == DType::i32 || host.dtype() == DType::i64;
  // The parts depend only on the number of elements and are combined in their order, for a deterministic
  // result.
  constexpr int64_t kSmallest = 1 << 16, kMost = 32;
  const int64_t n = host.numel(), times = n > 0 ? x.numel() / n : 1;
  const int64_t size = std::max(kSmallest, (n + kMost - 1) / kMost);
  std::vector<StatisticsPart> parts(size_t((n + size - 1) / size));
  parallel_for(int64_t(parts.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = i * size, end = std::min(n, begin + size);
      StatisticsPart& part = parts[size_t(i)];
      in_f64 ? add_range<double>(part, host, DType::f64, begin, end, stop)
             : add_range<float>(part, host, DType::f32, begin, end, stop);
    }
  });

  Statistics result;
  result.count = x.numel();
  double mean = 0, squares = 0, finite = 0;
  for (const StatisticsPart& part : parts) {
    result.nans += part.nans * times;
    result.infinities += part.infinities * times;
    result.negative_infinities += part.negative_infinities * times;
    result.zeros += part.zeros * times;
    if (part.finite == 0) continue;
    result.min = finite == 0 ? part.min : std::min(result.min, part.min);
    result.max = finite == 0 ? part.max : std::max(result.max, part.max);
    const double more = double(part.finite), difference = part.mean - mean;
    squares += part.squares + difference * difference * finite * more / (finite + more);
    mean += difference * more / (finite + more);
    finite += more;
  }
  squares *= double(times);
  finite *= double(times);
  result.mean = mean;
  result.std = finite > 1 ? std::sqrt(squares / (finite - 1)) : 0;
  result.norm = result.nans ? NAN
                : result.infinities + result.negative_infinities > 0
                    ? INFINITY
                    : std::sqrt(squares + finite * mean * mean);
  if (finite > 0) {
    const std::vector<Filled> filled = filled_places(parts, times);
    find_percentiles(result, filled);
    make_bins(result, filled);
  }
  return result;
}

}  // namespace lunagrad
