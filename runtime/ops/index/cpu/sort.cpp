#include "runtime/ops/index/cpu/sort.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "runtime/cpu/pieces.h"

namespace lunagrad {
namespace {

constexpr int64_t kFew = 128;    // up to this many keys: a comparison sort instead of a radix sort
constexpr int64_t kMany = 4096;  // from this many keys: digits of 11 bits

// LSD radix sort: for each digit of the key, from the lowest, counts its values and moves every entry behind
// the entries with smaller values. Skips a digit that is equal in all keys.
template <int kBits, class Entry>
void radix_sort(Entry* entries, Entry* scratch, int64_t n) {
  constexpr int kDigits = (int(sizeof(Entry{}.key())) * 8 + kBits - 1) / kBits;
  constexpr uint64_t kMask = (uint64_t(1) << kBits) - 1;
  const auto digit_of = [](const Entry& entry, int digit) {
    return size_t(entry.key() >> (digit * kBits) & kMask);
  };
  uint32_t counts[kDigits][size_t(kMask) + 1] = {};
  in_pieces(n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][digit_of(entries[i], digit)];
  });
  Entry *from = entries, *to = scratch;
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
  if (from != entries) std::memcpy(entries, from, size_t(n) * sizeof(Entry));
}

template <class Entry>
void sort_any(Entry* entries, Entry* scratch, int64_t n) {
  if (n < kFew)
    std::sort(entries, entries + n);
  else if (n > std::numeric_limits<uint32_t>::max())
    std::sort(entries, entries + n, stoppable(std::less<Entry>()));
  else if (n < kMany)
    radix_sort<8>(entries, scratch, n);
  else
    radix_sort<11>(entries, scratch, n);
}

}  // namespace

void sort_entries(Packed* entries, Packed* scratch, int64_t n) { sort_any(entries, scratch, n); }
void sort_entries(Keyed* entries, Keyed* scratch, int64_t n) { sort_any(entries, scratch, n); }

}  // namespace lunagrad
