#pragma once
// Sorts keys for other kernels.
#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// The padded number of keys of a row of this length: a power of two of at least 2.
uint32_t padded_to(int64_t length);

// Rows of `padded` (see padded_to()) 64-bit keys, each with a 32-bit number that moves with it.
struct KeyRows {
  const Scratch &keys, &order;
  uint32_t rows, padded;
};
// Sorts each row by ascending keys, and equal keys by ascending numbers.
void sort_keys(const KeyRows &, Recorder &);

}  // namespace lunagrad::gpu
