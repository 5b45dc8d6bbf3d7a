#pragma once
// The extensions of a physical device. Any thread.
#include <volk.h>

namespace lunagrad::gpu {

bool has_extension(VkPhysicalDevice, const char* name);

}  // namespace lunagrad::gpu
