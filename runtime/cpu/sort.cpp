#include "runtime/cpu/sort.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "runtime/cpu/pieces.h"

namespace lunagrad {
namespace {

constexpr int64_t kFew = 128;    // up to this many keys: a comparison sort instead of a radix sort
constexpr int64_t kMany = 4096;  // from this many keys: digits of 11 bits

// LSD radix sort of the bits from `first` on of the keys: for each digit, from the lowest, counts its values
// and moves every element after those with smaller ones. Skips a digit that is equal in all keys.
template <int kBits, int kFirst, class Element, class KeyOf>
void radix_sort(Element* elements, Element* scratch, int64_t n, KeyOf key_of) {
  constexpr int kDigits = (64 - kFirst + kBits - 1) / kBits;
  constexpr uint64_t kMask = (uint64_t(1) << kBits) - 1;
  const auto digit_of = [=](const Element& element, int digit) {
    return size_t(key_of(element) >> (kFirst + digit * kBits) & kMask);
  };
  uint32_t counts[kDigits][size_t(kMask) + 1] = {};
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(elements[i], digit)];
  });
  Element *from = elements, *to = scratch;
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
  if (from != elements) std::memcpy(elements, from, size_t(n) * sizeof(Element));
}

}  // namespace

void sort_upper_halves(uint64_t* keys, uint64_t* scratch, int64_t n) {
  const auto itself = [](uint64_t key) { return key; };
  if (n < kFew)
    std::stable_sort(keys, keys + n, [](uint64_t a, uint64_t b) { return a >> 32 < b >> 32; });
  else if (n < kMany)
    radix_sort<8, 32>(keys, scratch, n, itself);
  else
    radix_sort<11, 32>(keys, scratch, n, itself);
}

void sort_keyed(Keyed* elements, Keyed* scratch, int64_t n) {
  const auto key = [](const Keyed& element) { return element.key; };
  if (n < kFew || n > std::numeric_limits<uint32_t>::max())
    std::sort(elements, elements + n, stoppable([](const Keyed& a, const Keyed& b) {
                return a.key != b.key ? a.key < b.key : a.place < b.place;
              }));
  else if (n < kMany)
    radix_sort<8, 0>(elements, scratch, n, key);
  else
    radix_sort<11, 0>(elements, scratch, n, key);
}

}  // namespace lunagrad
