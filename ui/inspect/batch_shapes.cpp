#include "ui/inspect/batch_shapes.h"

#include <algorithm>
#include <cmath>

#include "runtime/core/figures.h"

namespace lunagrad {
namespace {

constexpr int64_t kSmallestPicture = 4;  // pixels in each direction

bool is_integer(const ColumnView& view) {
  return view.dtype == "u8" || view.dtype == "i8" || view.dtype == "i16" || view.dtype == "i32" ||
         view.dtype == "i64";
}

bool few_channels(int64_t n) { return n == 1 || n == 3 || n == 4; }

struct PictureLayout {
  int64_t height = 0, width = 0, channels = 1;
  bool last = false;  // the channels are the last dimension
};

PictureLayout layout_of(const ColumnView& view) {
  const auto& s = view.shape;
  if (s.size() == 3) return {s[1], s[2], 1, false};
  if (s.size() == 2) {
    const auto side = int64_t(std::llround(std::sqrt(double(s[1]))));
    return side * side == s[1] ? PictureLayout{side, side, 1, false} : PictureLayout{};
  }
  if (s.size() != 4) return {};
  if (few_channels(s[1])) return {s[2], s[3], s[1], false};
  if (few_channels(s[3])) return {s[1], s[2], s[3], true};
  return {};
}

int64_t sample_size(const ColumnView& view) {
  int64_t size = 1;
  for (size_t d = 1; d < view.shape.size(); ++d) size *= view.shape[d];
  return size;
}

bool is_letter(float value) {
  return value == 9 || value == 10 || value == 13 || (value >= 32 && value < 127);
}

}  // namespace

bool can_be_pictures(const ColumnView& view) {
  const PictureLayout layout = layout_of(view);
  return view.statistics.count > 0 && layout.height >= kSmallestPicture && layout.width >= kSmallestPicture;
}

bool can_be_text(const ColumnView& view) {
  return is_integer(view) && (view.shape.size() == 1 || view.shape.size() == 2) && view.statistics.count > 0;
}

BatchLook look_of(const ColumnView& view) {
  const size_t dims = view.shape.size();
  if (can_be_pictures(view) && (dims == 4 || (dims == 3 && !is_integer(view)))) return BatchLook::pictures;
  if (can_be_text(view) && view.shape.size() == 2 && view.shape[1] >= 4 && !view.values.empty()) {
    const int64_t letters = std::count_if(view.values.begin(), view.values.end(), is_letter);
    if (letters * 20 >= int64_t(view.values.size()) * 19) return BatchLook::text;
  }
  return BatchLook::rows;
}

int64_t whole_samples(const ColumnView& view) {
  if (view.shape.empty()) return view.values.empty() ? 0 : 1;
  const int64_t size = sample_size(view);
  return size == 0 ? view.shape[0] : std::min(view.shape[0], int64_t(view.values.size()) / size);
}

PictureSheet picture_sheet(const ColumnView& view, int most, int largest_side) {
  PictureSheet sheet;
  const PictureLayout layout = layout_of(view);
  if (layout.width < 1 || layout.height < 1 || layout.width > largest_side || layout.height > largest_side)
    return sheet;
  sheet.tile_width = int(layout.width);
  sheet.tile_height = int(layout.height);
  const int across = largest_side / sheet.tile_width, down = largest_side / sheet.tile_height;
  sheet.count = int(std::min({whole_samples(view), int64_t(most), int64_t(across) * down}));
  if (sheet.count == 0) return sheet;
  sheet.columns = std::min(
      across, std::max((sheet.count + down - 1) / down, int(std::ceil(std::sqrt(double(sheet.count))))));
  sheet.width = sheet.columns * sheet.tile_width;
  sheet.height = (sheet.count + sheet.columns - 1) / sheet.columns * sheet.tile_height;
  sheet.pixels.assign(size_t(sheet.width) * size_t(sheet.height), 0);
  // Bytes and values in [0, 1] are shown as they are; everything else is scaled from its minimum to its
  // maximum.
  const bool bytes = view.dtype == "u8";
  sheet.low = bytes || (view.statistics.min >= 0 && view.statistics.max <= 1) ? 0 : view.statistics.min;
  sheet.high = bytes ? 255 : view.statistics.min >= 0 && view.statistics.max <= 1 ? 1 : view.statistics.max;
  const double range = sheet.high > sheet.low ? sheet.high - sheet.low : 1;
  const int64_t area = layout.height * layout.width;
  for (int i = 0; i < sheet.count; ++i) {
    const float* const from = view.values.data() + int64_t(i) * area * layout.channels;
    uint32_t* const to = sheet.pixels.data() +
                         size_t(i / sheet.columns * sheet.tile_height) * size_t(sheet.width) +
                         size_t(i % sheet.columns * sheet.tile_width);
    for (int64_t y = 0; y < layout.height; ++y)
      for (int64_t x = 0; x < layout.width; ++x) {
        uint32_t level[4] = {0, 0, 0, 255};
        bool odd = false;
        for (int64_t c = 0; c < layout.channels; ++c) {
          const int64_t place = y * layout.width + x;
          const float value = layout.last ? from[place * layout.channels + c] : from[c * area + place];
          odd |= !std::isfinite(value);
          if (!odd)
            level[c] = uint32_t(std::clamp((double(value) - sheet.low) / range, 0.0, 1.0) * 255 + 0.5);
        }
        if (layout.channels == 1) level[1] = level[2] = level[0];
        uint32_t& pixel = to[y * sheet.width + x];
        // NaN and infinity: a magenta checkerboard, which no colour scale contains.
        pixel = odd ? ((x + y) % 2 ? 0xffff00ff : 0xff000000)
                    : level[3] << 24 | level[2] << 16 | level[1] << 8 | level[0];
      }
  }
  return sheet;
}

std::string text_sample(const ColumnView& view, int64_t i) {
  const int64_t length = view.shape.size() == 2 ? view.shape[1] : view.shape.empty() ? 0 : view.shape[0];
  std::string text;
  for (int64_t k = i * length; k < std::min((i + 1) * length, int64_t(view.values.size())); ++k) {
    const float value = view.values[size_t(k)];
    if (value == 10)
      text += "↵";
    else if (is_letter(value))
      text += value < 32 ? ' ' : char(value);
    else
      text += "·";
  }
  return text;
}

std::string cell_text(const ColumnView& view, int64_t index) {
  const double value = double(view.values[size_t(index)]);
  return number_figure(value, is_integer(view) || view.dtype == "bool" ? 17 : 4);
}

}  // namespace lunagrad
