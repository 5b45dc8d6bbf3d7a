#pragma once
// What a viewer asks about a tensor, and what it is given: a rectangle of a slice of two dims, in at most so
// many cells, statistics over all elements, and the exact text of one element. Dims and positions count from
// 0. No Lua type; plain values, any thread.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/statistics/statistics.h"

namespace lunagrad {

enum class Which { output, gradient };  // the value that a node made, or what arrived for it in backward

// What is shown of a complex number.
enum class ComplexPart { magnitude, real, imaginary };

struct SliceQuery {
  int row_dim = -1,
      column_dim = -1;      // both -1: the last two; one of them alone: the other dims have a position
  std::vector<int64_t> at;  // position in each dim, 0 where it is missing; those of rows and columns aside
  int64_t fold = 0;         // a slice of one row is shown in rows of so many columns, 0 = it is not
  int64_t first_row = 0, first_column = 0;
  int64_t rows = 0, columns = 0;  // of the rectangle, 0 = up to the end
  int64_t most_rows = 256,
          most_columns = 256;  // cells; a cell of many elements shows the one farthest from 0
  ComplexPart part = ComplexPart::magnitude;
  bool statistics = true;
  std::optional<std::pair<int64_t, int64_t>>
      pick;  // row and column of the element whose exact text is wanted
};

struct SliceView {
  bool available = false;
  std::string reason;  // why not: "freed; step once to see it"
  std::string note;    // there, but: "written to since, by add_ (train.lua:12)"
  std::vector<int64_t> shape, strides;
  std::string dtype, device;
  int64_t count = 0;  // of all elements

  int row_dim = -1, column_dim = -1;  // as they were taken, -1 = there is none
  int64_t rows = 0, columns = 0;      // of the whole slice
  int64_t elements = 0;               // in it; fewer than rows x columns when a row was folded
  int64_t first_row = 0, first_column = 0, shown_rows = 0, shown_columns = 0;  // the rectangle
  int64_t cell_rows = 0, cell_columns = 0;
  std::vector<double> cells;  // row-major
  int64_t every = 1;          // of so many elements one was looked at, where there are too many for all

  bool has_statistics = false;
  bool statistics_follow = false;  // in another answer to the same question, since they take longer
  Statistics statistics;
  std::optional<std::pair<int64_t, int64_t>> pick;  // what was asked for, and its text
  std::string picked;
};

// Pictures of a tensor whose last two dims, or first two of the last three, are pixels: tile t is position t
// of the other dims, counted row-major.
struct TileQuery {
  int row_dim = -1, column_dim = -1;  // both -1: the last two
  int channel_dim = -1;               // -1: each picture is grey; its size is then 3, red, green and blue
  int64_t first = 0, most = 64;       // tiles
  int64_t most_pixels = 64;           // along each side
};

struct TileView {
  bool available = false;
  std::string reason;
  int64_t tiles = 0;  // of the whole tensor
  int64_t first = 0, shown = 0;
  int64_t height = 0, width = 0;  // of a tile, in elements
  int64_t pixel_rows = 0, pixel_columns = 0;
  int channels = 1;
  std::vector<std::vector<int64_t>> at;  // of each tile shown: its position in the dims that are no pixels
  std::vector<float> pixels;             // tile, channel, row, column
};

enum class SliceFormat { lua, csv };

}  // namespace lunagrad
