#include "script/leaks/owner_past.h"

#include <algorithm>

namespace lunagrad {

void OwnerPast::add(int64_t step, int64_t count, int64_t oldest) {
  constexpr size_t kMost = 128;
  most_ = std::max(most_, count);
  emptied_ |= 2 * count < most_;
  if (counts_.size() == kMost) {  // keeps every second count, including the first
    for (size_t i = 1; 2 * i < kMost; ++i) counts_[i] = counts_[2 * i];
    counts_.resize(kMost / 2);
  }
  counts_.push_back({step, count, oldest});
}

bool OwnerPast::carries(const std::unordered_set<uint64_t>& nodes) const {
  return std::any_of(ends.begin(), ends.end(), [&](uint64_t node) { return nodes.contains(node); });
}

int64_t OwnerPast::growing_since() const {
  if (counts_.empty()) return 0;
  size_t from = counts_.size() - 1;
  while (from > 0 && counts_[from - 1].count <= counts_[from].count) --from;
  while (from + 1 < counts_.size() && counts_[from + 1].count == counts_[from].count) ++from;
  return counts_[from].count < counts_.back().count ? counts_[from].step : 0;
}

bool OwnerPast::grows() const {
  if (counts_.size() < 2) return false;
  const Count &first = counts_.front(), &now = counts_.back();
  // The first walk in the second half of its life, or else the walk before this one: the walks may be few.
  const int64_t middle = (first.step + now.step) / 2;
  const auto before = std::find_if(counts_.begin(), counts_.end() - 2,
                                   [&](const Count& count) { return count.step >= middle; });
  return now.oldest == first.oldest && now.count > before->count;
}

}  // namespace lunagrad
