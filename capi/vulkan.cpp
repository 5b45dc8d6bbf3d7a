// The host's Vulkan device as a device of the engine, and the buffers of tensors on it (gpu/gpu.h).
#include "capi/engine.h"
#include "capi/structs.h"
#ifdef LUNAGRAD_HAS_GPU
#include "gpu/gpu.h"
#endif

using namespace lunagrad;
using namespace lunagrad::capi;

namespace {

constexpr size_t kVulkan = 72, kVulkanBuffer = 40;  // sizes of the first versions
static_assert(sizeof(lg_vulkan) == kVulkan && sizeof(lg_vulkan_buffer) == kVulkanBuffer);

#ifndef LUNAGRAD_HAS_GPU
[[noreturn]] void refuse_without_gpu() { refuse(LG_DEVICE, "the library was built without Vulkan"); }
#endif

}  // namespace

lg_code lg_vulkan_open(lg_engine* engine, const lg_vulkan* vulkan, const char** device) {
  return wall([&] {
    require(device, "device");
    const Work work(engine_of(engine));
    const lg_vulkan given = read_struct(vulkan, kVulkan, "lg_vulkan");
    require(given.instance, "lg_vulkan: instance");
    require(given.physical_device, "lg_vulkan: physical_device");
    require(given.device, "lg_vulkan: device");
    require(given.queue, "lg_vulkan: queue");
    if ((given.lock == nullptr) != (given.unlock == nullptr))
      refuse(LG_INVALID_ARGUMENT, "lg_vulkan: lock and unlock belong together");
#ifdef LUNAGRAD_HAS_GPU
    *device = lasting(gpu::open_host_device({.instance = given.instance,
                                             .physical = given.physical_device,
                                             .device = given.device,
                                             .queue = given.queue,
                                             .queue_family = given.queue_family,
                                             .float64 = given.float64 != 0,
                                             .matrix_units = given.matrix_units != 0,
                                             .lock = given.lock,
                                             .unlock = given.unlock,
                                             .user = given.user})
                          .name());
#else
    refuse_without_gpu();
#endif
  });
}

lg_code lg_vulkan_close(lg_engine* engine, const char* device) {
  return wall([&] {
    require(device, "device");
    const Work work(engine_of(engine));
#ifdef LUNAGRAD_HAS_GPU
    gpu::close_host_device(require_device(device));
#else
    refuse_without_gpu();
#endif
  });
}

lg_code lg_vulkan_wait(lg_engine* engine, const char* device, uint64_t semaphore, uint64_t value) {
  return wall([&] {
    require(device, "device");
    const Work work(engine_of(engine));
    if (semaphore == 0) refuse(LG_INVALID_ARGUMENT, "semaphore is VK_NULL_HANDLE");
#ifdef LUNAGRAD_HAS_GPU
    gpu::wait_for_host(require_device(device), semaphore, value);
#else
    refuse_without_gpu();
#endif
  });
}

lg_code lg_tensor_vulkan(lg_tensor* tensor, int32_t writes, lg_vulkan_buffer* buffer) {
  return wall([&] {
    HandleSlot& slot = slot_of(tensor, Kind::tensor);
    const Work work(*slot.engine);
    lg_vulkan_buffer found{};
#ifdef LUNAGRAD_HAS_GPU
    const Tensor& x = slot.tensor;
    if (writes) x.storage().check_may_write("lg_tensor_vulkan");
    if (writes) x.storage().before_write();
    const gpu::DeviceBuffer place = gpu::device_buffer(x);
    if (writes) x.storage().mark_written("lg_tensor_vulkan");
    found.buffer = place.buffer;
    found.offset = place.offset;
    found.semaphore = place.semaphore;
    found.value = place.value;
#else
    (void)writes;
    refuse_without_gpu();
#endif
    write_struct(buffer, found, kVulkanBuffer, "lg_vulkan_buffer");
  });
}
