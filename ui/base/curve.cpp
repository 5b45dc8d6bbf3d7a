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

ValueBounds natural_bounds(const CurveRange& range) {
  ValueBounds bounds;
  if (range.empty()) return bounds;
  if (range.min < 0 && range.max <= 0) bounds.high = 0;
  if (range.min < 0) return bounds;
  bounds.low = 0;
  for (const double whole : {100.0, 1.0})
    if (range.max > 0 && range.max <= whole) bounds.high = whole;
  return bounds;
}

namespace {

CurveBucket bucket_of_one(double x, double y) {
  CurveBucket made;
  made.first = made.odd_x = x;
  made.range.add(y);
  made.points = 1;
  made.nans = std::isnan(y);
  made.infs = std::isinf(y);
  made.not_positive = std::isfinite(y) && y <= 0;
  made.mean = std::isfinite(y) ? y : std::nan("");
  made.odd = y;
  return made;
}

}  // namespace

void CurveBucket::add(const CurveBucket& later) {
  const size_t both = finite() + later.finite();
  if (finite() == 0)
    mean = later.mean;
  else if (later.finite() > 0)
    mean += (later.mean - mean) * double(later.finite()) / double(both);
  if (finite() == points) odd_x = later.odd_x, odd = later.odd;
  range.add(later.range);
  points += later.points;
  nans += later.nans;
  infs += later.infs;
  not_positive += later.not_positive;
}

void Curve::Entry::add(const Entry& later) {
  if (later.bucket.finite() > 0 || bucket.finite() == 0) y = later.y;
  x = later.x;
  bucket.add(later.bucket);
}

bool Curve::append(double x, double y) {
  if (!x_.empty() && x < x_.back()) return false;
  if (size() - merged() == 2 * recent_) compact();
  push(x, y, bucket_of_one(x, y));
  return true;
}

void Curve::append_bucket(double x, double y, const CurveBucket& bucket) {
  push(x, y, bucket);
  buckets_.push_back(bucket);
  each_ = std::max(each_, bucket.points);
}

void Curve::push(double x, double y, const CurveBucket& bucket) {
  const size_t index = size();
  points_ += bucket.points;
  nans_ += bucket.nans;
  infs_ += bucket.infs;
  not_positive_ += bucket.not_positive;
  if (bucket.finite() < bucket.points) {
    if (not_finite_.empty()) first_not_finite_ = bucket.odd_x;
    not_finite_.push_back(index);
  }
  if (x > 0) least_positive_x_ = std::min(least_positive_x_, bucket.first > 0 ? bucket.first : x);
  x_.push_back(x);
  y_.push_back(y);
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
    levels_[level][block].add(bucket.range);
  }
}

Curve::Entry Curve::entry(size_t i) const {
  return {x_[i], y_[i], i < merged() ? buckets_[i] : bucket_of_one(x_[i], y_[i])};
}

void Curve::rebuild(const std::vector<Entry>& buckets, size_t begin, size_t end) {
  Curve made(recent_);
  made.x_.reserve(recent_ / 4 + 2 * recent_);
  made.y_.reserve(recent_ / 4 + 2 * recent_);
  for (const Entry& one : buckets) made.append_bucket(one.x, one.y, one.bucket);
  for (size_t i = begin; i < end; ++i) made.append(x_[i], y_[i]);
  made.each_ = each_;
  if (made.size() > 0 && least_positive_x_ <= made.x_.back()) made.least_positive_x_ = least_positive_x_;
  *this = std::move(made);
}

// The older half of the exact points goes into buckets. When there are too many buckets, they are merged in
// pairs.
void Curve::compact() {
  const size_t most = recent_ / 4, exact = merged(), end = exact + recent_;
  std::vector<Entry> buckets;
  buckets.reserve(most);
  for (size_t i = 0; i < end; ++i) {
    const bool open = i >= exact && !buckets.empty() && buckets.back().bucket.points < each_;
    if (open) {
      buckets.back().add(entry(i));
      continue;
    }
    if (buckets.size() == most) {
      each_ *= 2;
      size_t to = 0;
      for (size_t from = 0; from < most; from += 2, ++to) {
        buckets[to] = buckets[from];
        if (from + 1 < most) buckets[to].add(buckets[from + 1]);
      }
      buckets.erase(buckets.begin() + std::ptrdiff_t(to), buckets.end());
    }
    buckets.push_back(entry(i));
  }
  rebuild(buckets, end, size());
}

void Curve::drop_after(double x) {
  const size_t keep = size_t(std::upper_bound(x_.begin(), x_.end(), x) - x_.begin());
  if (keep == size()) return;
  std::vector<Entry> buckets;
  for (size_t i = 0; i < std::min(keep, merged()); ++i) buckets.push_back(entry(i));
  rebuild(buckets, buckets.size(), keep);
}

size_t Curve::bytes() const {
  size_t bytes = sizeof *this + (x_.capacity() + y_.capacity()) * sizeof(double) +
                 buckets_.capacity() * sizeof(CurveBucket) + not_finite_.capacity() * sizeof(size_t);
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(CurveRange);
  return bytes;
}

size_t Curve::lower_bound(double x) const {
  return size_t(std::lower_bound(x_.begin(), x_.end(), x) - x_.begin());
}

size_t Curve::lower_bound(double x, size_t guess) const {
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
  return x - x_[right - 1] <= first_x(right) - x ? right - 1 : right;
}

// The hot loop of drawing a curve: simple loops keep the extremes in registers.
CurveRange Curve::range(size_t begin, size_t end) const {
  constexpr unsigned kStep = unsigned(std::countr_zero(kFan));
  CurveRange found;
  end = std::min(end, size());
  unsigned shift = 0;  // log2 of the points per block on this level
  size_t level = 0;
  const auto take = [&](size_t from, size_t to) {
    CurveRange all = found;
    if (level == 0) {
      for (; from < std::min(to, merged()); ++from) all.add(buckets_[from].range);
      for (; from < to; ++from) all.add(y_[from]);
    } else {
      for (const CurveRange *at = &levels_[level - 1][from >> shift], *last = at + ((to - from) >> shift);
           at < last; ++at)
        all.add(*at);
    }
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
