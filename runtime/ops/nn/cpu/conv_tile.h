#pragma once
// The layout of an input tile for convolution: a band of rows with its padding, each row split by the stride
// s into phases (elements 0, s, 2s, …; 1, s + 1, …). So the inputs of one tap along a row of outputs are
// contiguous: output (row, column) reads x[offsets[tap] + row * row_length + column]. Any thread.
#include <vector>

#include "runtime/ops/nn/cpu/conv_sizes.h"

namespace lunagrad {

struct ConvTiling {
  // Chooses bands of at most about `outputs` outputs whose inputs fill about `bytes` bytes.
  ConvTiling(const ConvGeometry&, int64_t bytes, int64_t item_size, int64_t outputs = INT64_MAX);

  struct Phases {
    std::vector<int64_t> starts;  // the tap positions modulo the stride, in the order of their planes
    int64_t reach = 0;            // from the first tap to the last, in strides, rounded down
  };
  Phases row_phases, column_phases;
  int64_t rows, bands;           // rows of a band (the last may have fewer), bands of an image
  int64_t row_length;            // of the unfolded input
  int64_t plane, channel;        // elements of one phase, and of all phases of a channel
  std::vector<int64_t> offsets;  // offset of each tap in a channel

  // The outputs of a band: depth, first row, number of rows.
  struct Band {
    int64_t depth, first, rows;
  };
  Band band(const ConvGeometry&, int64_t index) const;
};

// Copies `channels` channels of x for one band and appends `slack` zeros; elements outside the image are
// `outside`.
template <class T>
void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const T* x,
                 int64_t channels, int64_t slack, T* tile, T outside = 0);
// The inverse for one channel: writes the tile's elements back to x. Elements of x in no phase do not change.
template <class T>
void fold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const T* tile, T* x);

// The windows of `channels` channels as columns: columns[(c * taps + tap) * out_size + output], 0 outside the
// image.
template <class T>
void windows_to_columns(const ConvGeometry&, const T* x, int64_t channels, T* columns);
// The inverse: adds each element of the columns to the element of x from which it was copied.
template <class T>
void add_columns(const ConvGeometry&, const T* columns, int64_t channels, T* x);

}  // namespace lunagrad
