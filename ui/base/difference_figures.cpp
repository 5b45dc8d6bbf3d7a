#include "ui/base/difference_figures.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/figures.h"

namespace lunagrad {

DifferenceFigures difference_figures(double left, double right) {
  constexpr int kOfDifference = 3, kLeast = 6, kMost = 17;
  const double difference = std::abs(left - right), largest = std::max(std::abs(left), std::abs(right));
  int digits = kLeast;
  if (difference > 0 && std::isfinite(difference))
    digits = std::clamp(int(std::ceil(std::log10(largest / difference))) + kOfDifference, kLeast, kMost);
  return {number_figure(left, digits), number_figure(right, digits),
          number_figure(difference, kOfDifference)};
}

}  // namespace lunagrad
