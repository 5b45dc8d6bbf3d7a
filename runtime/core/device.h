#pragma once
// The interface of a device: memory, copies, and running a Call. It has no function per op: a device finds
// its kernel for an op in its own table. The CPU is always device 0 ("cpu"); gpu::install() adds "vulkan",
// "vulkan:1", …. Several threads may use a device; its functions lock shared data. The list of devices owns
// them.
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lunagrad {

struct Call;
struct CallGroup;

struct DeviceMemory {
  size_t in_use = 0;    // bytes of live tensors
  size_t reserved = 0;  // bytes taken from the system, free blocks included
  size_t peak = 0;      // largest in_use since the start or the last reset_peak()
  size_t total = 0;     // bytes that the device has, 0 when unknown
};

class Device {
 public:
  virtual ~Device() = default;
  virtual std::string_view name() const = 0;    // "cpu", "vulkan", "vulkan:1"
  virtual std::string description() const = 0;  // "AVX3, 2 threads", "NVIDIA H200, driver …"
  virtual bool is_cpu() const { return false; }

  // At least `bytes` bytes, 64-byte aligned: on the CPU a pointer, on other devices a handle. Error of kind
  // memory when there is no room. Zero bytes give a null handle.
  virtual void* alloc(size_t bytes) = 0;
  virtual void free(void* handle, size_t bytes) noexcept = 0;
  virtual void copy_in(void* handle, size_t offset, const void* from, size_t bytes) = 0;
  // Waits for all work that writes the range.
  virtual void copy_out(void* to, const void* handle, size_t offset, size_t bytes) = 0;

  virtual bool supports(const Call&) const = 0;
  virtual void run(const Call&) = 0;  // may return before the work is done
  // Whether the call, whose outputs are laid out, may be a member of a group.
  virtual bool fuses(const Call&) const { return false; }
  // Computes the calls of a group in one pass over memory. Only `stored` members have memory.
  virtual void run_group(const CallGroup&) {}
  virtual void sync() = 0;  // returns when all work is done
  virtual DeviceMemory memory() const = 0;
  virtual void reset_peak() = 0;      // sets memory().peak to memory().in_use
  virtual void release_unused() = 0;  // gives free blocks back to the system
};

// Searches for devices, which may be slow (a Vulkan instance: 0.1 to 0.3 s). Sets `reason` to a sentence that
// says why when there are none. Must not throw.
using DeviceSource = std::vector<std::unique_ptr<Device>> (*)(std::string& reason);

// The CPU's device, for the list of devices; implemented in cpu/device/cpu_device.cpp.
std::unique_ptr<Device> make_cpu_device();

Device& cpu_device();
// The source is called once, by the first devices() or find_device() with a name other than "cpu", so that it
// does not slow down the start.
void register_device_source(DeviceSource);
std::span<const std::unique_ptr<Device>> devices();  // the CPU first
// Adds a device that the program opened, for the life of the process. At most kMostDevices in all.
inline constexpr size_t kMostDevices = 256;
Device& add_device(std::unique_ptr<Device>);
std::string missing_devices();               // the reasons of the sources that found none, a line each
Device* find_device(std::string_view name);  // null when there is no such device
// The device of that name. Error of kind device, with a list of the devices and the reasons for missing ones.
Device& require_device(std::string_view name);

}  // namespace lunagrad
