#pragma once
// Numbers in rows and columns as coloured cells: the wheel zooms around the mouse, dragging pans, a click
// selects an element, the arrow keys move the selection. Draws the given rectangle of cells as one picture
// with a pixel per cell, and reports which rectangle it needs next. Knows no tensors and no sessions. Drawing
// thread only.
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ui/widgets/value_view.h"
#include "ui/window/texture.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

struct HeatCells {
  int64_t rows = 0, columns = 0;  // size of the whole matrix
  int64_t elements = 0;           // fewer than rows x columns when the last row is short
  int64_t first_row = 0, first_column = 0, shown_rows = 0, shown_columns = 0;  // the rectangle of `values`
  int64_t cell_rows = 0, cell_columns = 0;  // resolution of `values` for that rectangle
  std::span<const double> values;           // row-major
  uint64_t revision = 0;                    // changes whenever the values change
};

// A part of the matrix; 0 rows or columns: up to the end.
struct HeatWindow {
  int64_t first_row = 0, first_column = 0, rows = 0, columns = 0;
  bool whole() const { return rows == 0 && columns == 0; }
  bool operator==(const HeatWindow&) const = default;
};
// The visible part after a zoom by `factor` (below 1: closer) around a place, or after a shift, in rows and
// columns.
HeatWindow zoomed(const HeatWindow&, int64_t rows, int64_t columns, double factor, double about_row,
                  double about_column);
HeatWindow shifted(const HeatWindow&, int64_t rows, int64_t columns, double by_rows, double by_columns);

class Heatmap {
 public:
  // Fills at most `room`; small matrices use less. `index` formats the position of an element.
  void draw(const char* id, const HeatCells&, const ColorRange&, ImVec2 room, const ValueColors&,
            const std::function<std::string(int64_t row, int64_t column)>& index);
  const HeatWindow& window() const { return window_; }
  const std::optional<std::pair<int64_t, int64_t>>& picked() const { return picked_; }
  void reset();  // shows everything, selects nothing
  void show_all() { window_ = {}; }
  void follow(const Heatmap& other) { window_ = other.window_, picked_ = other.picked_; }
  // The number of cells that the last frame could show: the resolution to request.
  int64_t most_rows() const { return most_rows_; }
  int64_t most_columns() const { return most_columns_; }
  const std::optional<ShownTip>& tip() const { return tip_; }  // the tooltip of the last frame

 private:
  // The inputs of the present picture.
  struct Painted {
    uint64_t revision = 0;
    ColorRange range;
    bool dark = false;
    bool operator==(const Painted&) const = default;
  };
  void paint(const HeatCells&, const ColorRange&, const ValueColors&);
  void draw_picture(const HeatCells&, ImVec2 at, ImVec2 size, const ValueColors&) const;
  void navigate(const HeatCells&, ImVec2 at, ImVec2 size, bool hovered, bool active);
  void pick(const HeatCells&, int64_t row, int64_t column);
  HeatWindow window_;
  std::optional<std::pair<int64_t, int64_t>> picked_;
  bool keys_ = false;  // the arrow keys move the selected element
  double pan_row_ = 0, pan_column_ = 0;
  std::optional<Painted> painted_;
  std::vector<uint32_t> pixels_;
  std::vector<uint32_t> odd_;  // cells with NaN or infinity
  Texture texture_;
  int64_t most_rows_ = 64, most_columns_ = 64;
  std::optional<ShownTip> tip_;
};

}  // namespace lunagrad
