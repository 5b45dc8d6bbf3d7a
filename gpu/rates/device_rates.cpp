#include "gpu/rates/device_rates.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <exception>
#include <sstream>
#include <thread>

namespace lunagrad::gpu {
namespace {

constexpr const char* kFirstWord = "rates1";  // changes when the meaning of the numbers changes

// Assumed number of processors of a device that does not report it.
uint32_t default_processors(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 32;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return std::max(1u, std::thread::hardware_concurrency());
    default:
      return 8;
  }
}

std::string content_of(const DeviceRates& rates) {
  std::ostringstream text;
  text.imbue(std::locale::classic());  // whatever std::locale::global() is
  text.precision(17);
  text << kFirstWord << ' ' << rates.processors << ' ' << rates.bytes << ' ' << rates.f32 << ' '
       << rates.matrix_units << ' ' << rates.launch << '\n';
  return std::move(text).str();
}

bool plausible(const DeviceRates& rates) {
  const auto within = [](double x, double low, double high) { return x >= low && x <= high; };
  return rates.processors >= 1 && rates.processors <= 1 << 16 && within(rates.bytes, 1e-3, 1e6) &&
         within(rates.f32, 1e-3, 1e6) && within(rates.matrix_units, 1e-3, 1e7) &&
         within(rates.launch, 1, 1e9);
}

}  // namespace

uint32_t DeviceRates::busy_groups(uint32_t per_processor) const {
  return std::bit_floor(std::max(1u, processors * per_processor));
}

DeviceRates default_rates(const PhysicalDevice& physical) {
  const uint32_t processors = physical.processors ? physical.processors : default_processors(physical.type);
  switch (physical.type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      // Measured on an NVIDIA H200 with 132 processors, divided by their number.
      return {processors, 4000.0 / 132 * processors, 160, 1250, 3000};
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      // The rate of all processors together is fixed, since hardware threads share arithmetic units.
      return {processors, 8, 42.0 / processors, 42.0 / processors, 20000};
    default:
      return {processors, 160, 100, 800, 5000};
  }
}

DeviceFile rates_file(const PhysicalDevice& physical) { return {"rates", physical.properties()}; }

std::optional<DeviceRates> load_rates(const DeviceFile& file) {
  const std::vector<std::byte> content = file.load();
  std::istringstream in(std::string(reinterpret_cast<const char*>(content.data()), content.size()));
  in.imbue(std::locale::classic());
  std::string first;
  DeviceRates rates;
  in >> first >> rates.processors >> rates.bytes >> rates.f32 >> rates.matrix_units >> rates.launch;
  if (!in || first != kFirstWord || !plausible(rates)) return std::nullopt;
  return rates;
}

bool save_rates(const DeviceRates& rates, const DeviceFile& file) noexcept {
  try {
    const std::string content = content_of(rates);
    return file.save(std::as_bytes(std::span(content)));
  } catch (const std::exception&) {
    return false;
  }
}

std::string mark(const DeviceRates& rates) {
  const std::string content = content_of(rates);
  char words[32];
  std::snprintf(words, sizeof words, "measured rates (%08x)",
                uint32_t(checksum(std::as_bytes(std::span(content)))));
  return words;
}

std::string describe(const DeviceRates& rates) {
  char words[128];
  std::snprintf(words, sizeof words, "%u processor%s, %.3g GB/s, %.3g GFLOP/s in f32", rates.processors,
                rates.processors == 1 ? "" : "s", rates.bytes, 2 * rates.multiply_adds());
  return words;
}

}  // namespace lunagrad::gpu
