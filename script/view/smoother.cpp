#include "script/view/smoother.h"

#include <algorithm>
#include <cmath>

namespace lunagrad {

double Smoother::next(double x, double y) {
  if (!std::isfinite(y)) return y;
  const double gap = missing_ == 1 ? 1 : std::max(x - x_, 1e-6);
  if (gap != gap_) decay_ = std::pow(beta_, gap_ = gap);
  x_ = x;
  mean_ = decay_ * mean_ + (1 - decay_) * y;
  missing_ *= decay_;
  return mean_ / (1 - missing_);
}

}  // namespace lunagrad
