#pragma once
// Sorting by keys. An element becomes an entry: its key, an unsigned number with the same order, and its
// index. Among equal keys the lower index comes first, so every order is stable. Pure functions, any thread.
#include <bit>
#include <cstdint>
#include <type_traits>

namespace lunagrad {

// Maps elements to unsigned numbers with the same order; both zeros are equal, and every NaN is the largest.
template <class T>
auto sort_key(T x) {
  using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Key kSign = Key(1) << (sizeof(Key) * 8 - 1);
  if constexpr (std::is_floating_point_v<T>) {
    // Without branches. Adding 0 makes -0 positive.
    const Key bits = std::bit_cast<Key>(x + T(0));
    const Key flipped = Key(std::make_signed_t<Key>(bits) >> (sizeof(Key) * 8 - 1)) | kSign;
    return x != x ? Key(~Key(0)) : Key(bits ^ flipped);
  } else if constexpr (std::is_signed_v<T>) {
    return Key(Key(x) ^ kSign);
  } else {
    return Key(x);
  }
}

// A key of 32 bits above an index of 32 bits: one integer comparison orders two entries.
struct Packed {
  uint64_t bits;
  static Packed of(uint64_t key, int64_t place) { return {key << 32 | uint64_t(place)}; }
  uint32_t key() const { return uint32_t(bits >> 32); }
  int64_t place() const { return int64_t(bits & 0xffffffff); }
  friend bool operator<(Packed a, Packed b) { return a.bits < b.bits; }
};

// A key of 64 bits and an index.
struct Keyed {
  uint64_t value;
  int64_t index;
  static Keyed of(uint64_t key, int64_t place) { return {key, place}; }
  uint64_t key() const { return value; }
  int64_t place() const { return index; }
  friend bool operator<(const Keyed& a, const Keyed& b) {
    return a.value != b.value ? a.value < b.value : a.index < b.index;
  }
};

// Sorts n entries, which are in the order of their indices. scratch has room for n. Error(cancelled) on a
// stop.
void sort_entries(Packed* entries, Packed* scratch, int64_t n);
void sort_entries(Keyed* entries, Keyed* scratch, int64_t n);

}  // namespace lunagrad
