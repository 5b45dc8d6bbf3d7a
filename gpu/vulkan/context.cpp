#include "gpu/vulkan/context.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "gpu/vulkan/extensions.h"
#include "gpu/vulkan/matrix_units.h"
#include "runtime/core/error.h"

namespace lunagrad::gpu {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";
constexpr uint32_t kOldestVersion = VK_API_VERSION_1_2;

std::atomic<int> message_count{0};

const char* result_text(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "initialisation failed";
    case VK_ERROR_DEVICE_LOST:
      return "the device was lost";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "memory could not be mapped";
    case VK_ERROR_LAYER_NOT_PRESENT:
      return "a layer is missing";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "an extension is missing";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "a feature is missing";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "no driver is installed";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "too many objects";
    case VK_TIMEOUT:
      return "no answer in time";
    default:
      return "an error";
  }
}

bool validation_wanted() {
  const char* wish = std::getenv("LUNAGRAD_VALIDATION");
  return wish && std::strcmp(wish, "1") == 0;
}

bool layer_installed(const char* name) {
  uint32_t count = 0;
  vkEnumerateInstanceLayerProperties(&count, nullptr);
  std::vector<VkLayerProperties> layers(count);
  vkEnumerateInstanceLayerProperties(&count, layers.data());
  return std::any_of(layers.begin(), layers.end(),
                     [&](const VkLayerProperties& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

// Best-practice advice that the code deliberately does not follow.
constexpr const char* kKnownAdvice[] = {
    // Buffers that the host writes and reads: four for the life of a device.
    "UNASSIGNED-BestPractices-vkAllocateMemory-small-allocation",
    "UNASSIGNED-BestPractices-vkBindMemory-small-dedicated-allocation",
    // Command buffers are reset one by one when their batches end, not a pool at a time.
    "UNASSIGNED-BestPractices-vkCreateCommandPool-command-buffer-reset",
    // The extension through which these messages arrive.
    "UNASSIGNED-BestPractices-vkCreateInstance-specialuse-extension-debugging",
};

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  const std::string_view id = data->pMessageIdName ? data->pMessageIdName : "";
  if (std::find(std::begin(kKnownAdvice), std::end(kKnownAdvice), id) != std::end(kKnownAdvice))
    return VK_FALSE;
  ++message_count;
  std::fprintf(stderr, "vulkan validation: %s\n", data->pMessage);
  return VK_FALSE;
}

int rank(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 4;
    default:
      return 3;
  }
}

// The chain of feature structures.
struct Features {
  VkPhysicalDeviceVulkan12Features v12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceVulkan11Features v11{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES};
  VkPhysicalDeviceFeatures2 base{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  Features() {
    base.pNext = &v11;
    v11.pNext = &v12;
  }
  Features(const Features&) = delete;
};

// What the kernels need for a workgroup: the smallest tiles of attention's gradients take this much shared
// memory. Larger tiles are used if they fit (gpu/ops/products/product.cpp, gpu/ops/nn/attention_tiles.cpp).
constexpr uint32_t kInvocations = 256, kSharedMemory = 32 << 10;

// Returns the name of the first feature that all kernels need and the device lacks, or null.
const char* missing_feature(const Features& f, const VkPhysicalDeviceLimits& limits) {
  if (limits.maxComputeWorkGroupInvocations < kInvocations ||
      limits.maxComputeWorkGroupSize[0] < kInvocations)
    return "work groups of 256 invocations";
  if (limits.maxComputeSharedMemorySize < kSharedMemory) return "32 KiB of shared memory";
  if (!f.base.features.shaderInt64) return "64-bit integers";
  if (!f.v11.storageBuffer16BitAccess) return "16-bit storage";
  if (!f.v12.storageBuffer8BitAccess) return "8-bit storage";
  if (!f.v12.bufferDeviceAddress) return "buffer addresses";
  if (!f.v12.timelineSemaphore) return "timeline semaphores";
  if (!f.v12.scalarBlockLayout) return "scalar block layout";
  return nullptr;
}

std::vector<VkQueueFamilyProperties> queue_families(VkPhysicalDevice handle) {
  uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(handle, &count, families.data());
  return families;
}

// Returns the index of the queue family to compute on, or -1. Prefers families without graphics: they are
// less contended.
int compute_family(const std::vector<VkQueueFamilyProperties>& families) {
  int found = -1;
  for (uint32_t i = 0; i < families.size(); ++i) {
    if (!(families[i].queueFlags & VK_QUEUE_COMPUTE_BIT)) continue;
    if (!(families[i].queueFlags & VK_QUEUE_GRAPHICS_BIT)) return int(i);
    if (found < 0) found = int(i);
  }
  return found;
}

// How many processors run workgroups: SMs, compute units or shader cores. 0: the driver does not say.
uint32_t processor_count(VkPhysicalDevice handle) {
  VkPhysicalDeviceProperties2 base{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  const auto ask = [&](auto& properties) {
    base.pNext = &properties;
    vkGetPhysicalDeviceProperties2(handle, &base);
  };
  if (has_extension(handle, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nv{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
    ask(nv);
    return nv.shaderSMCount;
  }
  if (has_extension(handle, VK_AMD_SHADER_CORE_PROPERTIES_2_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCoreProperties2AMD amd{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
    ask(amd);
    return amd.activeComputeUnitCount;
  }
  if (has_extension(handle, VK_AMD_SHADER_CORE_PROPERTIES_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCorePropertiesAMD amd{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
    ask(amd);
    return amd.shaderEngineCount * amd.shaderArraysPerEngineCount * amd.computeUnitsPerShaderArray;
  }
  if (has_extension(handle, VK_ARM_SHADER_CORE_BUILTINS_EXTENSION_NAME)) {
    VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
    ask(arm);
    return arm.shaderCoreCount;
  }
  return 0;
}

bool has_calibrated_clock(VkPhysicalDevice handle) {
  if (!has_extension(handle, VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME)) return false;
  uint32_t count = 0;
  vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(handle, &count, nullptr);
  std::vector<VkTimeDomainEXT> domains(count);
  vkGetPhysicalDeviceCalibrateableTimeDomainsEXT(handle, &count, domains.data());
  return std::find(domains.begin(), domains.end(), VK_TIME_DOMAIN_DEVICE_EXT) != domains.end();
}

}  // namespace

std::optional<QueuePlace> find_upload_queue(std::span<const VkQueueFamilyProperties> families,
                                            uint32_t computing) {
  constexpr VkQueueFlags kCopies =
      VK_QUEUE_TRANSFER_BIT | VK_QUEUE_SPARSE_BINDING_BIT | VK_QUEUE_PROTECTED_BIT;
  for (uint32_t i = 0; i < families.size(); ++i)
    if ((families[i].queueFlags & VK_QUEUE_TRANSFER_BIT) && !(families[i].queueFlags & ~kCopies))
      return QueuePlace{i, 0};
  if (families[computing].queueCount > 1) return QueuePlace{computing, 1};
  return std::nullopt;
}

std::vector<uint32_t> PhysicalDevice::queue_families() const {
  if (!upload_queue || upload_queue->family == queue_family) return {queue_family};
  return {queue_family, upload_queue->family};
}

VkPhysicalDeviceProperties PhysicalDevice::properties() const {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(handle, &properties);
  return properties;
}

int count_validation_messages() { return message_count; }

void check(VkResult result, const char* doing) {
  if (result == VK_SUCCESS) return;
  const bool memory = result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY;
  fail_as(memory ? ErrorKind::memory : ErrorKind::device, "vulkan: ", result_text(result), " (VkResult ",
          int(result), ") while ", doing);
}

std::shared_ptr<Instance> Instance::open(std::string& reason) {
  if (volkInitialize() != VK_SUCCESS) {
    reason = "vulkan: no Vulkan loader (libvulkan.so.1) is installed";
    return nullptr;
  }
  const bool validate = validation_wanted();
  if (validate && !layer_installed(kValidationLayer)) {
    reason = text("vulkan: LUNAGRAD_VALIDATION is 1, but ", kValidationLayer, " is not installed");
    return nullptr;
  }
  if (volkGetInstanceVersion() < kOldestVersion) {
    reason = "vulkan: the Vulkan loader is older than 1.2";
    return nullptr;
  }
  VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "lunagrad";
  application.apiVersion = kOldestVersion;
  VkDebugUtilsMessengerCreateInfoEXT messenger{VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT};
  messenger.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  messenger.messageType =
      VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
  messenger.pfnUserCallback = on_message;
  const char* debug_utils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  if (validate) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &debug_utils;
  }
  std::shared_ptr<Instance> instance(new Instance);
  if (const VkResult result = vkCreateInstance(&info, nullptr, &instance->handle_); result != VK_SUCCESS) {
    reason = text("vulkan: ", result_text(result), " while making the instance");
    return nullptr;
  }
  volkLoadInstanceOnly(instance->handle_);
  if (validate) vkCreateDebugUtilsMessengerEXT(instance->handle_, &messenger, nullptr, &instance->messenger_);
  return instance;
}

Instance::~Instance() {
  if (messenger_) vkDestroyDebugUtilsMessengerEXT(handle_, messenger_, nullptr);
  if (handle_ && own_) vkDestroyInstance(handle_, nullptr);
}

std::shared_ptr<Instance> Instance::adopt(VkInstance handle) {
  check(volkInitialize(), "opening the Vulkan loader");
  volkLoadInstanceOnly(handle);
  std::shared_ptr<Instance> instance(new Instance);
  instance->handle_ = handle;
  instance->own_ = false;
  return instance;
}

std::optional<PhysicalDevice> Instance::examine(VkPhysicalDevice handle, std::string& rejected,
                                                std::optional<uint32_t> wanted_family) const {
  VkPhysicalDeviceSubgroupProperties subgroup{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceFloatControlsProperties controls{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, &subgroup};
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, &controls};
  VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  vkGetPhysicalDeviceProperties(handle, &properties.properties);
  const std::string name = properties.properties.deviceName;
  if (properties.properties.apiVersion < kOldestVersion) {
    rejected += text("vulkan: ", name, " is left out: its driver is older than Vulkan 1.2\n");
    return std::nullopt;
  }
  properties.pNext = &driver;
  vkGetPhysicalDeviceProperties2(handle, &properties);
  Features features;
  vkGetPhysicalDeviceFeatures2(handle, &features.base);
  const std::vector<VkQueueFamilyProperties> families = queue_families(handle);
  const bool known = !wanted_family || (*wanted_family < families.size() &&
                                        (families[*wanted_family].queueFlags & VK_QUEUE_COMPUTE_BIT));
  const int family = !known ? -1 : wanted_family ? int(*wanted_family) : compute_family(families);
  const char* missing =
      family < 0 ? "a compute queue" : missing_feature(features, properties.properties.limits);
  if (missing) {
    rejected += text("vulkan: ", name, " is left out: it lacks ", missing, "\n");
    return std::nullopt;
  }
  PhysicalDevice device;
  device.handle = handle;
  device.name = name;
  device.driver = text(driver.driverName, " ", driver.driverInfo);
  device.queue_family = uint32_t(family);
  device.upload_queue = find_upload_queue(families, device.queue_family);
  device.float64 = features.base.features.shaderFloat64;
  device.type = properties.properties.deviceType;
  device.limits = properties.properties.limits;
  device.processors = processor_count(handle);
  device.subgroup_size = subgroup.subgroupSize;
  device.keeps_nan = controls.shaderSignedZeroInfNanPreserveFloat32;
  device.keeps_denormals = controls.shaderDenormPreserveFloat32;
  device.subgroup_sums = (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT) != 0 &&
                         (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  device.stamp_bits = families[device.queue_family].timestampValidBits;
  device.calibrated = device.stamp_bits > 0 && has_calibrated_clock(handle);
  device.matrix_units = find_matrix_units(handle_, handle);
  device.budget = has_extension(handle, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  return device;
}

std::vector<PhysicalDevice> Instance::physical_devices(std::string& rejected) const {
  uint32_t count = 0;
  vkEnumeratePhysicalDevices(handle_, &count, nullptr);
  std::vector<VkPhysicalDevice> handles(count);
  vkEnumeratePhysicalDevices(handle_, &count, handles.data());
  std::vector<PhysicalDevice> found;
  for (const VkPhysicalDevice handle : handles)
    if (std::optional<PhysicalDevice> device = examine(handle, rejected)) found.push_back(std::move(*device));
  std::stable_sort(found.begin(), found.end(), [](const PhysicalDevice& a, const PhysicalDevice& b) {
    return rank(a.type) < rank(b.type);
  });
  return found;
}

VulkanContext::VulkanContext(std::shared_ptr<Instance> instance, const PhysicalDevice& chosen)
    : physical(chosen), instance_(std::move(instance)) {
  if (physical.host) {
    device = physical.host->device;
    queue = physical.host->queue;
    volkLoadDeviceTable(&vk, device);
  } else {
    open_device();
  }
  vkGetPhysicalDeviceMemoryProperties(physical.handle, &memory_);
}

void VulkanContext::open_device() {
  constexpr float kPriorities[] = {1, 1};
  std::vector<VkDeviceQueueCreateInfo> queues;
  for (const uint32_t family : physical.queue_families()) {
    VkDeviceQueueCreateInfo one{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    one.queueFamilyIndex = family;
    const bool uploads = physical.upload_queue && physical.upload_queue->family == family;
    one.queueCount = uploads ? physical.upload_queue->index + 1 : 1;
    one.pQueuePriorities = kPriorities;
    queues.push_back(one);
  }
  Features wanted;
  wanted.base.features.shaderInt64 = VK_TRUE;
  wanted.base.features.shaderFloat64 = physical.float64;
  wanted.v11.storageBuffer16BitAccess = VK_TRUE;
  wanted.v12.storageBuffer8BitAccess = VK_TRUE;
  wanted.v12.bufferDeviceAddress = VK_TRUE;
  wanted.v12.timelineSemaphore = VK_TRUE;
  wanted.v12.scalarBlockLayout = VK_TRUE;
  MatrixUnitsRequest matrices(physical.matrix_units);
  if (matrices.head()) {
    wanted.v12.shaderFloat16 = VK_TRUE;
    wanted.v12.pNext = matrices.head();
  }
  std::vector<const char*> extensions(matrices.extensions().begin(), matrices.extensions().end());
  if (physical.calibrated) extensions.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
  if (physical.budget) extensions.push_back(VK_EXT_MEMORY_BUDGET_EXTENSION_NAME);
  VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &wanted.base;
  info.queueCreateInfoCount = uint32_t(queues.size());
  info.pQueueCreateInfos = queues.data();
  info.enabledExtensionCount = uint32_t(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical.handle, &info, nullptr, &device), "opening the device");
  volkLoadDeviceTable(&vk, device);
  vk.vkGetDeviceQueue(device, physical.queue_family, 0, &queue);
  if (const auto& uploads = physical.upload_queue)
    vk.vkGetDeviceQueue(device, uploads->family, uploads->index, &upload_queue);
}

VulkanContext::~VulkanContext() {
  if (device && !physical.host) vk.vkDestroyDevice(device, nullptr);
}

uint32_t VulkanContext::memory_type(uint32_t allowed, VkMemoryPropertyFlags required,
                                    VkMemoryPropertyFlags preferred) const {
  for (const VkMemoryPropertyFlags flags : {required | preferred, required})
    for (uint32_t i = 0; i < memory_.memoryTypeCount; ++i)
      if ((allowed >> i & 1) && (memory_.memoryTypes[i].propertyFlags & flags) == flags) return i;
  fail_as(ErrorKind::memory, "vulkan: ", physical.name, " has no memory of the kind needed");
}

uint32_t VulkanContext::largest_heap() const {
  uint32_t largest = 0;
  VkDeviceSize size = 0;
  for (uint32_t i = 0; i < memory_.memoryHeapCount; ++i)
    if ((memory_.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) &&
        memory_.memoryHeaps[i].size > size) {
      largest = i;
      size = memory_.memoryHeaps[i].size;
    }
  return largest;
}

VkDeviceSize VulkanContext::heap_size() const { return memory_.memoryHeaps[largest_heap()].size; }

VkDeviceSize VulkanContext::room() const {
  if (!physical.budget) return heap_size();
  VkPhysicalDeviceMemoryBudgetPropertiesEXT budget{
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
  VkPhysicalDeviceMemoryProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2,
                                               &budget};
  vkGetPhysicalDeviceMemoryProperties2(physical.handle, &properties);
  const uint32_t heap = largest_heap();
  return budget.heapBudget[heap] - std::min(budget.heapBudget[heap], budget.heapUsage[heap]);
}

}  // namespace lunagrad::gpu
