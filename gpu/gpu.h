#pragma once
// Vulkan devices for the engine. Called once by a program's main; no Vulkan type appears here.
#include <string>

namespace lunagrad::gpu {

// Registers each usable Vulkan device ("vulkan", "vulkan:1", …: discrete first, CPU drivers last). Never throws and
// never fails a program: when there is no loader, driver or device, `reason` says so in a sentence. Device objects
// are made at first use, so that start-up costs nothing. Returns how many were registered.
int install(std::string* reason = nullptr);

}  // namespace lunagrad::gpu
