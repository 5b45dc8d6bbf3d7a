#pragma once
// Chooses how to show a batch: as pictures, text or rows of numbers, depending on shapes, dtypes and values.
// Pure; any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "script/view/batch.h"

namespace lunagrad {

enum class BatchLook { pictures, text, rows };

// [N, C, H, W] and [N, H, W, C] with 1, 3 or 4 channels and [N, H, W] are pictures; integers that are letters
// are text. Rows whose length is a square can be shown as pictures, too.
BatchLook look_of(const ColumnView&);
bool can_be_pictures(const ColumnView&);
bool can_be_text(const ColumnView&);

// The number of samples of a column that were copied completely.
int64_t whole_samples(const ColumnView&);

// Pictures of a column as tiles of one image, all with the same scale.
struct PictureSheet {
  int tile_width = 0, tile_height = 0, columns = 0, count = 0;
  int width = 0, height = 0;
  std::vector<uint32_t> pixels;
  double low = 0, high = 1;  // the values shown as black and as white
};
PictureSheet picture_sheet(const ColumnView&, int most, int largest_side);

// Sample i of a column of letters; values that are not letters appear as ·.
std::string text_sample(const ColumnView&, int64_t i);
// One element; integers have no decimal point.
std::string cell_text(const ColumnView&, int64_t index);

}  // namespace lunagrad
