#pragma once
// What a tensor's values look like: extremes, moments, zeros, what is not finite, and a histogram whose bins
// follow from the values' exponents, so that one pass makes it and histograms of different steps fit each
// other. Pure functions; for the thread of the tensor.
#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace lunagrad {

class Tensor;

struct Statistics {
  int64_t count = 0;  // of all elements
  int64_t zeros = 0, nans = 0, infinities = 0, negative_infinities = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // of the finite ones; std divides by their number - 1
  double norm = 0;                             // Euclidean, of all: NaN or infinite when one of them is
  // Of the finite ones: bin i holds counts[i] values from edges[i] up to edges[i + 1]. A factor of 2 is four
  // bins; there are at most kHistogramBins, and what is too small for a bin of its own is in the one around
  // 0.
  std::vector<double> edges;
  std::vector<int64_t> counts;
  std::array<double, 5> percentiles{};  // kPercentiles, each right to an eighth of its size

  int64_t finite() const { return count - nans - infinities - negative_infinities; }
};

inline constexpr size_t kHistogramBins = 64;
inline constexpr std::array<int, 5> kPercentiles = {5, 25, 50, 75, 95};

// Of any type but complex ones (Error); a tensor of another device is copied to the CPU. The same for any
// number of threads. Elements are read where they lie: an expanded tensor takes no memory. Error of kind
// cancelled once `stop` is requested.
Statistics statistics(const Tensor&, std::stop_token stop = {});
// The elements that statistics() reads: of an expanded dim, which shows the same ones again, those of one
// position.
int64_t elements_counted(const Tensor&);

}  // namespace lunagrad
