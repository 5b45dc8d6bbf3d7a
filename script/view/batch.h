#pragma once
// The latest batch of a data loader: for each tensor its shape, statistics and first elements. Plain values;
// any thread may hold a copy.
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/statistics/statistics.h"

namespace lunagrad {

// One tensor of a batch: the statistics of all its elements, and the first elements.
struct ColumnView {
  std::string note;  // "written to since the loader gave it, by add_ (train.lua:12)"
  std::vector<int64_t> shape;
  std::string dtype;
  std::vector<float> values;  // row-major; at most as many as requested
  Statistics statistics;
};

struct BatchView {
  bool available = false;
  std::string loader;                         // "DataLoader(1,000 samples, …)"
  int64_t epoch = 0, batch = 0, batches = 0;  // batches: number per epoch
  int64_t step = 0;                           // the step that used it
  std::vector<ColumnView> columns;
};

}  // namespace lunagrad
