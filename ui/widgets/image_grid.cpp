#include "ui/widgets/image_grid.h"

#include <algorithm>
#include <cmath>

#include "ui/theme.h"

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
    return int(std::lround(255 * std::clamp((double(x) - range.low) / (double(range.high) - range.low), 0.0, 1.0)));
  };
  const int red = level(channels[0]);
  return count == 3 ? IM_COL32(red, level(channels[stride]), level(channels[2 * stride]), 255)
                    : IM_COL32(red, red, red, 255);
}

int64_t draw_image_grid(const char* id, const ImageTiles& tiles, bool normalize_each, ImVec2 room,
                        const ValueColors& colors, const std::function<std::string(int64_t)>& label) {
  if (tiles.count == 0 || tiles.rows == 0 || tiles.columns == 0) return 0;
  const float gap = em(0.3f);
  room = {std::max(room.x, em(2)), std::max(room.y, em(2))};
  // The largest tiles with which all fit; not less than a pixel each, nor than can be told apart.
  float scale = std::min(room.x / float(tiles.columns), room.y / float(tiles.rows));
  const float least = std::max(1.0f, em(1.5f) / float(std::max(tiles.rows, tiles.columns)));
  const auto fit_at = [&](float s) {
    const auto across = int64_t((room.x + gap) / (float(tiles.columns) * s + gap));
    const auto down = int64_t((room.y + gap) / (float(tiles.rows) * s + gap));
    return std::pair(std::max<int64_t>(across, 1), std::max<int64_t>(down, 0));
  };
  while (scale > least && fit_at(scale).first * fit_at(scale).second < tiles.count) scale *= 0.95f;
  scale = std::max(std::min(scale, em(6) / float(std::max(tiles.rows, tiles.columns)) + 8), least);
  if (scale > 2) scale = std::floor(scale);
  const auto [across, down] = fit_at(scale);
  const int64_t shown = std::min(tiles.count, across * std::max<int64_t>(down, 1));

  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton(id, room);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->PushClipRect(at, {at.x + room.x, at.y + room.y}, true);
  const int64_t plane = tiles.rows * tiles.columns, size = plane * tiles.channels;
  const PixelRange all = pixel_range(tiles.pixels);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (int64_t t = 0; t < shown; ++t) {
    const float* const pixels = tiles.pixels.data() + t * size;
    const PixelRange range = normalize_each ? pixel_range({pixels, size_t(size)}) : all;
    const ImVec2 corner{at.x + float(t % across) * (float(tiles.columns) * scale + gap),
                        at.y + float(t / across) * (float(tiles.rows) * scale + gap)};
    for (int64_t r = 0; r < tiles.rows; ++r)
      for (int64_t c = 0; c < tiles.columns; ++c) {
        const float* const pixel = pixels + r * tiles.columns + c;
        const ImVec2 min{corner.x + float(c) * scale, corner.y + float(r) * scale}, max{min.x + scale, min.y + scale};
        float odd = 0;
        for (int k = 0; k < tiles.channels; ++k)
          if (!std::isfinite(pixel[k * plane])) odd = pixel[k * plane];
        if (odd != 0)
          draw_not_finite(list, double(odd), min, max, colors);
        else
          list->AddRectFilled(min, max, pixel_color(pixel, plane, tiles.channels, range));
      }
    const ImVec2 end{corner.x + float(tiles.columns) * scale, corner.y + float(tiles.rows) * scale};
    const bool inside = mouse.x >= corner.x && mouse.x < end.x && mouse.y >= corner.y && mouse.y < end.y;
    list->AddRect({corner.x - 1, corner.y - 1}, {end.x + 1, end.y + 1},
                  inside && ImGui::IsItemHovered() ? colors.accent : colors.border);
    if (inside && ImGui::IsItemHovered())
      ImGui::SetTooltip("%s\nblack %.4g, white %.4g", label(t).c_str(), double(range.low), double(range.high));
  }
  list->PopClipRect();
  return shown;
}

}  // namespace lunagrad
