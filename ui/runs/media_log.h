#pragma once
// The pictures, histograms and texts of a run, by kind and name, over its steps. Holds at most kMostBytes: a
// series that exceeds its share loses every second of its older entries. Needs no window. Drawing thread
// only.
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "script/view/media.h"
#include "script/view/run.h"

namespace lunagrad {

struct MediaSeries {
  struct Entry {
    int64_t step;
    double time;
    std::shared_ptr<const Media> media;
  };
  Event::Kind kind;
  std::string name;
  std::vector<Entry> entries;  // sorted by step
  int64_t thinned = 0;         // number of entries that were removed
  size_t bytes = 0;
};

class MediaLog {
 public:
  static constexpr size_t kMostBytes = size_t(96) << 20;

  explicit MediaLog(size_t most_bytes = kMostBytes) : most_(most_bytes) {}
  void add(const Event&);  // the event has kind image, histogram or text
  void clear();

  const std::deque<MediaSeries>& series() const { return series_; }
  size_t bytes() const { return bytes_; }
  uint64_t revision() const { return revision_; }  // grows with each change

 private:
  void thin_largest();

  size_t most_;
  std::deque<MediaSeries> series_;
  size_t bytes_ = 0;
  uint64_t revision_ = 0;
};

}  // namespace lunagrad
