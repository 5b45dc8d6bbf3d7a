// The clock of a Vulkan device.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/ops.h"
#include "runtime/work_times.h"

using namespace lunagrad;

TEST_CASE("the device tells when its work ran, by the clock of the host") {
  Device& gpu = require_device("vulkan");
  auto* const times = dynamic_cast<WorkTimes*>(&gpu);
  REQUIRE(times);
  REQUIRE(times->watch_work(true));
  const Tensor a = to(lunagrad::rand({64, 64}), gpu);
  const uint64_t begin = ticks();
  Tensor b = a;
  for (int i = 0; i < 300; ++i) b = matmul(a, b) * 1e-2;  // several batches
  const uint64_t handed_over = ticks();
  CHECK(std::isfinite(b.to_vector<float>()[0]));
  const uint64_t read = ticks();
  const std::vector<DeviceWork> work = times->take_work();
  CHECK(work.size() >= 601);
  const uint64_t doubt = uint64_t(2e6 / ticks_to_ns(1000) * 1000);  // 2 ms
  uint64_t last = 0, busy = 0;
  bool ordered = true;
  for (const DeviceWork& one : work) {
    ordered &= one.begin >= last && one.end >= one.begin;
    last = one.end;
    if (one.asked < begin) continue;
    ordered &= one.asked <= read && one.begin + doubt > begin && one.end < read + doubt;
    busy += one.end - one.begin;
  }
  CHECK(ordered);
  CHECK(busy > 0);
  CHECK(busy < read - begin + doubt);
  CHECK(work.back().end + doubt > handed_over);
  CHECK(times->watch_work(false));
  b = b + a;
  CHECK(times->take_work().empty());
}
