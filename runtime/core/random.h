#pragma once
// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy
// as 1, 2, 3", SC 2011). A draw is a pure function of (seed, stream, element index), so every device gives
// the same numbers and a step can be replayed. A Generator gives each op a stream; it belongs to a context.
#include <array>
#include <cstdint>

namespace lunagrad {

using PhiloxBlock = std::array<uint32_t, 4>;

// The block of four 32-bit words at `counter` of stream `stream`, under key `seed`.
PhiloxBlock philox(uint64_t seed, uint64_t stream, uint64_t counter);

// The draw of one op: element i takes word i % 4 of block i / 4 of stream `stream`.
struct RandomDraw {
  uint64_t seed = 0;
  uint64_t stream = 0;
};

class Generator {
 public:
  explicit Generator(uint64_t seed = 0) : seed_(seed) {}
  void seed(uint64_t value) {
    seed_ = value;
    stream_ = 0;
  }
  RandomDraw draw() { return {seed_, stream_++}; }  // each op gets a new stream
  uint64_t seed() const { return seed_; }
  uint64_t stream() const { return stream_; }
  void restore(uint64_t seed, uint64_t stream) {
    seed_ = seed;
    stream_ = stream;
  }
  bool operator==(const Generator&) const = default;

 private:
  uint64_t seed_;
  uint64_t stream_ = 0;
};

// Uniform in [0, 1). f32 uses the upper 24 bits of a word, f64 the upper 53 bits of two words.
inline float uniform_f32(uint32_t word) { return float(word >> 8) * 0x1p-24f; }
inline double uniform_f64(uint32_t high, uint32_t low) {
  return double(((uint64_t(high) << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace lunagrad
