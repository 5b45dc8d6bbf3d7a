#pragma once
// A tile of an image as convolution reads it: a band of rows with its padding, each row cut by the stride
// into phases (elements 0, s, 2s, …; 1, s + 1, …), so that what one tap of the kernel meets along a row of
// outputs lies side by side: outputs (row, column) read x[offsets[tap] + row * row_length + column]. Any
// thread.
#include <vector>

#include "runtime/cpu/conv.h"

namespace lunagrad {

struct ConvTiling {
  // Bands of at most about `outputs` outputs whose inputs fill about `bytes`.
  ConvTiling(const ConvGeometry&, int64_t bytes, int64_t item_size, int64_t outputs = INT64_MAX);

  struct Phases {
    std::vector<int64_t> starts;  // the remainders that taps have, in the order of their planes
    int64_t reach = 0;            // whole strides from the first tap to the last
  };
  Phases row_phases, column_phases;
  int64_t rows, bands;           // rows of a band (the last may have fewer), bands of an image
  int64_t row_length;            // of the unfolded input
  int64_t plane, channel;        // elements of one phase and of all phases of a channel
  std::vector<int64_t> offsets;  // of each tap in a channel

  // The band's place among the outputs: depth, first row, number of rows.
  struct Band {
    int64_t depth, first, rows;
  };
  Band band(const ConvGeometry&, int64_t index) const;
};

// Copies `channels` channels of x for one band; elements that are not in the image are `outside`. `slack`
// zeros follow.
template <class T>
void unfold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const T* x,
                 int64_t channels, int64_t slack, T* tile, T outside = 0);
// The reverse for one channel: writes the tile's elements to their places in x, those in no phase stay as
// they are.
template <class T>
void fold_tile(const ConvGeometry&, const ConvTiling&, const ConvTiling::Band&, const T* tile, T* x);

// The windows of `channels` channels as columns: columns[(c * taps + tap) * out_size + output], 0 outside the
// image …
template <class T>
void windows_to_columns(const ConvGeometry&, const T* x, int64_t channels, T* columns);
// … and the reverse: adds each element of the columns to where it comes from in x.
template <class T>
void add_columns(const ConvGeometry&, const T* columns, int64_t channels, T* x);

}  // namespace lunagrad
