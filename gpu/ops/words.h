#pragma once
// Runs of elements that kernels copy bit for bit, in words of up to 16 bytes. Pure values.
#include <algorithm>

#include "gpu/ops/kernels.h"

namespace lunagrad::gpu {

// An integer type of 1, 2, 4 or 8 bytes.
inline uint32_t raw_type_of(uint64_t bytes) {
  return raw_type(bytes == 1 ? DType::u8 : bytes == 2 ? DType::f16 : bytes == 4 ? DType::i32 : DType::i64);
}

struct Words {
  uint64_t bytes;     // bytes of a word
  uint64_t elements;  // elements in a word
  uint32_t type;      // an integer type with the size of a word; unused for 16 bytes
};
// The largest words that divide runs of `length` elements. `addresses`: the addresses of all runs, combined
// with or.
inline Words words_of(DType type, uint64_t length, uint64_t addresses) {
  const uint64_t item = uint64_t(item_size(type));
  uint64_t bytes = 16;
  while (bytes > item && (length * item % bytes != 0 || addresses % bytes != 0)) bytes /= 2;
  return {bytes, bytes / item, raw_type_of(std::min<uint64_t>(bytes, 8))};
}

}  // namespace lunagrad::gpu
