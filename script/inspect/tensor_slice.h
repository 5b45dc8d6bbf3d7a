#pragma once
// Answers what value_slice.h asks, of one tensor: only the cells that are shown are copied, by reading the
// elements where they lie. A slice of millions of elements is looked at in even steps, so that an answer
// takes some ten milliseconds whatever the tensor's size; only statistics look at everything. For the thread
// of the tensor.
#include <stop_token>

#include "runtime/tensor.h"
#include "script/view/value_slice.h"

namespace lunagrad {

// Errors are the engine's: a torn tensor, a stop.
SliceView read_slice(const Tensor&, const SliceQuery&, std::stop_token = {});
TileView read_tiles(const Tensor&, const TileQuery&, std::stop_token = {});
// Every element of the slice: rows of comma-separated values, or a Lua expression that makes the tensor.
// Error for more than kMostPrinted.
std::string print_slice(const Tensor&, const SliceQuery&, SliceFormat);

inline constexpr int64_t kMostPrinted = 1 << 20;

}  // namespace lunagrad
