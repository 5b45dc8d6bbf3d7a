#pragma once
// Answers the queries of value_slice.h for one tensor. Reads elements in place and copies only the shown
// cells. Subsamples a slice of more than four million elements with a constant stride, so that an answer
// takes some ten milliseconds for any size; only statistics read every element. For the tensor's thread.
#include <stop_token>

#include "runtime/core/tensor.h"
#include "script/view/value_slice.h"

namespace lunagrad {

// Throws the engine's errors: a damaged tensor, a requested stop.
SliceView read_slice(const Tensor&, const SliceQuery&, std::stop_token = {});
TileView read_tiles(const Tensor&, const TileQuery&, std::stop_token = {});
// Every element of the slice: rows of comma-separated values, or a Lua expression that makes the tensor.
// Error for more than kMostPrinted elements.
std::string print_slice(const Tensor&, const SliceQuery&, SliceFormat);

inline constexpr int64_t kMostPrinted = 1 << 20;

}  // namespace lunagrad
