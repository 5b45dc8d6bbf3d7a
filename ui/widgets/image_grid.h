#pragma once
// Pictures next to each other: filters of a convolution, images of a batch. Each is scaled to its own range
// or to the range of all; NaN and infinities are marked. Knows pixels, no tensors. Drawing thread only.
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ui/widgets/value_view.h"
#include "ui/window/texture.h"

namespace lunagrad {

struct ImageTiles {
  int64_t count = 0, rows = 0, columns = 0;
  int channels = 1;               // 1: grey; 3: red, green, blue
  std::span<const float> pixels;  // tile, channel, row, column
  uint64_t revision = 0;          // changes whenever the pixels change
};

struct PixelRange {
  float low = 0, high = 0;
};
// Range of the finite pixels; 0 to 0 when there are none.
PixelRange pixel_range(std::span<const float>);
// Colour of one pixel with `count` channels.
ImU32 pixel_color(const float* channels, int64_t stride, int count, PixelRange);

// The largest number of pixels for one pixel of a tile at which so many tiles, `gap` apart, fit into the
// room; at least `least`.
float tile_scale(const ImageTiles&, ImVec2 room, float gap, float least);

class ImageGrid {
 public:
  // Fills at most `room`. `label` returns the tooltip of tile i. Returns the number of tiles that fit.
  int64_t draw(const char* id, const ImageTiles&, bool normalize_each, ImVec2 room, const ValueColors&,
               const std::function<std::string(int64_t tile)>& label);

 private:
  struct Painted {
    uint64_t revision = 0;
    bool normalize_each = false;
    bool operator==(const Painted&) const = default;
  };
  void paint(const ImageTiles&, bool normalize_each, const ValueColors&);
  void draw_tile(const ImageTiles&, int64_t tile, ImVec2 min, ImVec2 max, const ValueColors&) const;

  std::optional<Painted> painted_;
  int64_t across_ = 1;  // tiles per row in the texture
  std::vector<uint32_t> pixels_;
  std::vector<PixelRange> ranges_;  // range of each tile
  Texture texture_;
};

}  // namespace lunagrad
