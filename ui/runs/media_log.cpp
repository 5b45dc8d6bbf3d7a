#include "ui/runs/media_log.h"

#include <algorithm>

namespace lunagrad {

void MediaLog::clear() {
  series_.clear();
  bytes_ = 0;
  ++revision_;
}

void MediaLog::add(const Event& event) {
  auto found = std::find_if(series_.begin(), series_.end(), [&](const MediaSeries& series) {
    return series.kind == event.kind && series.name == event.media->name;
  });
  if (found == series_.end())
    found = series_.insert(series_.end(), {event.kind, event.media->name, {}, 0, 0});
  const size_t bytes = event.media->bytes();
  found->entries.push_back({event.step, event.time, event.media});
  found->bytes += bytes;
  bytes_ += bytes;
  ++revision_;
  while (bytes_ > most_) {
    const size_t before = bytes_;
    thin_largest();
    if (bytes_ == before) break;  // no series has more than one entry left
  }
}

// Removes every second entry of the largest series; keeps the last, and the first as long as there are more
// than two.
void MediaLog::thin_largest() {
  const auto largest = std::max_element(series_.begin(), series_.end(), [](const auto& a, const auto& b) {
    return (a.entries.size() > 1 ? a.bytes : 0) < (b.entries.size() > 1 ? b.bytes : 0);
  });
  if (largest == series_.end() || largest->entries.size() < 2) return;
  std::vector<MediaSeries::Entry> kept;
  const size_t count = largest->entries.size();
  size_t bytes = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i + 1 < count && (count == 2 || i % 2 == 1)) continue;
    bytes += largest->entries[i].media->bytes();
    kept.push_back(std::move(largest->entries[i]));
  }
  largest->thinned += int64_t(count - kept.size());
  bytes_ -= largest->bytes - bytes;
  largest->bytes = bytes;
  largest->entries = std::move(kept);
}

}  // namespace lunagrad
