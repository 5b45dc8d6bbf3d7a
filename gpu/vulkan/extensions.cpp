#include "gpu/vulkan/extensions.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace lunagrad::gpu {

bool has_extension(VkPhysicalDevice handle, const char* name) {
  uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(handle, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(), [&](const VkExtensionProperties& extension) {
    return std::strcmp(extension.extensionName, name) == 0;
  });
}

}  // namespace lunagrad::gpu
