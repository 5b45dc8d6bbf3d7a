#pragma once
// Vulkan devices for the engine: functions for a program's main(). No Vulkan type appears here.

namespace lunagrad::gpu {

// Registers the Vulkan devices as a device source (runtime/core/device.h): "vulkan", "vulkan:1", …, discrete
// GPUs first, CPU devices last. Opens neither the loader nor a driver: that happens when a device is first
// requested. If there is no device, the engine reports the reason in a sentence. To be called once, by one
// thread. Never throws.
[[gnu::visibility("default")]] void install();

// Waits for the work of all devices and destroys them, permanently. To be called before main() returns: a
// driver that still works while statics are destroyed may crash. No other thread may use a device then.
[[gnu::visibility("default")]] void close();

// The number of messages of the validation layer so far. Always 0 unless the environment variable
// LUNAGRAD_VALIDATION is 1 when the first device is requested. Any thread.
[[gnu::visibility("default")]] int validation_messages();

}  // namespace lunagrad::gpu
