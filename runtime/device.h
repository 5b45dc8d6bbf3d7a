#pragma once
// What a device is to the engine: memory, copies, and running a Call. None of it is per op: a device looks
// the op up in its own table. The CPU is always device 0 ("cpu"); gpu::install() adds "vulkan", "vulkan:1",
// …. A device may be used by several threads; its functions lock where they must.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct Call;

struct DeviceMemory {
  size_t in_use = 0;    // bytes of live tensors
  size_t reserved = 0;  // bytes held from the system, free blocks included
  size_t peak = 0;      // largest in_use so far
  size_t total = 0;     // what the device has, 0 when unknown
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;    // "cpu", "vulkan", "vulkan:1"
  virtual std::string description() const = 0;  // "AVX3, 2 threads", "NVIDIA H200, driver …"
  virtual bool is_cpu() const { return false; }

  // At least `bytes` bytes, 64-byte aligned; on the CPU a pointer to them, elsewhere a handle of the
  // device's. Error of kind memory when there are none left. Zero bytes give a null handle.
  virtual void* alloc(size_t bytes) = 0;
  virtual void free(void* handle, size_t bytes) noexcept = 0;
  virtual void copy_in(void* handle, size_t offset, const void* from, size_t bytes) = 0;
  // Waits for whatever still writes the range.
  virtual void copy_out(void* to, const void* handle, size_t offset, size_t bytes) = 0;

  virtual bool supports(const Call&) const = 0;
  virtual void run(const Call&) = 0;  // may return before the work is done
  virtual void sync() = 0;            // returns when all work is done
  virtual DeviceMemory memory() const = 0;
  virtual void release_unused() = 0;  // gives free blocks back to the system
};

// Looks for devices, which may take long (a Vulkan instance: 0.1 to 0.3 s). When there are none, `reason`
// gets the sentence that says why. Must not throw.
using DeviceSource = std::vector<std::unique_ptr<Device>> (*)(std::string& reason);

Device& cpu_device();
// Asked once, at the first call of devices() or of find_device() with a name other than "cpu": start-up costs
// nothing.
void register_device_source(DeviceSource);
std::span<const std::unique_ptr<Device>> devices();  // the CPU first
std::string missing_devices();                       // the reasons of sources that found none, a line each
Device* find_device(std::string_view name);          // null when there is none
Device& require_device(
    std::string_view name);  // Error of kind device: what there is, and what is missing why

}  // namespace lunagrad
