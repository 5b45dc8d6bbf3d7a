#pragma once
// Errors of the window's Vulkan calls.
#include <vulkan/vulkan.h>

#include "runtime/core/error.h"

namespace lunagrad {

// Throws Error (kind device) if the call failed; `what` says what it was for.
inline void check(VkResult result, const char* what) {
  if (result < 0) fail_as(ErrorKind::device, what, " failed (VkResult ", int(result), ")");
}

}  // namespace lunagrad
