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

TEST_CASE("two million points take bounded memory, and lose no extreme, no NaN and no count") {
  constexpr size_t kPoints = 2000000;
  Curve curve;
  size_t most = 0;
  double spike_low = 0, spike_high = 0;
  for (size_t i = 0; i < kPoints; ++i) {
    double y = double(i % 1000) / 1000 + 1;
    if (i == 123456) y = spike_high = 50;
    if (i == 1234567) y = spike_low = -50;
    if (i == 777777) y = std::nan("");
    REQUIRE(curve.append(double(i), y));
    if (i > kPoints / 2) continue;
    most = std::max(most, curve.bytes());
  }
  MESSAGE("bytes ", curve.bytes(), ", entries ", curve.size());
  CHECK(curve.bytes() <= most);  // the second million adds nothing
  CHECK(curve.bytes() < 2 << 20);
  CHECK(curve.points() == kPoints);
  CHECK(curve.nan_count() == 1);
  CHECK(curve.first_not_finite() == 777777);
  CHECK(curve.not_positive_count() == 1);
  CHECK(curve.least_positive_x() == 1);
  CHECK(curve.first_x(0) == 0);
  const CurveRange all = curve.range(0, curve.size());
  CHECK(all.min == -50);
  CHECK(all.max == 50);
  CHECK(all.least_positive == 1);

  // The buckets follow each other without a gap, are of one size but for the last one, and know their points.
  REQUIRE(curve.merged() > 1000);
  size_t next = 0;
  for (size_t i = 0; i < curve.merged(); ++i) {
    const CurveBucket& bucket = curve.bucket(i);
    REQUIRE(bucket.first == double(next));
    CurveRange plain;
    double sum = 0;
    size_t finite = 0;
    for (size_t k = 0; k < bucket.points; ++k, ++next) {
      double y = next == 123456 ? spike_high : next == 1234567 ? spike_low : double(next % 1000) / 1000 + 1;
      if (next == 777777) continue;
      plain.add(y);
      sum += y;
      ++finite;
    }
    REQUIRE(bucket.range.min == plain.min);
    REQUIRE(bucket.range.max == plain.max);
    REQUIRE(bucket.mean == doctest::Approx(sum / double(finite)));
    REQUIRE(curve.x(i) == double(next - 1));
    if (i + 1 < curve.merged()) REQUIRE(bucket.points == curve.bucket(0).points);
  }
  // The latest points are exact.
  CHECK(curve.size() - curve.merged() >= Curve::kRecent);
  for (size_t i = curve.merged(); i < curve.size(); ++i, ++next) {
    REQUIRE(curve.x(i) == double(next));
    REQUIRE(curve.y(i) == double(next % 1000) / 1000 + 1);
  }
  // A place within a bucket is nearest to that bucket.
  const size_t some = curve.merged() / 2;
  CHECK(curve.nearest(curve.bucket(some).first) == some);
  CHECK(curve.nearest(curve.x(some) + 0.4) == some);
}

TEST_CASE("a long curve goes back to an earlier point") {
  Curve curve(64);
  for (int i = 0; i < 1000; ++i) curve.append(i, i % 10 ? 1 : std::nan(""));
  REQUIRE(curve.merged() > 2);
  const double inside = curve.bucket(2).first + 1;
  curve.drop_after(inside);
  CHECK(curve.size() == 2);  // the bucket of that point is dropped as a whole
  CHECK(curve.x(1) < inside);
  CHECK(curve.points() == curve.bucket(0).points + curve.bucket(1).points);
  CHECK(curve.nan_count() == curve.bucket(0).nans + curve.bucket(1).nans);
  for (int i = int(curve.x(1)) + 1; i < 2000; ++i) REQUIRE(curve.append(i, 2));
  CHECK(curve.points() == 2000);
  CHECK(curve.range(0, curve.size()).max == 2);
  CHECK(curve.size() <= 64 / 4 + 2 * 64);
  curve.drop_after(-1);
  CHECK(curve.size() == 0);
  CHECK(curve.least_positive_x() == std::numeric_limits<double>::infinity());
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
