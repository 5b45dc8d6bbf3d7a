#pragma once
// A curve in a bounded number of buckets. Each bucket holds the same number of rows, with their true minimum
// and maximum. When there are too many buckets, neighbours are merged, so that a curve of any length costs
// the same. Also the facts about all rows: extremes, and which are not finite. Belongs to one thread.
#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "script/view/smoother.h"

namespace lunagrad {

// The smoothings that a report offers. They are computed here from every row, so that a smoothed value does
// not depend on how many rows share a bucket. The page smooths a curve that has a bucket for each row.
inline constexpr std::array<double, 5> kSmoothings = {0.6, 0.9, 0.97, 0.99, 0.997};

class CurveBuckets {
 public:
  explicit CurveBuckets(size_t most) : most_(most) {}

  // `mark` grows with each look at the run; json(mark) returns what came after it.
  void append(int64_t step, double time, double value, uint64_t mark);
  int64_t count() const { return count_; }
  // {"count", "each", "from", "step": […], …}: the buckets that changed after `since`. They replace the
  // reader's buckets from index "from" on.
  nlohmann::ordered_json json(uint64_t since = 0) const;

 private:
  struct Bucket {
    int64_t first = 0, last = 0;  // steps
    double time = 0;              // of the last row
    double low, high;             // of the finite values; NaN if there are none
    double latest = 0;
    int64_t rows = 0, bad = 0;  // bad: number of values that are not finite
    uint64_t changed = 0;
    std::array<double, kSmoothings.size()> smooth{};
  };
  struct Extreme {
    int64_t step;
    double value;
  };
  void merge(uint64_t mark);

  size_t most_;
  int64_t each_ = 1, count_ = 0, bad_ = 0;
  uint64_t merged_ = 0;  // mark of the latest merge: a reader whose mark is older needs every bucket
  std::vector<Bucket> buckets_;
  std::array<Smoother, kSmoothings.size()> smoothers_ = {Smoother(kSmoothings[0]), Smoother(kSmoothings[1]),
                                                         Smoother(kSmoothings[2]), Smoother(kSmoothings[3]),
                                                         Smoother(kSmoothings[4])};
  std::optional<Extreme> least_, largest_, first_bad_;
};

}  // namespace lunagrad
