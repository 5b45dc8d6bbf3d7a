#include "runtime/cpu/sort.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/cpu/pieces.h"

namespace lunagrad {
namespace {

constexpr int64_t kFew = 128;    // up to this many keys: a comparison sort instead of a radix sort
constexpr int64_t kMany = 4096;  // from this many keys: digits of 11 bits

// LSD radix sort: for each digit, from the lowest, counts its values and moves every key after the smaller
// ones. Skips a digit that is equal in all keys.
template <int kBits>
void radix_sort(uint64_t* keys, uint64_t* scratch, int64_t n) {
  constexpr int kDigits = (32 + kBits - 1) / kBits;
  constexpr uint64_t kMask = (uint64_t(1) << kBits) - 1;
  const auto digit_of = [](uint64_t key, int digit) { return size_t(key >> (32 + digit * kBits) & kMask); };
  uint32_t counts[kDigits][size_t(kMask) + 1] = {};
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(keys[i], digit)];
  });
  uint64_t *from = keys, *to = scratch;
  for (int digit = 0; digit < kDigits; ++digit) {
    uint32_t* places = counts[digit];
    if (int64_t(places[digit_of(from[0], digit)]) == n) continue;
    uint32_t before = 0;
    for (size_t value = 0; value <= kMask; ++value) before += std::exchange(places[value], before);
    in_pieces(n, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[places[digit_of(from[i], digit)]++] = from[i];
    });
    std::swap(from, to);
  }
  if (from != keys) std::memcpy(keys, from, size_t(n) * sizeof(uint64_t));
}

}  // namespace

void sort_upper_halves(uint64_t* keys, uint64_t* scratch, int64_t n) {
  if (n < kFew)
    std::stable_sort(keys, keys + n, [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
  else if (n < kMany)
    radix_sort<8>(keys, scratch, n);
  else
    radix_sort<11>(keys, scratch, n);
}

}  // namespace lunagrad
