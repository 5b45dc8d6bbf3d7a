#pragma once
// A divisor for integer divisions in shaders (gpu/ops/glsl/divisor.glsl). Pure values.
#include <bit>
#include <cstdint>

namespace lunagrad::gpu {

// Divides numbers below 2^31. `by` is at least 1.
struct Divisor {
  uint32_t factor = 0, shift = 0;
  Divisor() = default;
  explicit Divisor(uint32_t by) : shift(uint32_t(std::bit_width(by - 1))) {
    factor = uint32_t((uint64_t(1) << 32) * ((uint64_t(1) << shift) - by) / by + 1);
  }
};

}  // namespace lunagrad::gpu
