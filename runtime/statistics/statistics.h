#pragma once
// Statistics of a tensor's values: extremes, moments, zeros, NaN and Inf, and a histogram. The histogram's
// bins follow from the exponents of the values, so it needs one pass, and histograms of different steps have
// common edges. Pure functions; for the thread of the tensor.
#include <array>
#include <cstdint>
#include <stop_token>
#include <vector>

namespace lunagrad {

class Tensor;

struct Statistics {
  int64_t count = 0;  // of all elements
  int64_t zeros = 0, nans = 0, infinities = 0, negative_infinities = 0;
  double min = 0, max = 0, mean = 0, std = 0;  // of the finite elements; std divides by their count - 1
  double norm = 0;                             // Euclidean, of all elements: NaN or Inf when an element is
  // Histogram of the finite elements: bin i has counts[i] values from edges[i] up to edges[i + 1]. A factor
  // of 2 spans four bins. There are at most kHistogramBins; smaller values are in the bin around 0.
  std::vector<double> edges;
  std::vector<int64_t> counts;
  std::array<double, 5> percentiles{};  // kPercentiles, each with a relative error of at most 1/8

  int64_t finite() const { return count - nans - infinities - negative_infinities; }
};

inline constexpr size_t kHistogramBins = 64;
inline constexpr std::array<int, 5> kPercentiles = {5, 25, 50, 75, 95};

// Any dtype except complex ones (Error). Copies a tensor of another device to the CPU; reads CPU tensors in
// place, so an expanded tensor needs no extra memory. The result does not depend on the number of threads.
// Error of kind cancelled after `stop` was requested.
Statistics statistics(const Tensor&, std::stop_token stop = {});
// The number of elements that statistics() reads: an expanded dim, which repeats its elements, counts once.
int64_t elements_counted(const Tensor&);

}  // namespace lunagrad
