#pragma once
// The first elements in sorted order, without sorting the others: for topk, median and kthvalue. Entries and
// their order are as in sort.h, so the result is the same for any number of threads. Any thread.
//
// A few of many elements are found in one pass that compares each with the last of the best so far. Otherwise
// the range of the keys is divided into equal buckets, and only the elements of the bucket with the wanted
// position are divided again. This takes at most a few passes for any elements.
#include <algorithm>
#include <bit>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/pieces.h"
#include "runtime/ops/index/cpu/sort.h"

namespace lunagrad {

// Memory for n entries, which are not cleared: clearing alone would take longer than a stop may. A few
// entries need no allocation. Owned by one thread.
template <class Entry>
class EntryRoom {
 public:
  explicit EntryRoom(int64_t n) : heap_(n > kNear ? new Entry[size_t(n)] : nullptr) {}
  Entry* data() { return heap_ ? heap_.get() : near_; }

 private:
  static constexpr int64_t kNear = 128;
  std::unique_ptr<Entry[]> heap_;
  Entry near_[kNear];
};

namespace selection {

constexpr int64_t kFew = 512;         // up to this many entries are partitioned by comparisons
constexpr int64_t kShare = 100;       // one pass finds up to one in kShare of the elements
constexpr int64_t kInserted = 32;     // up to this many found by one pass are kept sorted
constexpr int64_t kBlock = 1 << 15;   // elements that a thread reads at a time
constexpr int64_t kMostBlocks = 256;  // each block has its own counts

// Brings the first k of n entries to the front.
template <class Entry>
void partition(Entry* entries, int64_t k, int64_t n) {
  if (k <= 0 || k >= n) return;
  if (n <= kStopPiece)
    std::nth_element(entries, entries + k - 1, entries + n);
  else
    std::nth_element(entries, entries + k - 1, entries + n, stoppable(std::less<Entry>()));
}

// How n elements are divided among threads. It depends on n alone.
struct Blocks {
  int64_t n, size, count;
  explicit Blocks(int64_t n, int64_t least = kBlock)
      : n(n), size(std::max({least, (n + kMostBlocks - 1) / kMostBlocks})), count((n + size - 1) / size) {}
  // Calls f(block, begin, end) for each block, on all threads.
  template <class F>
  void each(F&& f) const {
    parallel_for(count, 1, [&](int64_t first, int64_t last) {
      for (int64_t block = first; block < last; ++block) {
        context().check_stop();
        f(block, block * size, std::min(n, (block + 1) * size));
      }
    });
  }
};

// --- few of many ---

// Entries to hold while one pass looks for the first k. A small k holds only these, sorted.
inline int64_t room_for(int64_t k) { return k <= kInserted ? k + 1 : 2 * k; }

// Inserts an entry in sorted order. When there are k already, the last one is dropped.
template <class Entry>
int64_t insert(Entry entry, Entry* held, int64_t count, int64_t k) {
  int64_t at = count;
  for (; at > 0 && entry < held[at - 1]; --at) held[at] = held[at - 1];
  held[at] = entry;
  return std::min(count + 1, k);
}

// Adds the elements [begin, end) to the `count` held entries, which have earlier indices, and keeps the first
// k. Elements with keys of `limit` or more are skipped. Returns the number of held entries.
template <class Entry, class Key, class KeyAt>
int64_t keep_first(int64_t begin, int64_t end, int64_t k, Key limit, KeyAt&& key_at, Entry* held,
                   int64_t count) {
  const int64_t room = room_for(k);
  in_pieces(end - begin, [&](int64_t from, int64_t to) {
    for (int64_t i = begin + from; i < begin + to; ++i) {
      const Key key = key_at(i);
      if (key >= limit) continue;  // an equal key comes after k others
      if (k <= kInserted) {
        count = insert(Entry::of(key, i), held, count, k);
      } else {
        held[count++] = Entry::of(key, i);
        if (count < room) continue;
        partition(held, k, count);
        count = k;
      }
      if (count == k) limit = held[k - 1].key();
    }
  });
  partition(held, k, count);
  return std::min(k, count);
}

// Writes the first k of n elements, in any order, to `out`. 0 < k < n.
template <class Entry, class KeyAt>
void few_first(int64_t n, int64_t k, KeyAt&& key_at, Entry* out) {
  const Blocks blocks(n, std::max(kBlock, 32 * k));
  EntryRoom<Entry> memory(room_for(k));
  Entry* const held = memory.data();
  for (int64_t i = 0; i < k; ++i) held[i] = Entry::of(key_at(i), i);
  if (k <= kInserted) std::sort(held, held + k);
  const auto first_limit = std::max_element(held, held + k)->key();
  keep_first(k, std::min(n, blocks.size), k, first_limit, key_at, held, k);
  std::copy_n(held, k, out);
  if (blocks.count == 1) return;
  // The first block's limit holds for the others: their elements with the same key come later.
  const auto limit = std::max_element(held, held + k)->key();
  std::vector<Entry> best(held, held + k);
  std::mutex mutex;
  blocks.each([&](int64_t block, int64_t begin, int64_t end) {
    if (block == 0) return;
    EntryRoom<Entry> room(room_for(k));
    const int64_t count = keep_first(begin, end, k, limit, key_at, room.data(), 0);
    const std::lock_guard lock(mutex);
    best.insert(best.end(), room.data(), room.data() + count);
  });
  partition(best.data(), k, int64_t(best.size()));
  std::copy_n(best.data(), k, out);
}

// --- by buckets ---

template <class Key>
struct Division {
  Key low = 0;
  int shift = 0;
  size_t buckets = 1;
  size_t of(Key key) const { return size_t((key - low) >> shift); }
};

// Divides the range from the smallest to the largest key into equal buckets.
template <class Key, class KeyAt>
Division<Key> divide(const Blocks& blocks, KeyAt&& key_at) {
  Key low = ~Key(0), high = 0;
  std::mutex mutex;
  blocks.each([&](int64_t, int64_t begin, int64_t end) {
    constexpr int kSide = 4;  // independent comparisons
    Key least[kSide], most[kSide];
    for (int j = 0; j < kSide; ++j) least[j] = most[j] = key_at(begin);
    int64_t i = begin;
    for (; i + kSide <= end; i += kSide)
      for (int j = 0; j < kSide; ++j) {
        const Key key = key_at(i + j);
        least[j] = std::min(least[j], key);
        most[j] = std::max(most[j], key);
      }
    for (; i < end; ++i) {
      least[0] = std::min(least[0], key_at(i));
      most[0] = std::max(most[0], key_at(i));
    }
    const std::lock_guard lock(mutex);
    low = std::min(low, *std::min_element(least, least + kSide));
    high = std::max(high, *std::max_element(most, most + kSide));
  });
  const int bits = blocks.n <= 4 * kFew ? 8 : 11;
  const int shift = std::max(0, int(std::bit_width(Key(high - low))) - bits);
  return {low, shift, size_t((high - low) >> shift) + 1};
}

// Finds the bucket of position k (from 0) among n elements. Appends the elements of this bucket to `inside`,
// and unless `before` is null the elements of earlier buckets to *before, both in their order. Returns the
// number of elements in earlier buckets.
template <class Entry, class KeyAt, class EntryAt>
int64_t split(int64_t n, int64_t k, KeyAt&& key_at, EntryAt&& entry_at, Entry* before,
              std::unique_ptr<Entry[]>& inside, int64_t& inside_count) {
  using Key = decltype(key_at(int64_t(0)));
  const Blocks blocks(n);
  const Division<Key> division = divide<Key>(blocks, key_at);
  std::vector<uint32_t> counts(size_t(blocks.count) * division.buckets);
  blocks.each([&](int64_t block, int64_t begin, int64_t end) {
    uint32_t* const own = counts.data() + size_t(block) * division.buckets;
    for (int64_t i = begin; i < end; ++i) ++own[division.of(key_at(i))];
  });
  size_t wanted = 0;
  int64_t passed = 0;
  for (;; ++wanted) {
    inside_count = 0;
    for (int64_t block = 0; block < blocks.count; ++block)
      inside_count += counts[size_t(block) * division.buckets + wanted];
    if (k < passed + inside_count) break;
    passed += inside_count;
  }
  // The offsets at which each block writes its elements.
  std::vector<std::pair<int64_t, int64_t>> starts(size_t(blocks.count) + 1);
  for (int64_t block = 0; block < blocks.count; ++block) {
    const uint32_t* const own = counts.data() + size_t(block) * division.buckets;
    auto [first, second] = starts[size_t(block)];
    for (size_t bucket = 0; bucket < wanted; ++bucket) first += own[bucket];
    starts[size_t(block) + 1] = {first, second + own[wanted]};
  }
  inside.reset(new Entry[size_t(inside_count)]);
  blocks.each([&](int64_t block, int64_t begin, int64_t end) {
    Entry *to_before = before ? before + starts[size_t(block)].first : nullptr,
          *to_inside = inside.get() + starts[size_t(block)].second;
    // Half of the elements may be before the bucket, in a pattern that no branch predictor could follow.
    constexpr int64_t kTogether = 256;
    int64_t chosen[kTogether];
    for (; begin < end; begin += kTogether) {
      const int64_t stop = std::min(end, begin + kTogether);
      int64_t count = 0;
      for (int64_t i = begin; i < stop; ++i) {
        const size_t bucket = division.of(key_at(i));
        chosen[count] = i;
        count += before ? bucket <= wanted : bucket == wanted;
      }
      for (int64_t j = 0; j < count; ++j) {
        const Entry entry = entry_at(chosen[j]);
        if (!before || division.of(Key(entry.key())) == wanted)
          *to_inside++ = entry;
        else
          *to_before++ = entry;
      }
    }
  });
  return passed;
}

// The entry at position k (from 0) of n elements. Unless `first` is null, also writes the first k + 1 entries
// to it; entries with equal keys are in the order of their indices.
template <class Entry, class KeyAt>
Entry find(int64_t n, int64_t k, KeyAt&& key_at, Entry* first) {
  std::unique_ptr<Entry[]> entries;
  int64_t count = n;
  const auto take = [&](int64_t passed) {
    if (first) first += passed;
    k -= passed;
  };
  if (n <= kFew) {
    entries.reset(new Entry[size_t(n)]);
    for (int64_t i = 0; i < n; ++i) entries[size_t(i)] = Entry::of(key_at(i), i);
  } else {
    const auto entry_at = [&](int64_t i) { return Entry::of(key_at(i), i); };
    take(split<Entry>(n, k, key_at, entry_at, first, entries, count));
  }
  while (count > kFew) {
    const std::unique_ptr<Entry[]> all = std::move(entries);
    const auto entry = [&](int64_t i) { return all[size_t(i)]; };
    const auto key = [&](int64_t i) { return all[size_t(i)].key(); };
    const int64_t before = count;
    take(split<Entry>(before, k, key, entry, first, entries, count));
    // All keys are equal: the entries are in the order of their indices already.
    if (count == before) break;
  }
  Entry* const rest = entries.get();
  if (count <= kFew && first)
    std::sort(rest, rest + count);
  else if (count <= kFew)
    std::nth_element(rest, rest + k, rest + count);
  if (first) std::copy_n(rest, k + 1, first);
  return rest[k];
}

}  // namespace selection

// Writes the entries of the first k of n elements, 0 < k < n, sorted to `out`; key_at(i) is the key of
// element i. scratch has room for k.
template <class Entry, class KeyAt>
void select_first(int64_t n, int64_t k, KeyAt&& key_at, Entry* out, Entry* scratch) {
  if (k > n / selection::kShare) {
    selection::find(n, k - 1, key_at, out);
    return sort_entries(out, scratch, k);
  }
  selection::few_first(n, k, key_at, out);
  if (k <= kStopPiece)
    std::sort(out, out + k);
  else
    std::sort(out, out + k, stoppable(std::less<Entry>()));
}

// The entry of the element at position k (from 0) in sorted order.
template <class Entry, class KeyAt>
Entry select_place(int64_t n, int64_t k, KeyAt&& key_at) {
  if (k >= n / selection::kShare) return selection::find<Entry>(n, k, key_at, nullptr);
  EntryRoom<Entry> first(k + 1);
  selection::few_first(n, k + 1, key_at, first.data());
  return *std::max_element(first.data(), first.data() + k + 1);
}

}  // namespace lunagrad
