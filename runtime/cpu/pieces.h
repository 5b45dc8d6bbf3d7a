#pragma once
// Long loops that one thread runs alone: they look at the request to stop now and then, as parallel_for does.
#include <algorithm>
#include <cstdint>

#include "runtime/context.h"
#include "runtime/error.h"

namespace lunagrad {

inline constexpr int64_t kStopPiece = 1 << 18;  // steps of a loop between two looks; a few ms

// Calls f(begin, end) on pieces that cover [0, count), in order. Error(cancelled) between two of them. What f
// changes at each step belongs into a local variable of f, where the compiler keeps it in a register.
template <class F>
void in_pieces(int64_t count, F&& f) {
  if (count <= kStopPiece) return f(int64_t(0), count);
  const Context& ctx = context();
  for (int64_t begin = 0; begin < count; begin += kStopPiece) {
    ctx.check_stop();
    f(begin, std::min(begin + kStopPiece, count));
  }
}

// An order that looks at every comparison, for std::sort and its kin; their elements must be plain values.
template <class Less>
auto stoppable(Less less) {
  return [&ctx = context(), less](const auto& a, const auto& b) {
    ctx.check_stop();
    return less(a, b);
  };
}

}  // namespace lunagrad
