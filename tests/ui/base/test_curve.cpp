#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ui/base/axis_scale.h"
#include "ui/base/curve.h"

using namespace lunagrad;

TEST_CASE("extremes of any range equal a linear scan") {
  Curve curve;
  std::vector<double> values;
  uint64_t state = 1;
  for (int i = 0; i < 9000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    values.push_back(double(int64_t(state >> 20) % 1000000 - 500000));
    REQUIRE(curve.append(i, values.back()));
  }
  for (size_t begin : {0, 1, 15, 16, 17, 255, 256, 300, 4095, 4096, 5000, 8999})
    for (size_t end : {1, 16, 31, 256, 257, 4096, 4100, 8192, 8999, 9000}) {
      CurveRange plain;
      for (size_t i = begin; i < end; ++i) plain.add(values[i]);
      const CurveRange found = curve.range(begin, end);
      CHECK(found.min == plain.min);
      CHECK(found.max == plain.max);
      CHECK(found.least_positive == plain.least_positive);
    }
}

TEST_CASE("NaN and infinity are kept and counted, and do not affect the extremes") {
  Curve curve;
  const double inf = std::numeric_limits<double>::infinity();
  for (double y : {1.0, std::nan(""), inf, -inf, 3.0}) curve.append(double(curve.size()), y);
  CHECK(curve.size() == 5);
  CHECK(curve.nan_count() == 1);
  CHECK(curve.inf_count() == 2);
  CHECK(curve.range(0, 5).min == 1);
  CHECK(curve.range(0, 5).max == 3);
  CHECK(curve.range(1, 4).empty());
}

TEST_CASE("a point that goes back in x is refused, a repeated x is not") {
  Curve curve;
  CHECK(curve.append(1, 1));
  CHECK(curve.append(1, 2));
  CHECK_FALSE(curve.append(0, 3));
  CHECK(curve.size() == 2);
}

TEST_CASE("the nearest point is found") {
  Curve curve;
  for (double x : {0, 10, 20}) curve.append(x, x);
  CHECK(curve.nearest(-5) == 0);
  CHECK(curve.nearest(4) == 0);
  CHECK(curve.nearest(6) == 1);
  CHECK(curve.nearest(99) == 2);
}

TEST_CASE("a search from any guess equals a search over all points") {
  Curve curve;
  for (const double x : {0.0, 1.0, 1.0, 1.0, 5.0, 9.0, 9.0, 30.0}) curve.append(x, x);
  for (const double x : {-1.0, 0.0, 0.5, 1.0, 2.0, 5.0, 9.0, 29.0, 30.0, 31.0})
    for (size_t guess = 0; guess <= 10; ++guess) CHECK(curve.lower_bound(x, guess) == curve.lower_bound(x));
}

TEST_CASE("a search among evenly spaced points equals a plain search, also after an uneven point") {
  for (const double gap : {1.0, 20.0, 0.1}) {
    Curve even, odd;
    std::vector<double> xs;
    for (int i = 0; i < 1000; ++i) xs.push_back(3 + i * gap);
    for (const double x : xs) even.append(x, 0), odd.append(x, 0);
    odd.append(xs.back() + gap / 2, 0);
    for (int k = -20; k < 2100; ++k) {
      const double x = 3 + k * gap / 2;
      const size_t right = size_t(std::lower_bound(xs.begin(), xs.end(), x) - xs.begin());
      CHECK(even.lower_bound(x) == right);
      if (x <= xs.back()) CHECK(odd.lower_bound(x) == right);
    }
  }
}

TEST_CASE("smoothing has no bias at the start and skips NaN and infinities") {
  Smoother smoother(0.9);
  CHECK(smoother.next(1, 5) == doctest::Approx(5));
  CHECK(smoother.next(2, 5) == doctest::Approx(5));
  CHECK(std::isnan(smoother.next(3, std::nan(""))));
  // (0.9 * 0.95 + 0.1 * 15) / (1 - 0.729) with m_2 = 0.95
  CHECK(smoother.next(3, 15) == doctest::Approx((0.9 * 0.95 + 0.1 * 15) / (1 - 0.729)));
}

TEST_CASE("points far apart in x are smoothed less") {
  Smoother smoother(0.9);
  smoother.next(0, 0);
  // decay 0.9^20; m = (1 - decay) * 1, divided by 1 - 0.9^21
  const double decay = std::pow(0.9, 20);
  CHECK(smoother.next(20, 1) == doctest::Approx((1 - decay) / (1 - 0.9 * decay)));
}

TEST_CASE("axis ticks are round and inside") {
  const auto ticks = axis_ticks(0.13, 2.31, 6);
  REQUIRE(ticks.size() == 4);
  CHECK(ticks[0] == doctest::Approx(0.5));
  CHECK(ticks[3] == doctest::Approx(2.0));
  CHECK(axis_ticks(1, 1, 5).empty());
  const auto decades = log_axis_ticks(1e-4, 1e3, 4);
  REQUIRE(decades.size() >= 4);
  CHECK(decades.front() == doctest::Approx(1e-4));
  for (double t : log_axis_ticks(0.2, 3, 6)) CHECK((t >= 0.2 && t <= 3));
  CHECK(log_axis_ticks(0, 3, 6).empty());
}
