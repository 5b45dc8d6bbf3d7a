// Times of the work of a Vulkan device.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "gpu/device/device.h"
#include "runtime/core/work_times.h"
#include "runtime/ops.h"

TEST_SUITE_BEGIN("host");

using namespace lunagrad;

namespace {

bool names(const std::vector<DeviceWork>& work, std::string_view beginning) {
  return std::any_of(work.begin(), work.end(),
                     [&](const DeviceWork& one) { return interned(one.kernel).starts_with(beginning); });
}

uint64_t dispatches(const WorkTimes& times, std::string_view beginning) {
  uint64_t sum = 0;
  for (const KernelUse& kernel : times.kernels())
    if (kernel.name.starts_with(beginning)) sum += kernel.dispatches;
  return sum;
}

}  // namespace

TEST_CASE("the device reports when its work ran, in the host's clock") {
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

TEST_CASE("work has the name of its kernel, with the type in which a product is multiplied") {
  Device& gpu = require_device("vulkan");
  auto& times = dynamic_cast<WorkTimes&>(gpu);
  const bool units = dynamic_cast<gpu::VulkanDevice&>(gpu).machine().context.physical.matrix_units.float16;
  const Tensor x = to(lunagrad::rand({64, 64}), gpu);
  gpu.sync();
  const auto work_of = [&](DType type, const std::string& product) {
    REQUIRE(times.watch_work(true));
    const uint64_t before = dispatches(times, product);
    const Tensor y = to(x, type);
    CHECK(to(matmul(y, y), DType::f32).to_vector<float>().size() == 64 * 64);
    CHECK(dispatches(times, product) == before + 1);
    return times.take_work();
  };
  const std::vector<DeviceWork> wide = work_of(DType::f32, "matmul f32 ");
  CHECK(names(wide, "matmul f32 "));
  CHECK(names(wide, "copy to the host"));
  CHECK_FALSE(names(wide, "copy ("));
  const std::string half = units ? "matmul_cooperative f16 " : "matmul f32 ";
  const std::vector<DeviceWork> narrow = work_of(DType::f16, half);
  CHECK(names(narrow, half));
  CHECK(names(narrow, "copy ("));
  CHECK(times.watch_work(false));
}

TEST_SUITE_END();
