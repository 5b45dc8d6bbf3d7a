#pragma once
// Vulkan devices for the engine. Called once by a program's main; no Vulkan type appears here.

namespace lunagrad::gpu {

// Offers the Vulkan devices to the engine as a device source (runtime/device.h): "vulkan", "vulkan:1", …,
// discrete first, CPU drivers last. Touches neither the loader nor a driver: that happens when a device is
// first asked for, and without any the engine knows the reason in a sentence. Never throws.
[[gnu::visibility("default")]] void install();

// Waits for the work of all devices and lets go of them, for good. To be called before main returns: a driver
// that is still at work while the process tears itself down may crash.
[[gnu::visibility("default")]] void close();

// How many messages the validation layer has given since the process began. Always 0 unless the environment
// variable LUNAGRAD_VALIDATION is 1 when the first device is asked for.
[[gnu::visibility("default")]] int validation_messages();

}  // namespace lunagrad::gpu
