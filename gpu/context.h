#pragma once
// Vulkan itself: the loader (opened at run time), the instance, the devices that qualify, and one logical
// device with its queues. An Instance lives as long as a VulkanContext uses it. Creation is done by
// one thread at a time; what is const may be read by all.
#include <volk.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace lunagrad::gpu {

// Throws Error for anything but success: kind memory when memory ran out, otherwise kind device.
// `doing` ends the sentence "vulkan: … while <doing>".
void check(VkResult result, const char* doing);

bool has_extension(VkPhysicalDevice, const char* name);

struct QueuePlace {
  uint32_t family, index;
};

// Where copies run beside the computing of a family's first queue: in a family that only copies, behind which
// stands an engine of its own, else in another queue of the same family. None: there is neither.
std::optional<QueuePlace> find_upload_queue(std::span<const VkQueueFamilyProperties>, uint32_t computing);

// What one instruction of a subgroup multiplies: 16 x 16 times 16 x 16 elements, into sums of f32.
struct MatrixUnits {
  bool float16 = false, bfloat16 = false;
};

// A device that the machine has and this library can use.
struct PhysicalDevice {
  VkPhysicalDevice handle = VK_NULL_HANDLE;
  std::string name;    // "NVIDIA H200"
  std::string driver;  // "NVIDIA 580.65.06"
  uint32_t queue_family = 0;
  bool float64 = false;  // has double arithmetic
  VkPhysicalDeviceType type = VK_PHYSICAL_DEVICE_TYPE_OTHER;
  VkPhysicalDeviceLimits limits{};
  uint32_t subgroup_size = 0;
  bool keeps_nan = false, keeps_denormals = false;  // of f32, where a shader asks for it
  bool subgroup_sums = false;  // its subgroups add up and compare the values of their invocations
  uint32_t stamp_bits = 0;     // of the queue's time stamps, 0: it has none
  bool calibrated = false;     // its clock can be asked at any time
  MatrixUnits matrix_units;
  bool budget = false;                           // says how much memory it has left
  std::optional<QueuePlace> upload_queue;        // none: it has one queue for all
  std::vector<uint32_t> queue_families() const;  // of the queues in use, each once
};

class Instance {
 public:
  // Opens the loader and makes an instance. Null when that is impossible; `reason` says why.
  static std::shared_ptr<Instance> open(std::string& reason);
  ~Instance();
  Instance(const Instance&) = delete;

  // Discrete devices first, CPU drivers last; those that lack a needed feature are named in `rejected`.
  std::vector<PhysicalDevice> physical_devices(std::string& rejected) const;

 private:
  Instance() = default;
  VkInstance handle_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
};

class VulkanContext {
 public:
  VulkanContext(std::shared_ptr<Instance>, const PhysicalDevice&);
  ~VulkanContext();
  VulkanContext(const VulkanContext&) = delete;

  // The index of a memory type among `allowed` that has all of `required`, and of `preferred` too if there is
  // one. Error of kind memory when there is none.
  uint32_t memory_type(uint32_t allowed, VkMemoryPropertyFlags required,
                       VkMemoryPropertyFlags preferred) const;
  VkDeviceSize heap_size() const;  // bytes of the largest device-local heap
  VkDeviceSize room()
      const;  // bytes of it that may still be taken, other programs' considered where that is known

  VolkDeviceTable vk{};  // the device's functions
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  VkQueue upload_queue = VK_NULL_HANDLE;  // null as in `physical`
  const PhysicalDevice physical;

 private:
  uint32_t largest_heap() const;

  std::shared_ptr<Instance> instance_;
  VkPhysicalDeviceMemoryProperties memory_{};
};

}  // namespace lunagrad::gpu
