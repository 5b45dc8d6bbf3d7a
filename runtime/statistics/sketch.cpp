#include "runtime/statistics/sketch.h"

#include <cmath>
#include <utility>

#include "runtime/core/context.h"
#include "runtime/core/random.h"
#include "runtime/ops.h"

namespace lunagrad {
namespace {

constexpr int64_t kMostSampled = 1024;

// Odd, so that the samples of a matrix do not all come from one column.
int64_t step_of(int64_t count) { return count <= kMostSampled ? 1 : (count / kMostSampled + 1) | 1; }
int64_t sampled_of(int64_t count) { return (count + step_of(count) - 1) / step_of(count); }

// Uniform between -sqrt(3) and sqrt(3), so that the variance is 1. No two weights are equal, so that swapping
// any two elements shows.
const std::array<float, kMostSampled>& weights() {
  static const auto made = [] {
    constexpr uint64_t kSeed = 0x736b65746368;  // arbitrary, but it must never change
    std::array<float, kMostSampled> all{};
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = (2 * uniform_f32(philox(kSeed, 0, i / 4)[i % 4]) - 1) * std::sqrt(3.0f);
    return all;
  }();
  return made;
}

Tensor sample_of(const Tensor& given) {
  const Tensor x = given.detach();
  Tensor sample = slice(flatten(x), 0, 0, x.numel(), step_of(x.numel()));
  if (is_complex(x.dtype())) sample = abs(sample);
  // A copy: the tensor may be written before the sample is read.
  return sample.dtype() == DType::f32 ? clone(sample) : to(sample, DType::f32);
}

Sketch sketch_of(const float* sample, size_t count) {
  Sketch sums{};
  for (size_t i = 0; i < count; ++i)
    if (std::isfinite(sample[i])) sums[i % sums.size()] += double(weights()[i]) * double(sample[i]);
  return sums;
}

}  // namespace

double sketch_distance(const Sketch& a, const Sketch& b, int64_t count) {
  double squares = 0;
  for (size_t k = 0; k < a.size(); ++k) squares += (a[k] - b[k]) * (a[k] - b[k]);
  return count == 0 ? 0 : std::sqrt(squares * double(count) / double(sampled_of(count)));
}

Sketches::Sketches() = default;
Sketches::~Sketches() = default;
Sketches::Sketches(Sketches&&) noexcept = default;
Sketches& Sketches::operator=(Sketches&&) noexcept = default;

size_t Sketches::add(const Tensor& x) {
  const NoGrad off;
  found_.emplace_back();
  if (x.numel() == 0) return found_.size() - 1;
  const Tensor sample = sample_of(x);
  if (x.device().is_cpu()) {
    found_.back() = sketch_of(contiguous(sample).data<float>(), size_t(sample.numel()));
  } else {
    waiting_.push_back(found_.size() - 1);
    samples_.push_back(sample);
  }
  return found_.size() - 1;
}

std::vector<Sketch> Sketches::read() {
  const NoGrad off;
  for (size_t first = 0; first < samples_.size();) {
    // One copy for consecutive tensors on the same device.
    size_t end = first;
    while (end < samples_.size() && &samples_[end].device() == &samples_[first].device()) ++end;
    const auto at = [&](size_t i) { return samples_.begin() + std::ptrdiff_t(i); };
    const std::vector<float> numbers = cat(TensorList(at(first), at(end))).to_vector<float>();
    const float* sample = numbers.data();
    for (size_t i = first; i < end; ++i) {
      const auto count = size_t(samples_[i].numel());
      found_[waiting_[i]] = sketch_of(sample, count);
      sample += count;
    }
    first = end;
  }
  samples_.clear();
  waiting_.clear();
  return std::exchange(found_, {});
}

void Sketches::clear() {
  found_.clear();
  waiting_.clear();
  samples_.clear();
}

size_t Sketches::append(Sketches&& other) {
  const size_t before = found_.size();
  found_.insert(found_.end(), other.found_.begin(), other.found_.end());
  for (const size_t place : other.waiting_) waiting_.push_back(before + place);
  samples_.insert(samples_.end(), other.samples_.begin(), other.samples_.end());
  other.clear();
  return before;
}

}  // namespace lunagrad
