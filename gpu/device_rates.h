#pragma once
// How fast a device is. Models use it to choose tiles and to cut batches. The values are defaults for the
// device's kind, or those that `lunagrad bench --tune` measured and kept on disk.
#include <optional>
#include <string>

#include "gpu/context.h"
#include "gpu/device_file.h"

namespace lunagrad::gpu {

struct DeviceRates {
  uint32_t processors = 1;  // that run work groups concurrently: SMs, compute units or cores
  double bytes = 1;         // per ns, read and written, of a copy of much memory
  double f32 = 1;           // f32 multiply-adds per ns and processor, of the fastest matrix product
  double matrix_units = 1;  // multiply-adds of 16-bit elements per ns and processor, on matrix units
  double launch = 1;        // ns that a small dispatch takes, with the barrier before it

  double multiply_adds() const { return processors * f32; }  // per ns, of the device in f32
  // About `per_processor` work groups for each processor: the largest power of two that is not more.
  uint32_t busy_groups(uint32_t per_processor) const;
  bool operator==(const DeviceRates&) const = default;
};

// What is assumed of a device that was not measured. A discrete GPU has the rates of an NVIDIA H200 for each
// of its processors; other kinds have rates of their own, on the slow side.
DeviceRates default_rates(const PhysicalDevice&);

// The file of measured rates, as a text of one line. A damaged or implausible file counts as none.
std::optional<DeviceRates> load_rates(const DeviceFile&);
bool save_rates(const DeviceRates&, const DeviceFile&) noexcept;

// "measured rates (1a2b3c4d)", with a checksum: runs with equal marks choose equal plans.
std::string mark(const DeviceRates&);
// "132 processors, 3.9 TB/s, 42 TFLOP/s in f32": of the device, for people.
std::string describe(const DeviceRates&);

}  // namespace lunagrad::gpu
