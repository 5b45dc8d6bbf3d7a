#include "runtime/statistics/summary.h"

#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "runtime/core/op.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/statistics/summary_op.h"

namespace lunagrad {
namespace {

constexpr int kSummaryLanes = 8;
constexpr size_t kNumbers = 8;  // in a row of _summary

struct SummaryPart {
  double sum = 0, magnitudes = 0, squares = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  int64_t zeros = 0, nans = 0, infs = 0, finite = 0;
};

// Adds `count` elements, in lanes that the compiler vectorises. Returns false and adds nothing when one is
// not finite.
template <class T>
bool add_if_finite(SummaryPart& part, const T* values, int64_t count) {
  double sums[kSummaryLanes] = {}, magnitudes[kSummaryLanes] = {}, squares[kSummaryLanes] = {};
  T low[kSummaryLanes], high[kSummaryLanes];
  int64_t zeros[kSummaryLanes] = {};
  std::fill_n(low, kSummaryLanes, values[0]);
  std::fill_n(high, kSummaryLanes, values[0]);
  T check[kSummaryLanes] = {};  // x * 0 is NaN for NaN and Inf
  const auto add = [&](size_t lane, T x) {
    check[lane] += x * T(0);
    sums[lane] += double(x);
    magnitudes[lane] += std::abs(double(x));
    squares[lane] += double(x) * double(x);
    low[lane] = x < low[lane] ? x : low[lane];
    high[lane] = x > high[lane] ? x : high[lane];
    zeros[lane] += x == T(0);
  };
  int64_t i = 0;
  for (; i + kSummaryLanes <= count; i += kSummaryLanes)
    for (size_t lane = 0; lane < kSummaryLanes; ++lane) add(lane, values[size_t(i) + lane]);
  for (; i < count; ++i) add(0, values[i]);
  for (const T lane : check)
    if (lane != 0) return false;
  for (size_t lane = 0; lane < kSummaryLanes; ++lane) {
    part.sum += sums[lane];
    part.magnitudes += magnitudes[lane];
    part.squares += squares[lane];
    part.zeros += zeros[lane];
  }
  part.min = std::min(part.min, double(*std::min_element(low, low + kSummaryLanes)));
  part.max = std::max(part.max, double(*std::max_element(high, high + kSummaryLanes)));
  part.finite += count;
  return true;
}

template <class T>
void add_any(SummaryPart& part, const T* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (std::isfinite(values[i]))
      add_if_finite(part, values + i, 1);
    else
      ++(std::isnan(values[i]) ? part.nans : part.infs);
  }
}

template <class T>
Summary summarize_on_cpu(const Tensor& x) {
  // The parts depend only on the number of elements and are added in order: the result is the same for any
  // number of threads.
  constexpr int64_t kChunk = 2048, kSmallest = 1 << 16, kMost = 32;
  const int64_t n = x.numel(), size = std::max(kSmallest, (n + kMost - 1) / kMost);
  std::vector<SummaryPart> parts(size_t((n + size - 1) / size));
  const T* const values = x.data<T>();
  parallel_for(int64_t(parts.size()), 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      SummaryPart& part = parts[size_t(i)];
      for (int64_t at = i * size, end = std::min(n, at + size); at < end; at += kChunk) {
        const int64_t count = std::min(kChunk, end - at);
        if (!add_if_finite(part, values + at, count)) add_any(part, values + at, count);
      }
    }
  });
  Summary all;
  all.count = n;
  SummaryPart total;
  for (const SummaryPart& part : parts) {
    total.sum += part.sum;
    total.magnitudes += part.magnitudes;
    total.squares += part.squares;
    total.min = std::min(total.min, part.min);
    total.max = std::max(total.max, part.max);
    total.finite += part.finite;
    all.zeros += part.zeros;
    all.nans += part.nans;
    all.infs += part.infs;
  }
  if (total.finite == 0) return all;
  all.min = total.min;
  all.max = total.max;
  all.mean = total.sum / double(total.finite);
  all.norm = std::sqrt(total.squares);
  all.mean_magnitude = total.magnitudes / double(total.finite);
  return all;
}

Summary summary_on_cpu(const Tensor& x) {
  if (x.dtype() == DType::f64) return summarize_on_cpu<double>(contiguous(x));
  return summarize_on_cpu<float>(contiguous(to(x, DType::f32)));
}

// Converts a row of the op _summary (summary_op.h).
Summary unpacked(const double* numbers, int64_t count) {
  enum { kSum, kSquares, kMin, kMax, kZeros, kNans, kInfs, kMagnitudes };
  Summary s;
  s.count = count;
  s.zeros = std::llround(numbers[kZeros]);
  s.nans = std::llround(numbers[kNans]);
  s.infs = std::llround(numbers[kInfs]);
  const int64_t finite = count - s.nans - s.infs;
  if (finite == 0) return s;
  s.min = numbers[kMin];
  s.max = numbers[kMax];
  const double scale = s.largest() > 0 ? s.largest() : 1;
  s.norm = scale * std::sqrt(numbers[kSquares]);
  s.mean = scale * numbers[kSum] / double(finite);
  s.mean_magnitude = scale * numbers[kMagnitudes] / double(finite);
  return s;
}

bool has_numbers(const Tensor& x) { return x.numel() > 0 && is_differentiable(x.dtype()); }

// The absolute values of a complex tensor.
Tensor real_of(const Tensor& x) { return is_complex(x.dtype()) ? abs(x.detach()) : x.detach(); }

// A row of numbers for each tensor; all tensors are on one device.
Tensor rows_of(Operands tensors) { return apply1(summary_op(), std::move(tensors)); }

}  // namespace

Summaries::Summaries() = default;
Summaries::~Summaries() = default;

size_t Summaries::add(const Tensor& given) {
  const NoGrad off;
  found_.emplace_back();
  found_.back().count = given.numel();
  if (!has_numbers(given)) return found_.size() - 1;
  const Tensor x = real_of(given);
  if (x.device().is_cpu()) {
    found_.back() = summary_on_cpu(x);
  } else {
    waiting_.push_back(found_.size() - 1);
    packed_.push_back(rows_of({x}));
  }
  return found_.size() - 1;
}

std::vector<Summary> Summaries::read() {
  for (size_t first = 0; first < packed_.size();) {
    // One copy for consecutive tensors on the same device.
    size_t end = first;
    while (end < packed_.size() && &packed_[end].device() == &packed_[first].device()) ++end;
    const NoGrad off;
    const std::vector<double> numbers =
        cat(TensorList(packed_.begin() + std::ptrdiff_t(first), packed_.begin() + std::ptrdiff_t(end)))
            .to_vector<double>();
    for (size_t i = first; i < end; ++i) {
      Summary& s = found_[waiting_[i]];
      s = unpacked(numbers.data() + (i - first) * kNumbers, s.count);
    }
    first = end;
  }
  packed_.clear();
  waiting_.clear();
  return std::exchange(found_, {});
}

void Summaries::clear() {
  found_.clear();
  packed_.clear();
  waiting_.clear();
}

void Summaries::sync() const {
  std::set<Device*> devices;
  for (const Tensor& row : packed_) devices.insert(&row.device());
  for (Device* const device : devices) device->sync();
}

size_t Summaries::append(Summaries&& other) {
  const size_t before = found_.size();
  found_.insert(found_.end(), other.found_.begin(), other.found_.end());
  for (const size_t place : other.waiting_) waiting_.push_back(before + place);
  packed_.insert(packed_.end(), other.packed_.begin(), other.packed_.end());
  other.clear();
  return before;
}

std::vector<Summary> summarize_all(const TensorList& tensors) {
  const NoGrad off;
  std::vector<Summary> found(tensors.size());
  struct There {
    Operands operands;
    std::vector<size_t> places;
  };
  std::map<Device*, There> devices;
  for (size_t i = 0; i < tensors.size(); ++i) {
    found[i].count = tensors[i].numel();
    if (!has_numbers(tensors[i])) continue;
    const Tensor x = real_of(tensors[i]);
    if (x.device().is_cpu()) {
      found[i] = summary_on_cpu(x);
    } else {
      There& there = devices[&x.device()];
      there.operands.push_back(x);
      there.places.push_back(i);
    }
  }
  for (auto& [device, there] : devices) {
    const std::vector<double> numbers = rows_of(std::move(there.operands)).to_vector<double>();
    for (size_t row = 0; row < there.places.size(); ++row) {
      Summary& s = found[there.places[row]];
      s = unpacked(numbers.data() + row * kNumbers, s.count);
    }
  }
  return found;
}

Summary summarize(const Tensor& x) {
  Summaries one;
  one.add(x);
  return one.read()[0];
}

}  // namespace lunagrad
