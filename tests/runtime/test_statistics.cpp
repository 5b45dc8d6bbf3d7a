// One-pass statistics of tensors against plain sums.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numeric>

#include "runtime/cpu/parallel.h"
#include "runtime/ops.h"
#include "runtime/statistics/statistics.h"

using namespace lunagrad;

namespace {

Tensor values_of(const std::vector<double>& values, DType dtype) {
  return to(Tensor::from<double>(values, {int64_t(values.size())}), dtype);
}

int64_t total_of(const std::vector<int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), int64_t(0));
}

}  // namespace

TEST_CASE("statistics are right for every dtype") {
  for (const DType dtype :
       {DType::boolean, DType::u8, DType::i32, DType::i64, DType::f16, DType::bf16, DType::f32, DType::f64}) {
    CAPTURE(dtype);
    const Statistics s = statistics(values_of({0, 1, 1, 0}, dtype));
    CHECK(s.count == 4);
    CHECK(s.zeros == 2);
    CHECK(s.min == 0);
    CHECK(s.max == 1);
    CHECK(s.mean == 0.5);
    CHECK(s.std == doctest::Approx(std::sqrt(1.0 / 3)));
    CHECK(s.norm == doctest::Approx(std::sqrt(2.0)));
    REQUIRE(s.counts.size() == 2);
    CHECK(s.edges == std::vector<double>{-1, 1, 1.25});
    CHECK(s.counts == std::vector<int64_t>{2, 2});
  }
  CHECK_THROWS_AS(statistics(Tensor::empty({2}, DType::c64)), Error);
}

TEST_CASE("NaN and Inf are counted separately and change only the norm") {
  const Statistics s = statistics(values_of({1, NAN, INFINITY, -INFINITY, -INFINITY, -3, -0.0}, DType::f32));
  CHECK(s.nans == 1);
  CHECK(s.infinities == 1);
  CHECK(s.negative_infinities == 2);
  CHECK(s.finite() == 3);
  CHECK(s.zeros == 1);
  CHECK(s.min == -3);
  CHECK(s.max == 1);
  CHECK(s.mean == doctest::Approx(-2.0 / 3));
  CHECK(std::isnan(s.norm));
  CHECK(total_of(s.counts) == 3);
  CHECK(statistics(values_of({1, -INFINITY}, DType::f64)).norm == INFINITY);
  const Statistics none = statistics(values_of({NAN}, DType::f64));
  CHECK(none.counts.empty());
  CHECK(none.edges.empty());
  const Statistics empty = statistics(Tensor::empty({0, 3}, DType::f32));
  CHECK(empty.count == 0);
  CHECK(empty.norm == 0);
}

TEST_CASE("each value is counted in its bin, and there are at most 64 bins") {
  std::vector<double> values;
  for (int i = -60; i < 60; ++i) {
    values.push_back(std::ldexp(1.3, i));
    values.push_back(-std::ldexp(1.6, i / 2));
  }
  values.push_back(0);
  values.push_back(1e-310);
  values.push_back(1e300);
  const Statistics s = statistics(values_of(values, DType::f64));
  REQUIRE(s.edges.size() == s.counts.size() + 1);
  CHECK(s.counts.size() <= kHistogramBins);
  CHECK(std::is_sorted(s.edges.begin(), s.edges.end()));
  CHECK(s.counts.front() > 0);
  CHECK(s.counts.back() > 0);
  CHECK(total_of(s.counts) == int64_t(values.size()));
  CHECK(s.max == 1e300);
  for (size_t i = 0; i + 1 < s.counts.size(); ++i) {
    int64_t inside = 0;
    for (const double x : values)
      inside += x >= 0 ? x >= s.edges[i] && x < s.edges[i + 1] : x > s.edges[i] && x <= s.edges[i + 1];
    if (s.edges[i] * s.edges[i + 1] > 0) CHECK(s.counts[i] == inside);
  }
}

TEST_CASE("statistics of an expanded tensor read its base only, for any expanded size") {
  const Tensor base = values_of({1, -2, 0, NAN, INFINITY, 7, 0.25}, DType::f32);
  const Tensor wide = expand(reshape(base, {1, 7, 1}), {3, 7, 4});
  CHECK(elements_counted(wide) == 7);
  CHECK(elements_counted(Tensor::empty({0, 3}, DType::f32)) == 0);
  const Statistics s = statistics(wide), copied = statistics(contiguous(wide));
  CHECK(s.count == 84);
  CHECK(s.nans == copied.nans);
  CHECK(s.infinities == copied.infinities);
  CHECK(s.zeros == copied.zeros);
  CHECK(s.mean == doctest::Approx(copied.mean));
  CHECK(s.std == doctest::Approx(copied.std));
  CHECK(s.edges == copied.edges);
  CHECK(s.counts == copied.counts);
  for (size_t i = 0; i < s.percentiles.size(); ++i)
    CHECK(s.percentiles[i] == doctest::Approx(copied.percentiles[i]));
  const std::clock_t start = std::clock();
  const Statistics huge = statistics(expand(full({1, 1}, 2.0), {1 << 20, 1 << 20}));
  CHECK(double(std::clock() - start) / CLOCKS_PER_SEC < 1);
  CHECK(huge.zeros == 0);
  CHECK(huge.counts == std::vector<int64_t>{int64_t(1) << 40});
  CHECK(huge.norm == doctest::Approx(2 * std::pow(2.0, 20)));
}

TEST_CASE("moments of large tensors, percentiles, and the same for any number of threads") {
  const Tensor x = randn({300, 1001}) + 1000.0;
  const Statistics s = statistics(transpose(x, 0, 1));
  const Tensor wide = to(x, DType::f64);
  CHECK(s.mean == doctest::Approx(mean(wide).item()).epsilon(1e-12));
  CHECK(s.std == doctest::Approx(stddev(wide).item()).epsilon(1e-9));
  CHECK(s.norm == doctest::Approx(norm(wide).item()).epsilon(1e-12));
  CHECK(s.min == amin(x).item());
  CHECK(s.max == amax(x).item());
  const Statistics centred = statistics(randn({100000}));
  CHECK(centred.percentiles[0] == doctest::Approx(-1.645).epsilon(0.05));
  CHECK(std::abs(centred.percentiles[2]) < 0.02);
  CHECK(centred.percentiles[4] == doctest::Approx(1.645).epsilon(0.05));
  const int threads = thread_count();
  set_thread_count(1);
  const Statistics alone = statistics(x);
  set_thread_count(4);
  const Statistics together = statistics(x);
  set_thread_count(threads);
  CHECK(alone.mean == together.mean);
  CHECK(alone.std == together.std);
  CHECK(alone.counts == together.counts);
}
