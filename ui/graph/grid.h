#pragma once
// A spatial index of the boxes and lines of a large drawing: finds the visible ones without visiting all.
// Each item is in the cell of its center; a query is widened by half of the largest item. Built once, then
// read from any thread.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "ui/graph/layout.h"

namespace lunagrad {

class GraphGrid {
 public:
  struct Area {
    GraphPoint low, high;
  };
  GraphGrid() = default;
  explicit GraphGrid(const std::vector<Area>& items);

  // Calls visit(item) for each item whose area may intersect `area`, once per item.
  template <class Visit>
  void each(Area area, Visit visit) const {
    for (const uint32_t item : large_) visit(item);
    if (columns_ == 0) return;
    const uint32_t left = column(area.low.x - reach_.x), right = column(area.high.x + reach_.x);
    const uint32_t top = row(area.low.y - reach_.y), bottom = row(area.high.y + reach_.y);
    for (uint32_t y = top; y <= bottom; ++y)
      for (uint32_t k = first_[y * columns_ + left]; k < first_[y * columns_ + right + 1]; ++k)
        visit(items_[k]);
  }

 private:
  static uint32_t cell(float from_low, float size, uint32_t count) {
    return uint32_t(std::clamp(from_low / size, 0.0f, float(count - 1)));
  }
  uint32_t column(float x) const { return cell(x - low_.x, size_, columns_); }
  uint32_t row(float y) const { return cell(y - low_.y, size_, rows_); }

  GraphPoint low_, reach_;  // reach: half the extent of the largest item in a cell
  float size_ = 1;
  uint32_t columns_ = 0, rows_ = 0;
  std::vector<uint32_t> first_, items_;  // cell c holds items_[first_[c]] up to items_[first_[c + 1]]
  std::vector<uint32_t> large_;          // large items, which are in no cell: each query visits them
};

}  // namespace lunagrad
