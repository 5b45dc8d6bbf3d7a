#pragma once
// The points of one curve, with the extremes of blocks of 8, 64, … points: the minimum and maximum of any
// range take logarithmic time, so a million points draw as fast as a thousand. Pure data: no window, no
// session. One thread at a time.
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

#include "runtime/smoother.h"

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

class Curve {
 public:
  // x must not be smaller than the previous x; a NaN or infinite y is kept and counted. False: refused, x
  // decreased.
  bool append(double x, double y);
  void drop_after(double x);  // removes the points to the right of x

  size_t size() const { return x_.size(); }
  double x(size_t i) const { return x_[i]; }
  double y(size_t i) const { return y_[i]; }
  const std::vector<double>& xs() const { return x_; }
  const std::vector<double>& ys() const { return y_; }
  size_t lower_bound(double x) const;                // index of the first point at or to the right of x
  size_t lower_bound(double x, size_t guess) const;  // the same, fast when the answer is near the guess
  size_t nearest(double x) const;  // index of the point nearest to x; the curve must not be empty
  // Extremes of the points [begin, end). Fastest when both are multiples of kFan or of its powers.
  CurveRange range(size_t begin, size_t end) const;
  static constexpr size_t kFan = 8;
  const std::vector<size_t>& not_finite() const { return not_finite_; }
  size_t nan_count() const { return nans_; }
  size_t inf_count() const { return not_finite_.size() - nans_; }
  size_t not_positive_count() const {
    return not_positive_;
  }                                 // finite values that a logarithmic axis cannot show
  double least_positive_x() const;  // infinity if there is none

 private:
  // Most curves have a point every n steps: then this computes the index instead of searching memory.
  size_t even_bound(double x) const;
  std::vector<double> x_, y_;
  bool even_ = true;  // x_[i] is x_[0] + i * gap_
  double gap_ = 0;
  std::vector<std::vector<CurveRange>>
      levels_;  // levels_[k][i]: extremes of the points from i * kFan^(k+1) on
  std::vector<size_t> not_finite_;
  size_t nans_ = 0, not_positive_ = 0;
};

}  // namespace lunagrad
