#include "ui/widgets/curve.h"

#include <algorithm>
#include <cmath>

namespace lunagrad {

void CurveRange::add(double value) {
  if (!std::isfinite(value)) return;
  min = std::min(min, value);
  max = std::max(max, value);
  if (value > 0) least_positive = std::min(least_positive, value);
}

void CurveRange::add(const CurveRange& other) {
  min = std::min(min, other.min);
  max = std::max(max, other.max);
  least_positive = std::min(least_positive, other.least_positive);
}

bool Curve::append(double x, double y) {
  if (!x_.empty() && x < x_.back()) return false;
  const size_t index = x_.size();
  x_.push_back(x);
  y_.push_back(y);
  if (!std::isfinite(y)) {
    not_finite_.push_back(index);
    nans_ += std::isnan(y);
  }
  size_t block = index / kFan;
  for (size_t level = 0; level == 0 || block > 0 || levels_.size() > level; ++level, block /= kFan) {
    if (levels_.size() == level) {
      levels_.emplace_back();
      // A new level begins with what all blocks below hold so far.
      if (level > 0) {
        levels_[level].emplace_back();
        for (size_t i = 0; i < std::min(kFan, levels_[level - 1].size()); ++i)
          levels_[level][0].add(levels_[level - 1][i]);
      }
    }
    if (levels_[level].size() <= block) levels_[level].resize(block + 1);
    levels_[level][block].add(y);
  }
  return true;
}

size_t Curve::lower_bound(double x) const {
  return size_t(std::lower_bound(x_.begin(), x_.end(), x) - x_.begin());
}

size_t Curve::nearest(double x) const {
  const size_t right = lower_bound(x);
  if (right == 0) return 0;
  if (right == size()) return size() - 1;
  return x - x_[right - 1] <= x_[right] - x ? right - 1 : right;
}

CurveRange Curve::range(size_t begin, size_t end) const {
  CurveRange found;
  end = std::min(end, size());
  size_t width = 1;  // of a block of the level below `level`
  size_t level = 0;
  // Up: take loose ends until both borders stand on blocks of the next level.
  const auto take = [&](size_t at) {
    if (level == 0)
      found.add(y_[at]);
    else
      found.add(levels_[level - 1][at / width]);
  };
  while (begin < end) {
    const size_t wide = width * kFan;
    while (begin < end && begin % wide != 0 && begin + width <= end) take(begin), begin += width;
    while (begin < end && end % wide != 0 && end >= begin + width && end % width == 0)
      end -= width, take(end);
    if (begin >= end) break;
    if (level == levels_.size()) {
      for (; begin < end; begin += width) take(begin);
      break;
    }
    width = wide;
    ++level;
  }
  return found;
}

double Smoother::next(double x, double y) {
  if (!std::isfinite(y)) return y;
  const double decay = std::pow(beta_, missing_ == 1 ? 1 : std::max(x - x_, 1e-6));
  x_ = x;
  mean_ = decay * mean_ + (1 - decay) * y;
  missing_ *= decay;
  return mean_ / (1 - missing_);
}

std::vector<double> axis_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(high > low) || count < 1) return ticks;
  const double rough = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough * (1 - 1e-9)) {
      step = factor * power;
      break;
    }
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k)
    ticks.push_back(k * step);
  return ticks;
}

std::vector<double> log_axis_ticks(double low, double high, int count) {
  std::vector<double> ticks;
  if (!(low > 0) || !(high > low)) return ticks;
  const int first = int(std::floor(std::log10(low))), last = int(std::ceil(std::log10(high)));
  const int every = std::max(1, (last - first) / std::max(count, 1));
  const auto add = [&](double value) {
    if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back(value);
  };
  for (int e = first; e <= last; e += every) {
    const double power = std::pow(10.0, e);
    add(power);
    if (every == 1 && (last - first) * 3 <= count + 3) {
      add(2 * power);
      add(5 * power);
    }
  }
  if (ticks.size() < 2) return axis_ticks(low, high, count);
  return ticks;
}

}  // namespace lunagrad
