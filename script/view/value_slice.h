#pragma once
// A viewer's query about a tensor, and the answer: a rectangle of a two-dimensional slice in a limited number
// of cells, statistics over all elements, and the exact text of one element. Dims and indices count from 0.
// Plain values; any thread may hold a copy.
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/statistics/statistics.h"

namespace lunagrad {

enum class Which { output, gradient };  // the output of a node, or its gradient

// The part of a complex number that is shown.
enum class ComplexPart { magnitude, real, imaginary };

struct SliceQuery {
  int row_dim = -1, column_dim = -1;  // both -1: the last two dims; one of them -1: the slice has one dim
  std::vector<int64_t> at;  // index in each dim, 0 where missing; row_dim and column_dim are ignored
  int64_t wrap = 0;         // if not 0, a slice of one row is shown in rows of this many columns
  int64_t first_row = 0, first_column = 0;
  int64_t rows = 0, columns = 0;  // size of the rectangle; 0 = up to the end
  // The largest numbers of cells. A cell that covers several elements shows a NaN if there is one, else an
  // infinity, else the element with the largest magnitude.
  int64_t most_rows = 256, most_columns = 256;
  ComplexPart part = ComplexPart::magnitude;
  bool statistics = true;
  std::optional<std::pair<int64_t, int64_t>> pick;  // row and column of the element for SliceView::picked
};

struct SliceView {
  int64_t step = 0;  // the step of the values
  bool available = false;
  std::string reason;  // why the values are not available: "it needs no gradient"
  std::string note;    // a remark: "written to since, by add_ (train.lua:12)"
  std::vector<int64_t> shape, strides;
  std::string dtype, device;
  int64_t count = 0;  // elements of the tensor

  int row_dim = -1, column_dim = -1;  // the dims used; -1: none
  int64_t rows = 0, columns = 0;      // size of the whole slice
  int64_t elements = 0;  // elements in the slice; fewer than rows * columns when a row is wrapped
  int64_t first_row = 0, first_column = 0, shown_rows = 0, shown_columns = 0;  // the rectangle
  int64_t cell_rows = 0, cell_columns = 0;
  std::vector<double> cells;  // row-major
  int64_t every = 1;          // every n-th element was read; 1: all

  bool has_statistics = false;
  bool statistics_follow = false;  // a second answer to the same query has them
  Statistics statistics;
  std::optional<std::pair<int64_t, int64_t>> pick;  // as in the query
  std::string picked;                               // exact text of the picked element
};

// A query for a tensor as pictures (tiles). Two dims are the rows and columns of the pixels. Each index in
// the other dims gives one tile; tiles are in row-major order of that index.
struct TileQuery {
  int row_dim = -1, column_dim = -1;  // both -1: the last two
  int channel_dim = -1;               // -1: grey pictures; otherwise this dim has size 3: red, green, blue
  int64_t first = 0, most = 64;       // the first tile, and the largest number of tiles
  int64_t most_pixels = 64;           // most pixels along each side of a picture
};

struct TileView {
  int64_t step = 0;
  bool available = false;
  std::string reason;
  int64_t tiles = 0;  // number of tiles in the whole tensor
  int64_t first = 0, shown = 0;
  int64_t height = 0, width = 0;  // size of a tile, in elements
  int64_t pixel_rows = 0, pixel_columns = 0;
  int channels = 1;
  std::vector<std::vector<int64_t>> at;  // for each tile shown, its index in the other dims
  std::vector<float> pixels;             // [tile, channel, row, column], row-major
};

enum class SliceFormat { lua, csv };

}  // namespace lunagrad
