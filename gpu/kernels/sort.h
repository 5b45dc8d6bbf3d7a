#pragma once
// The order of keys, for kernels that make their own.
#include "gpu/kernels.h"

namespace lunagrad::gpu {

// Rows of 64-bit keys, and the 32-bit numbers that they carry along, of `padded` each, a power of two of at
// least 2.
struct KeyRows {
  const Scratch &keys, &order;
  uint32_t rows, padded;
};
// Puts the keys of each row in ascending order; of equal ones the smaller number is first.
void sort_keys(const KeyRows &, Recorder &);

}  // namespace lunagrad::gpu
