#include "gpu/ops/index/sorted_indices.h"

#include <algorithm>
#include <bit>

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostEntries = 8;
constexpr uint64_t kMostKeys = 1 << 24;  // of all entries, which have 8 bytes for each: 128 MiB

// Bits that differ among the keys of rows. An index out of range has the key `size`, which may be sorted
// anywhere, since the results are refused.
uint32_t key_bits(uint64_t size) { return uint32_t(std::bit_width(size - 1)); }

bool ascends(const IndexedRows& rows) {
  const Range& range = range_of(rows.index);
  return range.ascending_epoch > 0 && range.ascending_epoch == range.written_epoch &&
         range.ascending_upload == range.upload && rows.index.ndim() == 1 && rows.index.is_contiguous();
}

}  // namespace

void note_ascending(const Tensor& x) {
  Range& range = range_of(x);
  range.ascending_epoch = range.written_epoch;
  range.ascending_upload = range.upload;
}

SortedIndices::Source SortedIndices::source_of(const IndexedRows& rows) {
  const Tensor& index = rows.index;
  const Range& range = range_of(index);
  return {&range,        address_of(index), range.written_epoch, range.upload, index.dtype(),
          index.shape(), index.strides(),   rows.strides,        rows.dim,     rows.choices,
          rows.size};
}

std::shared_ptr<const SortedKeys> SortedIndices::sorted(const IndexedRows& rows, Recorder& recorder) {
  const Source source = source_of(rows);
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.source == source; });
  if (found != entries_.end()) {
    if (!found->keys->keys().range()->spoiled) {
      entries_.splice(entries_.begin(), entries_, found);
      return found->keys;
    }
    entries_.erase(found);
  }
  std::erase_if(entries_, [&](const Entry& entry) { return entry.source.older_than(source); });
  const auto keys =
      std::make_shared<SortedKeys>(uint32_t(rows.count()), ascends(rows) ? 0 : key_bits(rows.size), recorder);
  write_keys(rows, keys->unsorted(), recorder);
  keys->sort(recorder);
  keep({source, keys, rows.count()});
  return keys;
}

void SortedIndices::keep_written(const Tensor& index, uint64_t size, std::shared_ptr<const SortedKeys> keys) {
  const IndexedRows rows = slices_of({int64_t(size)}, index, 0, FaultKind::none);
  keep({source_of(rows), std::move(keys), rows.count()});
}

void SortedIndices::keep(Entry entry) {
  if (entry.count > kMostKeys) return;
  entries_.push_front(std::move(entry));
  uint64_t count = 0;
  size_t kept = 0;
  auto last = entries_.begin();
  while (last != entries_.end() && kept < kMostEntries && (count += last->count) <= kMostKeys) ++last, ++kept;
  entries_.erase(last, entries_.end());
}

void SortedIndices::forget(const Range* range) noexcept {
  entries_.remove_if([&](const Entry& entry) { return entry.source.range == range; });
}

}  // namespace lunagrad::gpu
