#pragma once
// Squares of numbers near the ends of a type's range are infinite or 0 although their root is neither.
// Kernels check a sum or mean of squares of T. If it is out of range, they compute it again from the numbers
// times a power of two. This product is exact, so nothing else changes. Pure; any thread.
#include <cmath>
#include <limits>

namespace lunagrad {

template <class T>
struct SquareRange {
  static constexpr bool kSingle = sizeof(T) == 4;
  static constexpr double kLeast = kSingle ? 0x1p-90 : 0x1p-800;
  // Factors for large and for small numbers, with which no sum of squares overflows or vanishes.
  static constexpr T kDown = kSingle ? T(0x1p-90) : T(0x1p-750), kUp = kSingle ? T(0x1p80) : T(0x1p700);

  static bool holds(double square) {
    return square >= kLeast && square <= double(std::numeric_limits<T>::max());
  }
  // The power of two for numbers whose square is not in range; NaN stands for an overflow.
  static T factor(double square) { return square < kLeast ? kUp : kDown; }
};

}  // namespace lunagrad
