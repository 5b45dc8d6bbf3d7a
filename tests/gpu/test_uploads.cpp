// Large copies to the device on the upload queue: the values are correct, and work that uses the same memory
// waits.
#include "gpu/device/device.h"
#include "tests/gpu/compare.h"
#include "tests/gpu/hardware.h"
#include "tests/gpu/hazards.h"
#include "tests/gpu/upload_queue.h"

TEST_SUITE_BEGIN("host");

namespace lunagrad::tests {
namespace {

// A separate device, since the shared one may have a single queue.
class UploadingDevice {
 public:
  UploadingDevice() {
    std::string reason, rejected;
    const std::shared_ptr<gpu::Instance> instance = gpu::Instance::open(reason);
    REQUIRE(instance);
    device_.emplace("vulkan", instance, with_upload_queue(instance->physical_devices(rejected).front()));
    stream().listen(&seen);
  }
  gpu::VulkanDevice& operator*() { return *device_; }
  gpu::Stream& stream() { return device_->machine().stream; }

  HazardLog seen;

 private:
  std::optional<gpu::VulkanDevice> device_;
};

constexpr int64_t kSide = 600;  // 1.4 MiB
const Shape kSquare = {kSide, kSide};

TEST_CASE("uploads wait for the work that uses their memory, and later work waits for them") {
  const NoGrad off;
  UploadingDevice device;
  double expected = 0, got = 0;
  for (int i = 0; i < 6; ++i) {
    Tensor kept = to(full(kSquare, double(i), DType::f32), *device);
    {
      // The first is freed; the second gets its memory.
      to(full(kSquare, 100.0, DType::f32), *device);
      const Tensor other = to(full(kSquare, 2.0, DType::f32), *device);
      kept = kept * other;
    }
    const Tensor behind = to(full(kSquare, 3.0, DType::f32), *device);
    got += sum(kept + behind).item();
    expected += (2.0 * i + 3) * kSide * kSide;
  }
  (*device).sync();
  CHECK(got == expected);
  HazardLog& seen = device.seen;
  CHECK(seen.uploads.size() >= 18);
  CHECK(count_upload_hazards(seen) == 0);
  // Each kind of wait occurs.
  HazardLog without = seen;
  for (LoggedBatch& batch : without.batches) batch.upload = 0;
  CHECK(count_upload_hazards(without) > 0);
  without = seen;
  for (LoggedUpload& upload : without.uploads) upload.batch = 0;
  CHECK(count_upload_hazards(without) > 0);
  without = seen;
  for (LoggedUpload& upload : without.uploads) upload.earlier = 0;
  CHECK(count_upload_hazards(without) > 0);
}

TEST_CASE("an upload does not wait for unfinished work, unless that uses the memory") {
  const NoGrad off;
  UploadingDevice device;
  const Tensor a = to(random(kSquare, 1), *device);
  const std::vector<float> twos(size_t(kSide) * kSide, 2.0f);
  Tensor product = a;
  // Enough work to occupy the device until the upload begins.
  const int rounds = first_hardware().physical.type == VK_PHYSICAL_DEVICE_TYPE_CPU ? 2 : 200;
  const auto compute = [&] {
    for (int i = 0; i < rounds; ++i) product = matmul(a, product) * 0.05;
  };
  compute();
  const Tensor beside = Tensor::empty(kSquare, DType::f32, *device);
  (*device).sync();
  compute();
  const size_t uploads = device.seen.uploads.size();
  (*device).copy_in(beside.storage().data(), 0, twos.data(), twos.size() * sizeof(float));
  CHECK(device.seen.uploads.size() == uploads + 1);
  // The recorded work was submitted, and the upload waits for earlier batches only.
  CHECK(device.seen.batches.back().end == device.seen.log.size());
  CHECK(device.seen.uploads.back().batch < device.seen.batches.back().batch);
  compute();
  void* const written = product.storage().data();
  (*device).copy_in(written, 0, twos.data(), twos.size() * sizeof(float));
  CHECK(device.seen.uploads.size() == uploads + 1);
  CHECK(product.to_vector<float>() == twos);
  CHECK(beside.to_vector<float>() == twos);
  CHECK(count_upload_hazards(device.seen) == 0);
}

TEST_CASE("uploads larger than the staging memory, and copies into their memory, are correct") {
  UploadingDevice device;
  const std::vector<float> values = uniform((12 << 20) + 77, 9);
  const Tensor x = Tensor::from<float>(values, {int64_t(values.size())}, *device);
  CHECK(x.to_vector<float>() == values);
  CHECK(device.seen.uploads.size() == 7);
  const Tensor y = Tensor::from<float>(values, {int64_t(values.size())}, *device);
  const float small = -1;
  (*device).copy_in(y.storage().data(), 0, &small, sizeof small);
  CHECK(device.seen.uploads.size() == 14);
  CHECK(y.to_vector<float>()[0] == small);
  CHECK(count_upload_hazards(device.seen) == 0);
  std::vector<float> changed = values;
  const size_t from = 1000, count = 1 << 20;
  for (size_t i = 0; i < count; ++i) changed[from + i] = float(i);
  (*device).copy_in(x.storage().data(), from * sizeof(float), &changed[from], count * sizeof(float));
  CHECK(device.seen.uploads.size() == 15);
  CHECK(x.to_vector<float>() == changed);
}

TEST_CASE("memory keeps its last upload when it is freed, merged and split") {
  if (std::getenv("LUNAGRAD_GPU_EXACT")) return;  // there each range is a block of its own
  UploadingDevice device;
  gpu::Memory& memory = (*device).machine().memory;
  memory.free(memory.alloc(1 << 20));
  const size_t block = memory.usage().reserved;
  gpu::Range* const a = memory.alloc(block / 2);
  gpu::Range* const b = memory.alloc(block / 2);
  a->upload = 3;
  a->batch = 7;
  b->upload = 5;
  memory.free(a);
  memory.free(b);
  gpu::Range* const whole = memory.alloc(block);
  CHECK(memory.usage().reserved == block);
  CHECK(whole->upload == 5);
  CHECK(whole->batch == 7);
  memory.free(whole);
  for (int i = 0; i < 2; ++i) {
    const gpu::Range* const part = memory.alloc(block / 4);
    CHECK(part->upload == 5);
    CHECK(part->batch == 7);
  }
}

TEST_CASE("uploads use a queue that only copies, else a second queue of the compute family") {
  using Families = std::vector<VkQueueFamilyProperties>;
  constexpr VkQueueFlags kAll = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  constexpr VkQueueFlags kCompute = VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
  constexpr VkQueueFlags kVideo = VK_QUEUE_TRANSFER_BIT | 0x20;
  constexpr VkQueueFlags kCopy = VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT;
  const auto found = [](const Families& families, uint32_t computing) {
    const std::optional<gpu::QueuePlace> place = gpu::find_upload_queue(families, computing);
    return place ? std::pair(int(place->family), int(place->index)) : std::pair(-1, -1);
  };
  CHECK(found({{kAll, 16}, {kVideo, 1}, {kCopy, 2}, {kCompute, 8}}, 3) == std::pair(2, 0));
  CHECK(found({{kAll, 1}, {kVideo, 1}, {kCompute, 8}}, 2) == std::pair(2, 1));
  CHECK(found({{kAll, 1}, {kVideo, 1}}, 0) == std::pair(-1, -1));
}

}  // namespace
}  // namespace lunagrad::tests

TEST_SUITE_END();
