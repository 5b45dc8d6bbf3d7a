#pragma once
// The moving average that smooths curves, in the window and in reports. Pure; any thread.

namespace lunagrad {

// Exponential moving average with bias correction at the start (Kingma and Ba 2015, section 3), for points at
// distance d in x:
// m_i = beta^d m_(i-1) + (1 - beta^d) y_i,  smoothed_i = m_i / (1 - beta^(d_1 + … + d_i)),
// so that a metric logged every 20 steps is smoothed over as many steps as one logged at every step. d_1 = 1.
// NaN and infinite values are returned unchanged and do not enter the average.
class Smoother {
 public:
  explicit Smoother(double beta) : beta_(beta) {}
  double beta() const { return beta_; }
  double next(double x, double y);

 private:
  double beta_, mean_ = 0, missing_ = 1, x_ = 0;  // missing_ = beta^(d_1 + … + d_i)
  double gap_ = 1, decay_ = beta_;  // the last d and its beta^d: most metrics are logged at equal distances
};

}  // namespace lunagrad
