// The rates of devices, and the tiles, parts and work groups that are derived from them and from a device's
// limits. Devices are descriptions; none is opened, except to measure one.
#include "gpu/device/device.h"
#include "gpu/ops/nn/attention_tiles.h"
#include "gpu/ops/products/product.h"
#include "gpu/rates/device_rates.h"
#include "tests/gpu/cache_home.h"
#include "tests/gpu/hardware.h"
#include "tests/support/files.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

gpu::PhysicalDevice described(VkPhysicalDeviceType type, uint32_t processors, uint32_t shared_memory,
                              uint32_t invocations) {
  gpu::PhysicalDevice device;
  device.type = type;
  device.processors = processors;
  device.subgroup_size = 32;
  device.limits.maxComputeSharedMemorySize = shared_memory;
  device.limits.maxComputeWorkGroupInvocations = invocations;
  return device;
}
gpu::PhysicalDevice h200() { return described(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, 132, 48 << 10, 1024); }
// The smallest limits with which a device is accepted.
gpu::PhysicalDevice small_gpu() {
  return described(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, 4, 32 << 10, 256);
}
gpu::PhysicalDevice cpu(uint32_t processors) {
  return described(VK_PHYSICAL_DEVICE_TYPE_CPU, processors, 32 << 10, 1024);
}

ProductPlan plan(const gpu::PhysicalDevice& device, int64_t m, int64_t n, int64_t k,
                 DType unit_type = DType::f32) {
  gpu::Product p;
  p.m = m, p.n = n, p.k = k, p.unit_type = unit_type;
  const auto [tile, parts] =
      plan_of(p, device, gpu::default_rates(device), gpu::ProductTable(some_device(1)));
  return {tile->bm, tile->bn, parts};
}

TEST_CASE("an H200 has the tiles and parts that were tuned on it") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  struct Case {
    int64_t m, n, k;
    bool units;
    ProductPlan expected;
  };
  for (const auto& [m, n, k, units, expected] :
       {Case{1024, 1024, 1024, false, {128, 128, 2}}, Case{4096, 4096, 4096, false, {128, 128, 1}},
        Case{50, 50257, 768, false, {64, 64, 1}}, Case{128, 768, 3072, false, {128, 128, 22}},
        Case{64, 64, 8192, false, {64, 64, 64}}, Case{7, 300, 512, false, {64, 64, 4}},
        Case{256, 256, 50257, false, {128, 128, 33}}, Case{2048, 768, 768, false, {64, 64, 1}},
        Case{768, 3072, 8192, false, {128, 128, 9}}, Case{4096, 4096, 4096, true, {128, 128, 1}},
        Case{256, 1024, 4096, true, {128, 128, 13}}, Case{64, 64, 8192, true, {64, 64, 64}},
        Case{768, 3072, 2048, true, {128, 128, 1}}, Case{128, 128, 512, true, {64, 64, 4}}})
    CHECK_MESSAGE(plan(h200(), m, n, k, units ? DType::bf16 : DType::f32) == expected,
                  m << " x " << n << " x " << k << ", " << (units ? "matrix units" : "f32"));
  const gpu::DeviceRates rates = gpu::default_rates(h200());
  CHECK(rates.busy_groups(2) == 256);
  CHECK(rates.busy_groups(8) == 1024);
  CHECK(rates.busy_groups(16) == 2048);
  CHECK(rates.bytes == doctest::Approx(4000));
  CHECK(rates.multiply_adds() == doctest::Approx(21120));
}

TEST_CASE("tiles fit the shared memory and the work group size of the device") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  gpu::PhysicalDevice device = small_gpu();
  CHECK(plan(device, 4096, 4096, 4096) == ProductPlan{128, 128, 1});
  CHECK(plan(device, 4096, 4096, 4096, DType::bf16) == ProductPlan{64, 64, 1});
  device.limits.maxComputeWorkGroupInvocations = 128;
  CHECK(plan(device, 4096, 4096, 4096) == ProductPlan{64, 64, 1});
  device.limits.maxComputeSharedMemorySize = 16 << 10;
  CHECK(plan(device, 4096, 4096, 4096) == ProductPlan{32, 32, 1});
  for (const gpu::PhysicalDevice& each : {small_gpu(), cpu(2), h200()})
    for (const uint32_t own_tiles : {1u, 2u})
      for (const int64_t features : {16, 64, 100, 256}) {
        const auto [columns, own, passing] = gpu::attention_tiles(features, own_tiles, each);
        CHECK(columns >= features);
        CHECK((own_tiles * (own + passing) * columns + own * passing) * 4 <=
              each.limits.maxComputeSharedMemorySize);
      }
  CHECK(gpu::attention_tiles(64, 1, h200()).own == 64);
}

TEST_CASE("a product is split into as many parts as the processors of the device can use") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto parts = [](const gpu::PhysicalDevice& device) { return plan(device, 64, 64, 65536).parts; };
  CHECK(parts(cpu(1)) == 1);
  CHECK(parts(cpu(64)) > 1);
  CHECK(parts(cpu(64)) <= 4 * 2 * 64);
  CHECK(parts(small_gpu()) > 1);
  CHECK(parts(small_gpu()) < parts(h200()));
}

TEST_CASE("the tiles of a last round that would leave processors idle are computed in parts") {
  const gpu::PhysicalDevice device = h200();
  const gpu::DeviceRates rates = gpu::default_rates(device);
  const auto tail = [&](int64_t m, int64_t n, int64_t k, DType unit_type = DType::f32) {
    gpu::Product p;
    p.m = m, p.n = n, p.k = k, p.unit_type = unit_type;
    const gpu::TiledPlan plan = plan_of(p, device, rates, gpu::ProductTable(some_device(1)));
    CHECK(plan.parts == 1);
    return gpu::tail_of(p, *plan.tile, device, rates);
  };
  const gpu::ProductTail large = tail(8192, 8192, 8192);  // 4096 tiles, 31 rounds and 4 tiles
  CHECK(large.whole_tiles == 30 * 132);
  CHECK(large.parts >= 4);
  CHECK(tail(132 * 128, 128, 4096).parts == 1);           // one full round
  CHECK(tail(131 * 128, 256, 4096).parts == 1);           // nearly two
  CHECK(tail(133 * 128, 128, 128).parts == 1);            // k is too short
  CHECK(tail(4096, 4096, 4096, DType::bf16).parts == 1);  // matrix units
}

TEST_CASE("a device that does not report its processors has a default number") {
  CHECK(gpu::default_rates(described(VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, 0, 48 << 10, 1024)).processors ==
        32);
  CHECK(gpu::default_rates(described(VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, 0, 32 << 10, 256)).processors ==
        8);
  CHECK(gpu::default_rates(cpu(0)).processors >= 1);
  CHECK(gpu::default_rates(cpu(0)).busy_groups(16) >= 16);
}

TEST_CASE("measured rates are loaded as they were saved, and damaged files are ignored") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const gpu::DeviceFile file("rates", some_device(1));
  CHECK_FALSE(gpu::load_rates(file));
  const gpu::DeviceRates rates{132, 3912.25, 1.0 / 3, 1250, 2500};
  REQUIRE(gpu::save_rates(rates, file));
  CHECK(gpu::load_rates(file) == rates);
  CHECK_FALSE(gpu::load_rates(gpu::DeviceFile("rates", some_device(2))));
  for (const std::string content :
       {"", "rates0 132 1 1 1 1\n", "rates1 132 1 1 1\n", "rates1 0 1 1 1 1\n", "rates1 132 -1 1 1 1\n",
        "rates1 132 nan 1 1 1\n", "rates1 132 1 1 1e30 1\n"}) {
    REQUIRE(file.save(std::as_bytes(std::span(content))));
    CHECK_MESSAGE(!gpu::load_rates(file), content);
  }
}

TEST_CASE("the rates of a device can be measured, and the next start uses them") {
  const Folder folder;
  const CacheHome home(folder.file("cache"));
  const auto [instance, physical] = first_hardware();
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(physical.handle, &properties);
  const gpu::DeviceFile file("rates", properties);
  gpu::VulkanDevice device("vulkan:9", instance, physical);
  const std::string plain = device.description();
  CHECK(device.measure_rates().find("GFLOP/s") != std::string::npos);
  const std::optional<gpu::DeviceRates> rates = gpu::load_rates(file);
  REQUIRE(rates);
  if (physical.processors) CHECK(rates->processors == physical.processors);
  CHECK(rates->bytes > 0.1);
  CHECK(rates->f32 > 0.01);
  CHECK(device.machine().recorder.rates == *rates);
  CHECK(device.description() == plain + ", " + gpu::mark(*rates));
  gpu::VulkanDevice next("vulkan:8", instance, physical);
  CHECK(next.description() == device.description());
  CHECK(next.machine().recorder.rates == *rates);
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
