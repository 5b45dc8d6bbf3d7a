#include "gpu/ops/unit_operands.h"

#include <algorithm>

namespace lunagrad::gpu {
namespace {

constexpr size_t kMostEntries = 4, kMostBytes = size_t(256) << 20;  // of all copies

}  // namespace

UnitOperands::Source UnitOperands::source_of(const Tensor& x, DType unit_type, UnitLayout layout) {
  const Range& range = range_of(x);
  return {&range, address_of(x), range.written_epoch, range.upload, x.dtype(), unit_type, std::move(layout)};
}

const UnitOperand* UnitOperands::find(const Source& source) {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.source == source; });
  if (found == entries_.end()) return nullptr;
  if (range_of(found->copy.tensor).spoiled) {
    drop([&](const Entry& entry) { return entry.source == source; });
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, found);
  return &entries_.front().copy;
}

// Freeing a copy calls forget(), so entries leave the list first.
template <class Choose>
void UnitOperands::drop(Choose choose) noexcept {
  std::list<Entry> gone;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto entry = at++;
    if (choose(*entry)) gone.splice(gone.end(), entries_, entry);
  }
}
void UnitOperands::forget(const Range* range) noexcept {
  drop([&](const Entry& entry) { return entry.source.range == range; });
}
void UnitOperands::clear() noexcept {
  drop([](const Entry&) { return true; });
}

void UnitOperands::keep(Entry entry) {
  if (entry.bytes > kMostBytes) return;
  entries_.push_front(std::move(entry));
  size_t bytes = 0, count = 0;
  drop([&](const Entry& kept) { return ++count > kMostEntries || (bytes += kept.bytes) > kMostBytes; });
}

}  // namespace lunagrad::gpu
