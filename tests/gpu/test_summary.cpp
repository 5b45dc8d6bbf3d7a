// Summaries of many tensors in one pass on the device, against the CPU.
#include <cmath>

#include "runtime/core/work_times.h"
#include "runtime/statistics/summary.h"
#include "tests/gpu/compare.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {

TEST_CASE("summaries of many tensors equal the CPU's, also of huge, tiny and non-finite values") {
  const NoGrad off;
  const std::vector<float> bad = {1, NAN, 0, -3, INFINITY, -INFINITY, 0}, nothing_good = {NAN, INFINITY};
  const TensorList here = {random({3, 5}, 1),
                           random({100000}, 2) * 1e38,
                           random({4096}, 3) * 1e-25,
                           transpose(random({300, 70}, 4), 0, 1),
                           to(random({5000}, 5), DType::f16),
                           to(random({9}, 6), DType::bf16),
                           zeros({4097}),
                           Tensor::from<float>(bad, {7}),
                           Tensor::from<float>(nothing_good, {2}),
                           Tensor::empty({0}, DType::f32),
                           random({1 << 21}, 7)};
  TensorList there;
  for (const Tensor& x : here) there.push_back(to(x, gpu()));
  there[3] = transpose(to(transpose(here[3], 0, 1), gpu()), 0, 1);
  const Fallbacks fallbacks;
  const std::vector<Summary> found = summarize_all(there);
  CHECK(fallbacks.ops.empty());
  REQUIRE(found.size() == here.size());
  CHECK(summarize(there[0]).norm == found[0].norm);
  for (size_t i = 0; i < here.size(); ++i) {
    CAPTURE(i);
    const Summary &got = found[i], right = summarize(here[i]);
    CHECK(got.count == right.count);
    CHECK(got.zeros == right.zeros);
    CHECK(got.nans == right.nans);
    CHECK(got.infs == right.infs);
    CHECK(got.min == right.min);
    CHECK(got.max == right.max);
    CHECK(got.norm == doctest::Approx(right.norm).epsilon(1e-5));
    CHECK(got.mean_magnitude == doctest::Approx(right.mean_magnitude).epsilon(1e-5));
    CHECK(std::abs(got.mean - right.mean) <= 1e-5 * right.mean_magnitude);
  }
}

TEST_CASE("summaries of many tensors take two dispatches and one copy, whatever their number") {
  const NoGrad off;
  WorkTimes& times = dynamic_cast<WorkTimes&>(gpu());
  for (const size_t count : {1, 75}) {
    TensorList there;
    for (size_t i = 0; i < count; ++i) there.push_back(to(random({100, int64_t(i) + 1}, i), gpu()));
    gpu().sync();
    if (!times.watch_work(true)) return;  // a device without a clock
    summarize_all(there);
    CHECK(times.take_work().size() == 3);
    times.watch_work(false);
  }
}

}  // namespace lunagrad::tests

TEST_SUITE_END();
