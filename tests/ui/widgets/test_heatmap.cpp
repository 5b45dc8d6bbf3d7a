// The parts of a heatmap that need no window: colour ranges, zooming, pictures.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "runtime/ops.h"
#include "ui/widgets/heatmap.h"
#include "ui/widgets/image_grid.h"

using namespace lunagrad;

namespace {

Statistics statistics_of(const std::vector<double>& values) {
  return statistics(Tensor::from<double>(values, {int64_t(values.size())}));
}

}  // namespace

TEST_CASE("colours run from minimum to maximum, and around 0 where both signs occur") {
  const ColorRange positive = color_range({}, statistics_of({1, 2, 5}));
  CHECK_FALSE(positive.diverging);
  CHECK(positive.low == 1);
  CHECK(positive.high == 5);
  CHECK(color_position(1, positive) == 0);
  CHECK(color_position(3, positive) == 0.5);
  CHECK(color_position(99, positive) == 1);
  const ColorRange both = color_range({}, statistics_of({-1, 4}));
  CHECK(both.diverging);
  CHECK(both.low == -4);
  CHECK(color_position(0, both) == 0.5);
  // A single value, and no value.
  CHECK(color_position(3, color_range({}, statistics_of({3, 3}))) == 0.5);
  CHECK(color_position(0, color_range({}, statistics_of({NAN}))) == 0.5);
}

TEST_CASE("zeros among values of one sign have a colour that no value has") {
  const ColorRange rectified = color_range({}, statistics_of({0, 0.1, 5}));
  CHECK(rectified.zeros);
  CHECK(color_range({}, statistics_of({0, -2})).zeros);
  CHECK(color_range({}, statistics_of({0, 0})).zeros);
  CHECK_FALSE(color_range({}, statistics_of({0.1, 5})).zeros);
  CHECK_FALSE(color_range({}, statistics_of({-1, 0, 1})).zeros);  // 0 is the middle of that map
  ColorScale scale;
  scale.map = ColorScale::Map::sequential;
  CHECK(color_range(scale, statistics_of({-1, 0, 1})).zeros);
  CHECK_FALSE(color_range({}, {}).zeros);
  for (const bool dark : {false, true}) {
    const ImU32 zero = zero_color(dark);
    for (int i = 0; i <= 512; ++i) {
      const ImU32 other = map_color(i / 512.0, false, dark);
      int apart = 0;
      for (const int shift : {0, 8, 16})
        apart = std::max(apart, std::abs(int(zero >> shift & 255) - int(other >> shift & 255)));
      CHECK(apart >= 24);
    }
  }
}

TEST_CASE("a small picture gets the room there is, several share it") {
  ImageTiles tiles;
  tiles.count = 1;
  tiles.rows = tiles.columns = 16;
  CHECK(tile_scale(tiles, {600, 400}, 4, 2) == 25);
  CHECK(tile_scale(tiles, {30, 400}, 4, 1) >= 1);
  CHECK(tile_scale(tiles, {600, 4}, 4, 1) == 1);
  tiles.count = 64;
  const float shared = tile_scale(tiles, {600, 400}, 4, 1);
  CHECK(shared >= 2);
  CHECK(shared < 25);
  const auto across = int((600 + 4) / (16 * shared + 4)), down = int((400 + 4) / (16 * shared + 4));
  CHECK(across * down >= 64);
  tiles.count = 100000;
  CHECK(tile_scale(tiles, {600, 400}, 4, 2) == 2);
}

TEST_CASE("a manual range, a clipped one, and a logarithmic one") {
  ColorScale scale;
  scale.automatic = false;
  scale.low = 2, scale.high = -1;  // in any order
  CHECK(color_range(scale, {}).low == -2);
  scale.map = ColorScale::Map::sequential;
  CHECK(color_range(scale, {}).low == -1);
  CHECK(color_range(scale, {}).high == 2);

  std::vector<double> values(1000, 1.0);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1 + double(i) / 1000;
  values[0] = 1e6;
  scale = {};
  CHECK(color_range(scale, statistics_of(values)).high == 1e6);
  scale.clip = 1;
  const ColorRange clipped = color_range(scale, statistics_of(values));
  CHECK(clipped.high < 100);  // exact to a bin, whose width grows with the values
  CHECK(clipped.high > 1.8);

  scale = {};
  scale.logarithmic = true;
  const ColorRange log = color_range(scale, statistics_of({-100, 0, 1, 100}));
  CHECK(color_position(0, log) == doctest::Approx(0.5));
  CHECK(color_position(1, log) > 0.7);
  CHECK(color_position(1, log) - 0.5 == doctest::Approx(0.5 - color_position(-1, log)));
  double before = -1;
  for (double x = -100; x <= 100; x += 0.5) {
    CHECK(color_position(x, log) >= before);
    before = color_position(x, log);
  }
}

TEST_CASE("quantiles are exact to a bin") {
  std::vector<double> values;
  for (int i = 1; i <= 1000; ++i) values.push_back(i);
  const Statistics s = statistics_of(values);
  for (const double part : {0.01, 0.25, 0.5, 0.9, 0.99}) {
    CAPTURE(part);
    CHECK(quantile(s, part) == doctest::Approx(1000 * part).epsilon(0.13));
  }
  CHECK(quantile(s, 1) == 1000);
}

TEST_CASE("both colour maps have monotonic brightness, so that they can be read without hue") {
  const auto brightness = [](ImU32 color) {
    return 0.2126 * (color & 255) + 0.7152 * (color >> 8 & 255) + 0.0722 * (color >> 16 & 255);
  };
  for (int i = 1; i <= 32; ++i)
    CHECK(brightness(map_color(i / 32.0, false, true)) > brightness(map_color((i - 1) / 32.0, false, true)));
  for (const bool dark : {false, true})
    for (int i = 1; i <= 16; ++i) {
      // Brightness changes monotonically away from the middle: brighter on dark, darker on light.
      const double step = brightness(map_color(0.5 + i / 32.0, true, dark)) -
                          brightness(map_color(0.5 + (i - 1) / 32.0, true, dark));
      CHECK((dark ? step > 0 : step < 0));
    }
}

TEST_CASE("zooming keeps the place under the mouse, and stops at the whole matrix") {
  HeatWindow window;
  window = zoomed(window, 1000, 500, 0.5, 600, 100);
  CHECK(window.rows == 500);
  CHECK(window.columns == 250);
  CHECK(window.first_row == 300);
  CHECK(window.first_column == 50);
  for (int i = 0; i < 40; ++i) window = zoomed(window, 1000, 500, 0.5, 600, 100);
  CHECK(window.rows == 4);
  CHECK(window.first_row <= 600);
  CHECK(window.first_row + window.rows > 600);
  window = shifted(window, 1000, 500, 5000, -5000);
  CHECK(window.first_row == 996);
  CHECK(window.first_column == 0);
  for (int i = 0; i < 40; ++i) window = zoomed(window, 1000, 500, 2, 600, 100);
  CHECK(window.whole());
  CHECK(shifted(window, 1000, 500, 10, 10).whole());
  CHECK(zoomed({}, 0, 0, 0.5, 0, 0).whole());
}

TEST_CASE("pixels are scaled between the finite minimum and maximum") {
  const float pixels[] = {-1, 3, NAN, INFINITY, 1};
  const PixelRange range = pixel_range(pixels);
  CHECK(range.low == -1);
  CHECK(range.high == 3);
  CHECK(pixel_color(&pixels[0], 1, 1, range) == IM_COL32(0, 0, 0, 255));
  CHECK(pixel_color(&pixels[4], 1, 1, range) == IM_COL32(128, 128, 128, 255));
  const float red_green_blue[] = {3, -1, 1};
  CHECK(pixel_color(red_green_blue, 1, 3, range) == IM_COL32(255, 0, 128, 255));
  CHECK(pixel_range({}).high == 0);
}
