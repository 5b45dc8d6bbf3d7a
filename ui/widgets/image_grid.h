#pragma once
// Pictures side by side: filters of a convolution, images of a batch. Each is scaled to the range of its own pixels or
// to that of all; what is not finite is marked. Knows pixels, nothing of tensors. Drawing thread only.
#include <functional>
#include <span>

#include "ui/widgets/value_view.h"

namespace lunagrad {

struct ImageTiles {
  int64_t count = 0, rows = 0, columns = 0;
  int channels = 1;               // 1: grey; 3: red, green, blue
  std::span<const float> pixels;  // tile, channel, row, column
};

struct PixelRange {
  float low = 0, high = 0;
};
// Of the finite pixels; 0 to 0 when there are none.
PixelRange pixel_range(std::span<const float>);
// Colour of a pixel, or of three.
ImU32 pixel_color(const float* channels, int64_t stride, int count, PixelRange);

// Fills `room` at most. `label` says what tile i is, under the mouse. Returns how many tiles fitted.
int64_t draw_image_grid(const char* id, const ImageTiles&, bool normalize_each, ImVec2 room, const ValueColors&,
                        const std::function<std::string(int64_t tile)>& label);

}  // namespace lunagrad
