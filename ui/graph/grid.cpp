#include "ui/graph/grid.h"

#include <numeric>

namespace lunagrad {

GraphGrid::GraphGrid(const std::vector<Area>& areas) {
  constexpr float kCell = 512;     // the width of some boxes
  constexpr float kMostCells = 4;  // cells that an item in the grid may span
  if (areas.empty()) return;
  GraphPoint high = low_ = areas[0].low;
  for (const Area& area : areas) {
    low_ = {std::min(low_.x, area.low.x), std::min(low_.y, area.low.y)};
    high = {std::max(high.x, area.high.x), std::max(high.y, area.high.y)};
  }
  const double most = 2.0 * double(areas.size()) + 16;
  for (size_ = kCell;; size_ *= 2) {
    const double columns = double(high.x - low_.x) / size_ + 1, rows = double(high.y - low_.y) / size_ + 1;
    if (!(columns * rows > most)) {
      columns_ = uint32_t(columns);
      rows_ = uint32_t(rows);
      break;
    }
  }
  std::vector<uint32_t> cells(areas.size());
  first_.assign(size_t(columns_) * rows_ + 1, 0);
  for (uint32_t i = 0; i < areas.size(); ++i) {
    const Area& area = areas[i];
    const GraphPoint half{(area.high.x - area.low.x) / 2, (area.high.y - area.low.y) / 2};
    if (std::max(half.x, half.y) > kMostCells * size_ / 2) {
      cells[i] = UINT32_MAX;
      large_.push_back(i);
      continue;
    }
    reach_ = {std::max(reach_.x, half.x), std::max(reach_.y, half.y)};
    cells[i] = row(area.low.y + half.y) * columns_ + column(area.low.x + half.x);
    ++first_[cells[i] + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  items_.resize(first_.back());
  std::vector<uint32_t> next(first_.begin(), first_.end() - 1);
  for (uint32_t i = 0; i < areas.size(); ++i)
    if (cells[i] != UINT32_MAX) items_[next[cells[i]]++] = i;
}

}  // namespace lunagrad
