#pragma once
// The entries of the last few index tensors in the order of the rows that they select. Forward and backward
// passes and the layers of a model reduce by the same index again and again, and sorting it takes most of the
// time. An entry is found again while the bytes of the index are the same: the stream stamps each write to a
// range (Range::written_epoch, Range::upload), also of writes that no tensor's version counts, such as those
// of captured graphs. The memory counts as memory in use. It is freed with the index, when the index has
// changed and is sorted again, and before an allocation fails. Indices that a kernel writes in ascending
// order need no sort. Not thread-safe: the device's lock guards it.
#include <list>
#include <memory>

#include "gpu/ops/index/indexed_rows.h"
#include "gpu/ops/index/radix.h"

namespace lunagrad::gpu {

// Notes that the kernel that was recorded last writes this contiguous tensor's integers in ascending order.
void note_ascending(const Tensor&);

class SortedIndices final : public KeptMemory {
 public:
  // The keys of the rows (write_keys()), sorted. Faults are noted when the index is sorted. What depends on a
  // faulty call is refused, so these keys are not found again.
  std::shared_ptr<const SortedKeys> sorted(const IndexedRows&, Recorder&);
  // Keeps the keys that the kernel that was recorded last wrote, beside this index of one dim in ascending
  // order that selects among `size` slices.
  void keep_written(const Tensor& index, uint64_t size, std::shared_ptr<const SortedKeys>);
  // The range is about to be freed.
  void forget(const Range*) noexcept;
  void clear() noexcept override { entries_.clear(); }

 private:
  // What the keys follow from.
  struct Source {
    const Range* range;
    uint64_t address, written_epoch, upload;
    DType type;
    Shape shape;
    Strides index_strides, strides;
    int dim;
    int64_t choices;
    uint64_t size;
    bool operator==(const Source&) const = default;
    bool older_than(const Source& other) const {
      return range == other.range && (written_epoch != other.written_epoch || upload != other.upload);
    }
  };
  struct Entry {
    Source source;
    std::shared_ptr<const SortedKeys> keys;
    uint64_t count;
  };
  static Source source_of(const IndexedRows&);
  void keep(Entry);

  std::list<Entry> entries_;  // the last used one first
};

}  // namespace lunagrad::gpu
