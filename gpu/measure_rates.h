#pragma once
// Measures the rates of a device (device_rates.h) with ops of the engine.
#include "gpu/device_rates.h"

namespace lunagrad::gpu {

class VulkanDevice;

// Takes up to a few seconds and at most 1 GiB of the device's memory. Keeps the processors that the device
// reports, and estimates their number if it reports none. Changes the plans of two products and resets them.
// Errors as of any op.
DeviceRates measure_rates(VulkanDevice&, const PhysicalDevice&, const DeviceRates& before);

}  // namespace lunagrad::gpu
