#pragma once
// Sorting by keys. Elements of at most 32 bits become the upper half of a 64-bit key whose lower half is
// their place, so that one comparison of integers orders them and equal ones keep their order. Pure
// functions, any thread.
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace lunagrad {

// Unsigned numbers in the order of the elements: zeros of both signs are equal, every NaN is the largest.
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

// Puts n keys in the order of their upper halves; equal ones stay in order. scratch holds n numbers.
void sort_upper_halves(uint64_t* keys, uint64_t* scratch, int64_t n);

}  // namespace lunagrad
