#pragma once
// The points of one curve, kept with the extremes of blocks of 8, 64, … points, so that the smallest and
// largest value of any stretch are found in logarithmic time and a million points draw as fast as a thousand.
// Pure data: no window, no session. Owned and used by one thread.
#include <array>
#include <cstddef>
#include <limits>
#include <vector>

namespace lunagrad {

// Extremes of the finite values of a stretch; `least_positive` serves a logarithmic axis.
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
  // x must not be smaller than the x before; a NaN or infinite y is kept and counted. False: refused, x went
  // back.
  bool append(double x, double y);
  void drop_after(double x);  // points to the right of x

  size_t size() const { return x_.size(); }
  double x(size_t i) const { return x_[i]; }
  double y(size_t i) const { return y_[i]; }
  const std::vector<double>& xs() const { return x_; }
  const std::vector<double>& ys() const { return y_; }
  size_t lower_bound(double x) const;                // first point at or right of x
  size_t lower_bound(double x, size_t guess) const;  // the same, quick when the answer is near the guess
  size_t nearest(double x) const;                    // of a curve that is not empty
  // Of points begin up to, not including, end. Reads least memory when both are multiples of kFan or of its
  // powers.
  CurveRange range(size_t begin, size_t end) const;
  static constexpr size_t kFan = 8;
  const std::vector<size_t>& not_finite() const { return not_finite_; }
  size_t nan_count() const { return nans_; }
  size_t inf_count() const { return not_finite_.size() - nans_; }
  size_t not_positive_count() const {
    return not_positive_;
  }                                 // finite ones, which a logarithmic axis cannot show
  double least_positive_x() const;  // infinity if there is none

 private:
  // Most curves have a point each so many steps: then a search computes where it is instead of reading
  // memory.
  size_t even_bound(double x) const;
  std::vector<double> x_, y_;
  bool even_ = true;  // x_[i] is x_[0] + i * gap_
  double gap_ = 0;
  std::vector<std::vector<CurveRange>> levels_;  // levels_[k][i]: points i * kFan^(k+1) and on
  std::vector<size_t> not_finite_;
  size_t nans_ = 0, not_positive_ = 0;
};

// Exponential moving average without the bias towards 0 at the start (Kingma and Ba 2015, section 3), for
// points d apart in x:
//   m_i = beta^d m_(i-1) + (1 - beta^d) y_i,  smoothed_i = m_i / (1 - beta^(d_1 + … + d_i)),
// so that a metric logged every 20 steps is smoothed over as many steps as one logged at each. d_1 = 1. What
// is not finite passes through and leaves the average alone.
class Smoother {
 public:
  explicit Smoother(double beta) : beta_(beta) {}
  double beta() const { return beta_; }
  double next(double x, double y);

 private:
  double beta_, mean_ = 0, missing_ = 1, x_ = 0;  // missing = beta^(d_1 + … + d_i)
  double gap_ = 1, decay_ = beta_;  // the last d and beta^d: most metrics are logged at equal distances
};

}  // namespace lunagrad
