#pragma once
// Measures the rates of a device (device_rates.h) with ops of the engine.
#include "gpu/device_rates.h"

namespace lunagrad::gpu {

class VulkanDevice;

// Takes up to a few seconds and at most 1 GiB of the device's memory. Keeps the number of processors that the
// device reports, and estimates it if the device reports none. Changes the plans of two products and resets
// them. Throws the errors of the ops that it runs.
DeviceRates measure_rates(VulkanDevice&, const PhysicalDevice&, const DeviceRates& before);

}  // namespace lunagrad::gpu
