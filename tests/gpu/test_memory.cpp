// How much device memory is reserved beyond the tensors in use.
#include <cstdlib>

#include "gpu/device/device.h"
#include "tests/gpu/compare.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

constexpr size_t kMiB = 1 << 20;

// A device of its own: the shared one has memory of other tests.
class OwnDevice {
 public:
  OwnDevice() {
    std::string reason, rejected;
    const std::shared_ptr<gpu::Instance> instance = gpu::Instance::open(reason);
    REQUIRE(instance);
    device_.emplace("vulkan", instance, instance->physical_devices(rejected).front());
  }
  gpu::VulkanDevice& operator*() { return *device_; }
  gpu::Memory& memory() { return device_->machine().memory; }
  size_t reserved() { return memory().usage().reserved; }

 private:
  std::optional<gpu::VulkanDevice> device_;
};

bool exact() { return std::getenv("LUNAGRAD_GPU_EXACT") != nullptr; }  // each range is a block of its own

TEST_CASE("a larger tensor takes the place of freed neighbours, and leaves the rest of the block whole") {
  if (exact()) return;
  OwnDevice device;
  gpu::Memory& memory = device.memory();
  gpu::Range* const a = memory.alloc(kMiB);
  const size_t block = device.reserved(), eighth = block / 8;
  memory.free(a);
  gpu::Range* const b = memory.alloc(eighth);
  gpu::Range* const c = memory.alloc(eighth);
  gpu::Range* const border = memory.alloc(eighth);
  memory.free(c);
  memory.free(b);
  memory.alloc(2 * eighth);
  memory.alloc(block - 3 * eighth);
  CHECK(device.reserved() == block);
  CHECK(memory.usage().in_use == block);
  memory.free(border);
  CHECK(memory.alloc(eighth) == border);
}

TEST_CASE("freed small ranges keep their own epochs, and do not cut blocks of large tensors") {
  if (exact()) return;
  OwnDevice device;
  gpu::Memory& memory = device.memory();
  gpu::Range* const a = memory.alloc(1000);
  gpu::Range* const b = memory.alloc(1000);
  const size_t small_block = device.reserved();
  a->written_epoch = 3;
  b->written_epoch = 5;
  memory.free(a);
  memory.free(b);
  CHECK(memory.alloc(1000)->written_epoch == 3);
  CHECK(memory.alloc(1000)->written_epoch == 5);
  memory.free(memory.alloc(kMiB));
  const size_t reserved = device.reserved();
  memory.alloc(1000);
  memory.alloc(reserved - small_block);
  CHECK(device.reserved() == reserved);
}

TEST_CASE("unused blocks are given back before more memory is reserved than ever") {
  if (exact()) return;
  const NoGrad off;
  OwnDevice device;
  const auto ones_of = [&](size_t bytes) { return full({int64_t(bytes / 4)}, 1.0, DType::f32, *device); };
  const Tensor kept = ones_of(kMiB);
  const size_t block = device.reserved();
  {
    const Tensor x = ones_of(block), y = ones_of(block);
    CHECK((x + y).numel() == x.numel());
  }
  const size_t reserved = device.reserved();
  CHECK(reserved >= 4 * block);
  {
    const Tensor large = ones_of(2 * block);  // their work may be unfinished
    CHECK(device.reserved() <= reserved);
    const std::vector<float> values = large.to_vector<float>();
    CHECK(std::all_of(values.begin(), values.end(), [](float v) { return v == 1.0f; }));
  }
  CHECK(kept.to_vector<float>().back() == 1.0f);
  const size_t after = device.reserved();
  for (int i = 0; i < 3; ++i) {
    ones_of(block).to_vector<float>();
    ones_of(2 * block).to_vector<float>();
  }
  CHECK(device.reserved() == after);
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
