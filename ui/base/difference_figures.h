#pragma once
// Two numbers and their difference as texts that agree with each other. Pure function.
#include <string>

namespace lunagrad {

struct DifferenceFigures {
  std::string left, right, difference;
};
// The numbers have as many digits as it takes to see their difference, |left - right|, in them: at least 6,
// at most 17.
DifferenceFigures difference_figures(double left, double right);

}  // namespace lunagrad
