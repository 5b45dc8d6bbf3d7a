#include "ui/widgets/heatmap.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "runtime/core/figures.h"
#include "ui/window/input.h"
#include "ui/window/theme.h"

namespace lunagrad {
namespace {

// Limits in each direction: kMostCells is the most that a viewer may request; kMostPieces is the most that
// can be drawn as rectangles, without textures.
constexpr int64_t kMostCells = 1024, kMostPieces = 96;
constexpr float kPatterned = 5;  // size in pixels from which a cell shows a pattern

int64_t extent(int64_t wanted, int64_t whole) { return wanted > 0 ? std::min(wanted, whole) : whole; }

// Replaces a window that covers everything by 0.
HeatWindow simplified(HeatWindow window, int64_t rows, int64_t columns) {
  if (window.rows >= rows && window.columns >= columns) return {};
  return window;
}

// The first element of cell i: an element belongs to the cell that its scaled position rounds down to.
int64_t edge(int64_t i, int64_t cells, int64_t whole) { return (i * whole + cells - 1) / cells; }

}  // namespace

HeatWindow zoomed(const HeatWindow& window, int64_t rows, int64_t columns, double factor, double about_row,
                  double about_column) {
  const auto axis = [factor](int64_t first, int64_t length, int64_t whole, double about, int64_t& new_first) {
    const int64_t wanted =
        std::clamp<int64_t>(std::llround(double(length) * factor), std::min<int64_t>(whole, 4), whole);
    const double kept = double(about) - (about - double(first)) * double(wanted) / double(length);
    new_first = std::clamp<int64_t>(std::llround(kept), 0, whole - wanted);
    return wanted;
  };
  if (rows == 0 || columns == 0) return {};
  HeatWindow result;
  result.rows = axis(window.first_row, extent(window.rows, rows), rows, about_row, result.first_row);
  result.columns =
      axis(window.first_column, extent(window.columns, columns), columns, about_column, result.first_column);
  return simplified(result, rows, columns);
}

HeatWindow shifted(const HeatWindow& window, int64_t rows, int64_t columns, double by_rows,
                   double by_columns) {
  HeatWindow result = window;
  if (window.whole()) return result;
  result.first_row =
      std::clamp<int64_t>(window.first_row + std::llround(by_rows), 0, rows - extent(window.rows, rows));
  result.first_column = std::clamp<int64_t>(window.first_column + std::llround(by_columns), 0,
                                            columns - extent(window.columns, columns));
  return result;
}

void Heatmap::reset() {
  window_ = {};
  picked_.reset();
  keys_ = false;
}

void Heatmap::pick(const HeatCells& cells, int64_t row, int64_t column) {
  row = std::clamp<int64_t>(row, 0, cells.rows - 1);
  column = std::clamp<int64_t>(column, 0, cells.columns - 1);
  if (row * cells.columns + column >= cells.elements) return;
  picked_ = {row, column};
  // Keeps the selected element visible.
  if (window_.whole()) return;
  const auto follow = [](int64_t& first, int64_t length, int64_t at) {
    first = std::clamp(first, std::max<int64_t>(at - length + 1, 0), at);
  };
  follow(window_.first_row, extent(window_.rows, cells.rows), row);
  follow(window_.first_column, extent(window_.columns, cells.columns), column);
}

void Heatmap::navigate(const HeatCells& cells, ImVec2 at, ImVec2 size, bool hovered, bool active) {
  const ImGuiIO& io = ImGui::GetIO();
  const double row =
      double(cells.first_row) + double(cells.shown_rows) * double((io.MousePos.y - at.y) / size.y);
  const double column =
      double(cells.first_column) + double(cells.shown_columns) * double((io.MousePos.x - at.x) / size.x);
  if (hovered && io.MouseWheel != 0)
    window_ = zoomed(window_, cells.rows, cells.columns, std::pow(0.8, double(io.MouseWheel)), row, column);
  if (hovered && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) window_ = {};
  if (active && ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) {
    pan_row_ -= double(io.MouseDelta.y / size.y) * double(cells.shown_rows);
    pan_column_ -= double(io.MouseDelta.x / size.x) * double(cells.shown_columns);
    const HeatWindow before = window_;
    window_ = shifted(window_, cells.rows, cells.columns, pan_row_, pan_column_);
    pan_row_ -= double(window_.first_row - before.first_row);
    pan_column_ -= double(window_.first_column - before.first_column);
  } else {
    pan_row_ = pan_column_ = 0;
  }
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    keys_ = hovered;
    if (hovered) pick(cells, int64_t(std::floor(row)), int64_t(std::floor(column)));
  }
  if (!keys_ || !picked_ || io.WantTextInput) return;
  const int64_t down = key_pressed(GLFW_KEY_DOWN) - key_pressed(GLFW_KEY_UP);
  const int64_t right = key_pressed(GLFW_KEY_RIGHT) - key_pressed(GLFW_KEY_LEFT);
  if (down || right) pick(cells, picked_->first + down, picked_->second + right);
}

void Heatmap::paint(const HeatCells& cells, const ColorRange& range, const ValueColors& colors) {
  const Painted wanted{cells.revision, range, colors.dark};
  if (painted_ == wanted) return;
  painted_ = wanted;
  std::array<ImU32, 512> scale;
  for (size_t i = 0; i < scale.size(); ++i)
    scale[i] = map_color(double(i) / (scale.size() - 1), range.diverging, colors.dark);
  pixels_.assign(cells.values.size(), 0);
  odd_.clear();
  size_t pixel = 0;
  for (int64_t r = 0; r < cells.cell_rows; ++r) {
    const int64_t row = cells.first_row + edge(r, cells.cell_rows, cells.shown_rows);
    for (int64_t c = 0; c < cells.cell_columns; ++c, ++pixel) {
      const int64_t column = cells.first_column + edge(c, cells.cell_columns, cells.shown_columns);
      if (row * cells.columns + column >= cells.elements)
        continue;  // after the end of a short last row: transparent
      const double value = cells.values[pixel];
      if (value == 0 && range.zeros) {
        pixels_[pixel] = zero_color(colors.dark);
      } else if (std::isfinite(value)) {
        pixels_[pixel] = scale[size_t(color_position(value, range) * (scale.size() - 1) + 0.5)];
      } else {
        pixels_[pixel] = std::isnan(value) ? colors.nan : colors.infinite;
        odd_.push_back(uint32_t(pixel));
      }
    }
  }
  if (Texture::are_drawn()) texture_.set(int(cells.cell_columns), int(cells.cell_rows), pixels_.data());
}

void Heatmap::draw_picture(const HeatCells& cells, ImVec2 at, ImVec2 size, const ValueColors& colors) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float w = size.x / float(cells.cell_columns), h = size.y / float(cells.cell_rows);
  const auto corner = [&](int64_t r, int64_t c) { return ImVec2{at.x + float(c) * w, at.y + float(r) * h}; };
  if (Texture::are_drawn()) {
    list->AddImage(texture_.id(), at, {at.x + size.x, at.y + size.y});
  } else {
    for (int64_t r = 0; r < cells.cell_rows; ++r)
      for (int64_t c = 0, start = 0; c < cells.cell_columns; ++c) {
        // Neighbours of the same colour become one rectangle.
        const uint32_t* const line = &pixels_[size_t(r * cells.cell_columns)];
        if (c + 1 < cells.cell_columns && line[c + 1] == line[c]) continue;
        if (line[c]) list->AddRectFilled(corner(r, start), corner(r + 1, c + 1), line[c]);
        start = c + 1;
      }
  }
  if (std::min(w, h) < kPatterned) return;
  for (const uint32_t cell : odd_) {
    const int64_t r = cell / cells.cell_columns, c = cell % cells.cell_columns;
    draw_not_finite(list, cells.values[cell], corner(r, c), corner(r + 1, c + 1), colors);
  }
}

void Heatmap::draw(const char* id, const HeatCells& cells, const ColorRange& range, ImVec2 room,
                   const ValueColors& colors, const std::function<std::string(int64_t, int64_t)>& index) {
  tip_.reset();
  if (cells.cell_rows == 0 || cells.cell_columns == 0 || cells.values.empty()) return;
  room = {std::max(room.x, 4.0f), std::max(room.y, 4.0f)};
  // Square cells, unless they are smaller than a pixel, so that stretched ones show more of them, or one side
  // of the picture would be too short to see and to click.
  float cell_x = std::min(room.x / float(cells.shown_columns), em(1.6f));
  float cell_y = std::min(room.y / float(cells.shown_rows), em(1.6f));
  const float square = std::min(cell_x, cell_y);
  const int64_t shorter = std::min(cells.shown_rows, cells.shown_columns);
  if (square >= 3)
    cell_x = cell_y = std::floor(square);
  else if (square >= 1 && square * float(shorter) >= em(1.5f))
    cell_x = cell_y = square;
  const ImVec2 size{std::clamp(cell_x * float(cells.shown_columns), 1.0f, room.x),
                    std::clamp(cell_y * float(cells.shown_rows), 1.0f, room.y)};
  const int64_t most = Texture::are_drawn() ? kMostCells : kMostPieces;
  most_rows_ = std::clamp<int64_t>(int64_t(room.y), 1, most);
  most_columns_ = std::clamp<int64_t>(int64_t(room.x), 1, most);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, size);
  const bool hovered = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
  ImDrawList* list = ImGui::GetWindowDrawList();
  paint(cells, range, colors);
  draw_picture(cells, at, size, colors);
  list->AddRect({at.x - 1, at.y - 1}, {at.x + size.x + 1, at.y + size.y + 1}, colors.border);
  const float w = size.x / float(cells.shown_columns), h = size.y / float(cells.shown_rows);
  const auto outline = [&](int64_t row, int64_t column, ImU32 color, float grow) {
    const int64_t r = row - cells.first_row, c = column - cells.first_column;
    if (r < 0 || c < 0 || r >= cells.shown_rows || c >= cells.shown_columns) return;
    const ImVec2 low{at.x + float(c) * w, at.y + float(r) * h};
    list->AddRect({low.x - grow, low.y - grow}, {low.x + w + grow, low.y + h + grow}, color, 0, 0, grow);
  };
  if (picked_) outline(picked_->first, picked_->second, colors.accent, 2);
  navigate(cells, at, size, hovered, active);
  if (!hovered || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 3)) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const int64_t c = std::clamp<int64_t>(int64_t((mouse.x - at.x) / w), 0, cells.shown_columns - 1);
  const int64_t r = std::clamp<int64_t>(int64_t((mouse.y - at.y) / h), 0, cells.shown_rows - 1);
  const int64_t row = cells.first_row + r, column = cells.first_column + c;
  if (row * cells.columns + column >= cells.elements) return;
  outline(row, column, colors.text, 1);
  const int64_t cell = r * cells.cell_rows / cells.shown_rows * cells.cell_columns +
                       c * cells.cell_columns / cells.shown_columns;
  const bool pooled = cells.cell_rows < cells.shown_rows || cells.cell_columns < cells.shown_columns;
  const std::string value = number_figure(cells.values[size_t(cell)], 9);
  const std::string place = index(row, column);
  const ImVec2 low{at.x + float(c) * w, at.y + float(r) * h};
  show_tip(pooled ? "about " + place + ", farthest from 0: " + value : place + " = " + value,
           {.area = {low, {low.x + w, low.y + h}},
            .aside = true,
            .picture = ScreenArea{at, {at.x + room.x, at.y + size.y}}});
  tip_ = *shown_tip();
}

}  // namespace lunagrad
