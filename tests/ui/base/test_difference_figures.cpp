#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>

#include "ui/base/difference_figures.h"

using namespace lunagrad;

TEST_CASE("the difference of two written numbers is the written difference") {
  for (const double left : {1.0, -0.123456789, 3e7, 2e-9})
    for (const double part : {1.0, 0.1, 3.7e-4, 2.2e-8, 5e-12}) {
      const double right = left * (1 - part);
      const DifferenceFigures figures = difference_figures(left, right);
      CAPTURE(figures.left);
      CAPTURE(figures.right);
      CAPTURE(figures.difference);
      const double written = std::abs(std::atof(figures.left.c_str()) - std::atof(figures.right.c_str()));
      CHECK(std::atof(figures.difference.c_str()) == doctest::Approx(written).epsilon(0.02));
    }
}

TEST_CASE("equal and infinite numbers have short texts") {
  CHECK(difference_figures(0.25, 0.25).left == "0.25");
  CHECK(difference_figures(0.25, 0.25).difference == "0");
  CHECK(difference_figures(0, 0).difference == "0");
  CHECK(difference_figures(INFINITY, 1).difference == "Inf");
  CHECK(difference_figures(NAN, 1).difference == "NaN");
}
