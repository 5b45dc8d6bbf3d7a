#pragma once
// GLFW with its functions for Vulkan, which glfw3.h declares only when it sees this macro at its first
// inclusion.
#define GLFW_INCLUDE_VULKAN
#include <GLFW/glfw3.h>
