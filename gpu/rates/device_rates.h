#pragma once
// How fast a device is. Cost models use it to choose tiles and to cut batches. The values are defaults for
// the device's kind, or values that `lunagrad bench --tune` measured and saved.
#include <optional>
#include <string>

#include "gpu/vulkan/context.h"
#include "gpu/vulkan/device_file.h"

namespace lunagrad::gpu {

struct DeviceRates {
  uint32_t processors = 1;  // SMs, compute units or cores, which run workgroups concurrently
  double bytes = 1;         // bytes read and written per ns by a large copy
  double f32 = 1;           // f32 multiply-adds per ns and processor in the fastest matrix product
  double matrix_units = 1;  // multiply-adds of 16-bit elements per ns and processor, on matrix units
  double launch = 1;        // ns that a small dispatch takes, with the barrier before it

  double multiply_adds() const { return processors * f32; }  // f32 multiply-adds per ns of the whole device
  // About `per_processor` workgroups for each processor, rounded down to a power of two.
  uint32_t busy_groups(uint32_t per_processor) const;
  bool operator==(const DeviceRates&) const = default;
};

// The assumed rates of a device that was not measured. A discrete GPU has the rates of an NVIDIA H200 for
// each of its processors; other kinds have rates of their own, on the slow side.
DeviceRates default_rates(const PhysicalDevice&);

// The file of a device's measured rates.
DeviceFile rates_file(const PhysicalDevice&);
// It holds one line of text. A damaged or implausible file is treated as missing.
std::optional<DeviceRates> load_rates(const DeviceFile&);
bool save_rates(const DeviceRates&, const DeviceFile&) noexcept;

// "measured rates (1a2b3c4d)", with a checksum: runs with equal marks choose equal plans.
std::string mark(const DeviceRates&);
// The rates of the whole device, for people: "132 processors, 3.9 TB/s, 42 TFLOP/s in f32".
std::string describe(const DeviceRates&);

}  // namespace lunagrad::gpu
