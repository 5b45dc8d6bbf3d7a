#include "ui/base/curve.h"

#include <algorithm>
#include <bit>
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
  if (index == 1) gap_ = x - x_[0];
  even_ &= index == 0 || (gap_ > 0 && x == x_[0] + double(index) * gap_);
  x_.push_back(x);
  y_.push_back(y);
  if (!std::isfinite(y)) {
    not_finite_.push_back(index);
    nans_ += std::isnan(y);
  }
  not_positive_ += std::isfinite(y) && y <= 0;
  size_t block = index / kFan;
  for (size_t level = 0; level == 0 || block > 0 || levels_.size() > level; ++level, block /= kFan) {
    if (levels_.size() == level) {
      levels_.emplace_back();
      // A new level starts with the extremes of everything in the level below.
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

void Curve::drop_after(double x) {
  const size_t keep = size_t(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin());
  if (keep == size()) return;
  Curve kept;
  for (size_t i = 0; i < keep; ++i) kept.append(x_[i], y_[i]);
  *this = std::move(kept);
}

double Curve::least_positive_x() const {
  const auto found = std::upper_bound(x_.begin(), x_.end(), 0.0);
  return found == x_.end() ? std::numeric_limits<double>::infinity() : *found;
}

size_t Curve::even_bound(double x) const {
  const double place = std::ceil((x - x_[0]) / gap_);
  if (!(place > 0)) return 0;
  size_t i = place < double(size()) ? size_t(place) : size();
  while (i > 0 && x_[0] + double(i - 1) * gap_ >= x) --i;  // the division was rounded
  while (i < size() && x_[0] + double(i) * gap_ < x) ++i;
  return i;
}

size_t Curve::lower_bound(double x) const {
  if (even_ && size() > 1) return even_bound(x);
  return size_t(std::lower_bound(x_.begin(), x_.end(), x) - x_.begin());
}

size_t Curve::lower_bound(double x, size_t guess) const {
  if (even_ && size() > 1) return even_bound(x);
  // Searches outwards from the guess in doubling steps, then bisects between the last two.
  size_t low = std::min(guess, size()), high = low, step = 1;
  while (low > 0 && x_[low - 1] >= x) high = low - 1, low -= std::min(low, step), step *= 2;
  while (high < size() && x_[high] < x) low = high + 1, high = std::min(size(), high + step), step *= 2;
  return size_t(std::lower_bound(x_.begin() + std::ptrdiff_t(low), x_.begin() + std::ptrdiff_t(high), x) -
                x_.begin());
}

size_t Curve::nearest(double x) const {
  const size_t right = lower_bound(x);
  if (right == 0) return 0;
  if (right == size()) return size() - 1;
  return x - x_[right - 1] <= x_[right] - x ? right - 1 : right;
}

// The hot loop of drawing a curve: simple loops whose extremes stay in registers.
CurveRange Curve::range(size_t begin, size_t end) const {
  constexpr unsigned kStep = unsigned(std::countr_zero(kFan));
  CurveRange found;
  end = std::min(end, size());
  unsigned shift = 0;  // log2 of the points per block on this level
  size_t level = 0;
  const auto take = [&](size_t from, size_t to) {
    CurveRange all = found;
    if (level == 0)
      for (size_t i = from; i < to; ++i) all.add(y_[i]);
    else
      for (const CurveRange *at = &levels_[level - 1][from >> shift], *last = at + ((to - from) >> shift);
           at < last; ++at)
        all.add(*at);
    found = all;
  };
  // Up the levels: scan single entries until both ends are aligned to blocks of the next level.
  for (; begin < end; shift += kStep, ++level) {
    const size_t loose = (size_t(kFan) << shift) - 1;
    const size_t up = level == levels_.size() ? end : std::min(end, (begin + loose) & ~loose);
    take(begin, up);
    begin = up;
    if (begin == end) break;
    const size_t down = end & ~loose;
    if (down < end) take(down, end);
    end = down;
  }
  return found;
}

}  // namespace lunagrad
