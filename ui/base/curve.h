#pragma once
// The points of one curve in bounded memory. The latest points are exact; older points are merged into
// buckets of equal numbers of points, each with its extremes, its mean and its last point, so that no spike
// and no NaN is lost. An entry is a bucket or an exact point; the buckets come first. The extremes of a range
// are fast: the extremes of blocks of 8, 64, … entries are stored. Pure data: no window, no session. One
// thread at a time.
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "script/view/smoother.h"

namespace lunagrad {

// Extremes of the finite values in a range; `least_positive` is for a logarithmic axis.
struct CurveRange {
  double min = std::numeric_limits<double>::infinity();
  double max = -std::numeric_limits<double>::infinity();
  double least_positive = std::numeric_limits<double>::infinity();
  bool empty() const { return min > max; }
  void add(double value);
  void add(const CurveRange&);
};

// What values do not cross by their nature: 0 if they have one sign, 1 if they are shares, 100 if they are
// per cent. Infinite where nothing bounds them.
struct ValueBounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
ValueBounds natural_bounds(const CurveRange&);

// Neighbouring points that were merged. The entry's x is the last point's x, its y the last finite y, or the
// last y if none is finite.
struct CurveBucket {
  double first = 0;  // x of the first point
  CurveRange range;
  double mean = 0;  // mean of the finite values; NaN if there are none
  size_t points = 0, nans = 0, infs = 0, not_positive = 0;
  double odd_x = 0, odd = 0;  // the first point that is not finite
  size_t finite() const { return points - nans - infs; }
  void add(const CurveBucket&);
};

class Curve {
 public:
  static constexpr size_t kRecent = 16384;
  Curve() = default;
  // The latest `recent` to 2 * `recent` points stay exact; before them are at most `recent` / 4 buckets.
  explicit Curve(size_t recent) : recent_(recent) {}

  // x must not be smaller than the previous x; a NaN or infinite y is kept and counted. False: refused, x
  // decreased.
  bool append(double x, double y);
  // Appends a bucket of another curve; it ends at x. Only while there are no exact points.
  void append_bucket(double x, double y, const CurveBucket&);
  // Removes the points to the right of x, and the bucket that x lies in.
  void drop_after(double x);

  size_t size() const { return x_.size(); }          // the number of entries
  size_t merged() const { return buckets_.size(); }  // entries that are buckets
  size_t points() const { return points_; }          // the number of exact and merged points
  const CurveBucket& bucket(size_t i) const { return buckets_[i]; }
  double x(size_t i) const { return x_[i]; }
  double y(size_t i) const { return y_[i]; }
  const std::vector<double>& xs() const { return x_; }
  const std::vector<double>& ys() const { return y_; }
  double first_x(size_t i) const { return i < merged() ? buckets_[i].first : x_[i]; }
  double odd(size_t i) const {
    return i < merged() ? buckets_[i].odd : y_[i];
  }                                                  // of an entry of not_finite()
  size_t lower_bound(double x) const;                // index of the first entry at or to the right of x
  size_t lower_bound(double x, size_t guess) const;  // the same; fast when the answer is near the guess
  size_t nearest(double x) const;  // index of the entry nearest to x; the curve must not be empty
  // Extremes of the entries [begin, end). Fastest when both are multiples of kFan or of its powers.
  CurveRange range(size_t begin, size_t end) const;
  static constexpr size_t kFan = 8;
  const std::vector<size_t>& not_finite() const { return not_finite_; }  // entries with NaN or infinity
  double first_not_finite() const { return first_not_finite_; }  // x of the first; infinity if there is none
  size_t nan_count() const { return nans_; }
  size_t inf_count() const { return infs_; }
  size_t not_positive_count() const {
    return not_positive_;
  }  // finite values that a logarithmic axis cannot show
  double least_positive_x() const { return least_positive_x_; }  // infinity if there is none
  size_t bytes() const;

 private:
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  struct Entry {
    double x, y;
    CurveBucket bucket;
    void add(const Entry& later);
  };
  Entry entry(size_t i) const;  // an exact point becomes a bucket of one point
  void compact();
  // Replaces all entries by these buckets, followed by the exact points [begin, end).
  void rebuild(const std::vector<Entry>& buckets, size_t begin, size_t end);
  void push(double x, double y, const CurveBucket&);

  size_t recent_ = kRecent;
  size_t each_ = 1;  // the number of points in a full bucket
  std::vector<double> x_, y_;
  std::vector<CurveBucket> buckets_;  // buckets of the first entries
  std::vector<std::vector<CurveRange>>
      levels_;  // levels_[k][i]: extremes of the entries from i * kFan^(k+1) on
  std::vector<size_t> not_finite_;
  size_t points_ = 0, nans_ = 0, infs_ = 0, not_positive_ = 0;
  double first_not_finite_ = kNone, least_positive_x_ = kNone;
};

}  // namespace lunagrad
