#pragma once
// A hash of numbers and strings that is the same in every process, to compare structures from step to step.
// Each word is mixed by the finalizer of splitmix64 (Steele, Lea, Flood 2014).
#include <cstdint>
#include <cstring>
#include <string_view>

namespace lunagrad {

class Hash {
 public:
  void add(uint64_t value) {
    uint64_t z = state_ ^ value;
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    state_ = z ^ z >> 31;
  }
  void add(std::string_view text) {
    add(uint64_t(text.size()));
    for (; text.size() >= 8; text.remove_prefix(8)) add(word(text, 8));
    if (!text.empty()) add(word(text, text.size()));
  }
  uint64_t value() const { return state_; }

 private:
  static uint64_t word(std::string_view text, size_t bytes) {
    uint64_t value = 0;
    std::memcpy(&value, text.data(), bytes);
    return value;
  }
  uint64_t state_ = 0;
};

template <class... Parts>
uint64_t hash_of(const Parts&... parts) {
  Hash hash;
  (hash.add(parts), ...);
  return hash.value();
}

}  // namespace lunagrad
