#include "ui/widgets/image_grid.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "runtime/core/figures.h"
#include "ui/window/theme.h"
#include "ui/window/tooltip.h"

namespace lunagrad {

PixelRange pixel_range(std::span<const float> pixels) {
  PixelRange range;
  bool any = false;
  for (const float x : pixels) {
    if (!std::isfinite(x)) continue;
    range.low = any ? std::min(range.low, x) : x;
    range.high = any ? std::max(range.high, x) : x;
    any = true;
  }
  return range;
}

ImU32 pixel_color(const float* channels, int64_t stride, int count, PixelRange range) {
  const auto level = [&](float x) {
    if (!(range.high > range.low)) return 127;
    return int(
        std::lround(255 * std::clamp((double(x) - range.low) / (double(range.high) - range.low), 0.0, 1.0)));
  };
  const int red = level(channels[0]);
  return count == 3 ? IM_COL32(red, level(channels[stride]), level(channels[2 * stride]), 255)
                    : IM_COL32(red, red, red, 255);
}

namespace {

// The tiles that fit beside and below each other.
std::pair<int64_t, int64_t> tiles_at(float scale, const ImageTiles& tiles, ImVec2 room, float gap) {
  const auto across = int64_t((room.x + gap) / (float(tiles.columns) * scale + gap));
  const auto down = int64_t((room.y + gap) / (float(tiles.rows) * scale + gap));
  return {std::max<int64_t>(across, 1), std::max<int64_t>(down, 0)};
}

}  // namespace

float tile_scale(const ImageTiles& tiles, ImVec2 room, float gap, float least) {
  const auto fits = [&](float scale) {
    const auto [across, down] = tiles_at(scale, tiles, room, gap);
    return across * down >= tiles.count;
  };
  float scale = std::min(room.x / float(tiles.columns), room.y / float(tiles.rows));
  if (scale > 2) scale = std::floor(scale);
  while (scale > least && !fits(scale)) scale *= 0.95f;
  scale = std::max(scale, least);
  return scale > 2 ? std::floor(scale) : scale;
}

void ImageGrid::paint(const ImageTiles& tiles, bool normalize_each, const ValueColors& colors) {
  const Painted wanted{tiles.revision, normalize_each};
  if (painted_ == wanted) return;
  painted_ = wanted;
  const int64_t plane = tiles.rows * tiles.columns, size = plane * tiles.channels;
  across_ = std::max<int64_t>(1, std::min(tiles.count, Texture::kLargest / tiles.columns));
  const int64_t down = (tiles.count + across_ - 1) / across_, width = across_ * tiles.columns;
  pixels_.assign(size_t(width * down * tiles.rows), 0);
  ranges_.clear();
  const PixelRange all = pixel_range(tiles.pixels);
  for (int64_t t = 0; t < tiles.count; ++t) {
    const float* const pixels = tiles.pixels.data() + t * size;
    ranges_.push_back(normalize_each ? pixel_range({pixels, size_t(size)}) : all);
    uint32_t* const corner =
        &pixels_[size_t((t / across_) * tiles.rows * width + (t % across_) * tiles.columns)];
    for (int64_t r = 0; r < tiles.rows; ++r)
      for (int64_t c = 0; c < tiles.columns; ++c) {
        const float* const pixel = pixels + r * tiles.columns + c;
        uint32_t color = pixel_color(pixel, plane, tiles.channels, ranges_.back());
        for (int k = 0; k < tiles.channels; ++k)
          if (const float x = pixel[k * plane]; !std::isfinite(x))
            color = std::isnan(x) ? colors.nan : colors.infinite;
        corner[r * width + c] = color;
      }
  }
  if (Texture::are_drawn() && down * tiles.rows <= Texture::kLargest)
    texture_.set(int(width), int(down * tiles.rows), pixels_.data());
  else
    texture_.clear();
}

void ImageGrid::draw_tile(const ImageTiles& tiles, int64_t tile, ImVec2 min, ImVec2 max,
                          const ValueColors& colors) const {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int64_t width = across_ * tiles.columns;
  const int64_t x = tile % across_ * tiles.columns, y = tile / across_ * tiles.rows;
  const float scale = (max.x - min.x) / float(tiles.columns);
  if (!texture_.empty()) {
    const float w = float(texture_.width()), h = float(texture_.height());
    list->AddImage(texture_.id(), min, max, {float(x) / w, float(y) / h},
                   {float(x + tiles.columns) / w, float(y + tiles.rows) / h});
  }
  if (!texture_.empty() && scale < 5) return;  // no space for the pattern of NaN and infinities
  const int64_t plane = tiles.rows * tiles.columns, size = plane * tiles.channels;
  for (int64_t r = 0; r < tiles.rows; ++r)
    for (int64_t c = 0; c < tiles.columns; ++c) {
      const ImVec2 low{min.x + float(c) * scale, min.y + float(r) * scale},
          high{low.x + scale, low.y + scale};
      float odd = 0;
      for (int k = 0; k < tiles.channels; ++k) {
        const float value = tiles.pixels[size_t(tile * size + k * plane + r * tiles.columns + c)];
        if (!std::isfinite(value)) odd = value;
      }
      if (odd != 0)
        draw_not_finite(list, double(odd), low, high, colors);
      else if (texture_.empty())
        list->AddRectFilled(low, high, pixels_[size_t((y + r) * width + x + c)]);
    }
}

int64_t ImageGrid::draw(const char* id, const ImageTiles& tiles, bool normalize_each, ImVec2 room,
                        const ValueColors& colors, const std::function<std::string(int64_t)>& label) {
  if (tiles.count == 0 || tiles.rows == 0 || tiles.columns == 0) return 0;
  paint(tiles, normalize_each, colors);
  const float gap = em(0.3f);
  room = {std::max(room.x, em(2)), std::max(room.y, em(2))};
  // At least a pixel per tile, and at least what can be distinguished.
  const float scale =
      tile_scale(tiles, room, gap, std::max(1.0f, em(1.5f) / float(std::max(tiles.rows, tiles.columns))));
  const auto [across, down] = tiles_at(scale, tiles, room, gap);
  const int64_t shown = std::min(tiles.count, across * std::max<int64_t>(down, 1));

  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, room);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(at, {at.x + room.x, at.y + room.y}, true);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (int64_t t = 0; t < shown; ++t) {
    const PixelRange range = ranges_[size_t(t)];
    const ImVec2 corner{at.x + float(t % across) * (float(tiles.columns) * scale + gap),
                        at.y + float(t / across) * (float(tiles.rows) * scale + gap)};
    draw_tile(tiles, t, corner,
              {corner.x + float(tiles.columns) * scale, corner.y + float(tiles.rows) * scale}, colors);
    const ImVec2 end{corner.x + float(tiles.columns) * scale, corner.y + float(tiles.rows) * scale};
    const bool inside = mouse.x >= corner.x && mouse.x < end.x && mouse.y >= corner.y && mouse.y < end.y;
    list->AddRect({corner.x - 1, corner.y - 1}, {end.x + 1, end.y + 1},
                  inside && ImGui::IsItemHovered() ? colors.accent : colors.border);
    if (inside && ImGui::IsItemHovered())
      show_tip(
          label(t) + "\nblack " + number_figure(double(range.low)) + ", white " +
              number_figure(double(range.high)),
          {.area = {corner, end}, .aside = true, .picture = ScreenArea{at, {at.x + room.x, at.y + room.y}}});
  }
  list->PopClipRect();
  return shown;
}

}  // namespace lunagrad
