#pragma once
// A picture, a histogram or a text that a script logged; the data of an event. It owns its data. Immutable
// once made, so any thread may read it.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lunagrad {

struct Media {
  std::string name;
  std::string file;  // of a picture: its path inside the run folder; "" if not saved
  std::string text;

  // A picture: rows of pixels, red in the lowest byte, alpha in the highest. A picture of more than
  // kMostPixels is subsampled: every k-th pixel of every k-th row. width and height are the original size.
  static constexpr int64_t kMostPixels = 1 << 22;
  int width = 0, height = 0;
  int shown_width = 0, shown_height = 0;
  std::vector<uint32_t> pixels;

  // A histogram: counts[i] of the finite values lie from edges[i] up to edges[i + 1].
  std::vector<double> edges;
  std::vector<int64_t> counts;
  int64_t count = 0, zeros = 0, nans = 0, infinities = 0;
  double min = 0, max = 0, mean = 0, std = 0;
  std::vector<std::pair<int, double>> percentiles;  // percent, value

  size_t bytes() const {
    return sizeof(Media) + name.size() + file.size() + text.size() + pixels.size() * sizeof(uint32_t) +
           edges.size() * sizeof(double) + counts.size() * sizeof(int64_t);
  }
};

}  // namespace lunagrad
