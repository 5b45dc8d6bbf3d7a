#pragma once
// Sorting by keys. An element of at most 32 bits becomes the upper half of a 64-bit key; the lower half is
// its index. So one integer comparison orders two elements, and the sort is stable. Pure functions, any
// thread.
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lunagrad {

// Maps elements to unsigned numbers with the same order; both zeros are equal, and every NaN is the largest.
template <class T>
auto sort_key(T x) {
  using Key = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  constexpr Key kSign = Key(1) << (sizeof(Key) * 8 - 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(x)) return Key(~Key(0));
    const Key bits = std::bit_cast<Key>(x == 0 ? T(0) : x);
    return Key(bits & kSign ? ~bits : bits | kSign);
  } else if constexpr (std::is_signed_v<T>) {
    return Key(Key(x) ^ kSign);
  } else {
    return Key(x);
  }
}

// An element of 64 bits and where it was.
struct Keyed {
  uint64_t key;
  int64_t place;
};
// Stable sort of n such elements, which are in the order of their places. scratch has room for n.
// Error(cancelled) on a stop.
void sort_keyed(Keyed* elements, Keyed* scratch, int64_t n);

// Stable sort of n keys by their upper halves. scratch has room for n numbers. Error(cancelled) on a stop.
void sort_upper_halves(uint64_t* keys, uint64_t* scratch, int64_t n);

}  // namespace lunagrad
