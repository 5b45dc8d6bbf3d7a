#pragma once
// The Vulkan loader (opened at run time), the instance, the usable physical devices, and a logical device
// with its queues. A VulkanContext shares ownership of its Instance. One thread at a time may create them;
// any thread may call const functions.
#include <volk.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/vulkan/matrix_units.h"

namespace lunagrad::gpu {

// Throws an Error unless `result` is VK_SUCCESS: of kind memory if memory ran out, else of kind device.
// `doing` ends the message "vulkan: … while <doing>".
void check(VkResult result, const char* doing);

// The number of messages of the validation layer so far. Any thread.
int count_validation_messages();

// A logical device and queue that the program made (HostDevice in gpu/gpu.h).
struct HostQueue {
  VkDevice device;
  VkQueue queue;
  void (*lock)(void* user);
  void (*unlock)(void* user);
  void* user;
};

struct QueuePlace {
  uint32_t family, index;
};

// Finds a queue for copies that run concurrently with the first queue of family `computing`. Prefers a family
// that only copies, since it has a hardware engine of its own, then another queue of the same family. Empty:
// there is neither.
std::optional<QueuePlace> find_upload_queue(std::span<const VkQueueFamilyProperties>, uint32_t computing);

// A physical device with the features that the kernels need.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name;    // "NVIDIA H200"
  std::string driver;  // "NVIDIA 580.65.06"
  uint32_t queue_family = 0;
  bool float64 = false;  // has double arithmetic
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  VkPhysicalDeviceLimits limits{};
  uint32_t processors = 0;  // SMs, compute units or shader cores; 0: the driver does not say
  uint32_t subgroup_size = 0;
  bool keeps_nan = false, keeps_denormals = false;  // for f32, in shaders that request it
  bool subgroup_sums = false;  // supports arithmetic subgroup operations in compute shaders
  uint32_t stamp_bits = 0;     // valid bits of the queue's timestamps; 0: none
  bool calibrated = false;     // its clock can be read at any time
  MatrixUnits matrix_units;
  bool budget = false;                           // reports how much memory is left
  std::optional<QueuePlace> upload_queue;        // none: copies use the compute queue
  std::optional<HostQueue> host;                 // in place of a logical device of the engine
  std::vector<uint32_t> queue_families() const;  // of both queues, without duplicates
  VkPhysicalDeviceProperties properties() const;
};

class Instance {
 public:
  // Opens the loader and creates an instance. Returns null if it cannot; `reason` then says why.
  static std::shared_ptr<Instance> open(std::string& reason);
  // An instance that the program made and destroys. Error of kind device if there is no loader.
  static std::shared_ptr<Instance> adopt(VkInstance);
  ~Instance();
  Instance(const Instance&) = delete;

  // Discrete GPUs first, CPU devices last. Appends a line to `rejected` for each device that lacks a feature.
  std::vector<PhysicalDevice> physical_devices(std::string& rejected) const;
  // Empty, with a line appended to `rejected`, if the device lacks a feature, or the family cannot compute.
  std::optional<PhysicalDevice> examine(VkPhysicalDevice, std::string& rejected,
                                        std::optional<uint32_t> queue_family = {}) const;

 private:
  Instance() = default;
  VkInstance handle_ = VK_NULL_HANDLE;
  bool own_ = true;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

// Held for a submission: other threads of the program may use a queue of its own.
class QueueLock {
 public:
  explicit QueueLock(const PhysicalDevice& physical) : host_(physical.host ? &*physical.host : nullptr) {
    if (host_ && host_->lock) host_->lock(host_->user);
  }
  ~QueueLock() {
    if (host_ && host_->unlock) host_->unlock(host_->user);
  }
  QueueLock(const QueueLock&) = delete;

 private:
  const HostQueue* host_;
};

class VulkanContext {
 public:
  VulkanContext(std::shared_ptr<Instance>, const PhysicalDevice&);
  ~VulkanContext();
  VulkanContext(const VulkanContext&) = delete;

  // Returns a memory type of the mask `allowed` with all flags of `required`, and the flags of `preferred`
  // too if there is such a type. Throws an Error of kind memory if there is none.
  uint32_t memory_type(uint32_t allowed, VkMemoryPropertyFlags required,
                       VkMemoryPropertyFlags preferred) const;
  VkDeviceSize heap_size() const;  // bytes of the largest device-local heap
  // Free bytes of that heap; memory of other programs counts as used if the driver reports it.
  VkDeviceSize room() const;

  VolkDeviceTable vk{};  // the device's functions
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkQueue upload_queue = VK_NULL_HANDLE;  // null if physical.upload_queue is none
  const PhysicalDevice physical;

 private:
  void open_device();
  uint32_t largest_heap() const;

  std::shared_ptr<Instance> instance_;
  VkPhysicalDeviceMemoryProperties memory_{};
};

}  // namespace lunagrad::gpu
