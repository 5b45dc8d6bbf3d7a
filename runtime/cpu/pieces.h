#pragma once
// Long loops on one thread that check regularly for a request to stop, as parallel_for does. Any thread.
#include <algorithm>
#include <cstdint>

#include "runtime/core/context.h"
#include "runtime/core/error.h"

namespace lunagrad {

inline constexpr int64_t kStopPiece = 1 << 18;  // iterations between two checks; a few ms

// Calls f(begin, end) on consecutive pieces that cover [0, count). Error(cancelled) between two pieces.
// Variables that f changes in each iteration should be local to f, so that the compiler keeps them in
// registers.
template <class F>
void in_pieces(int64_t count, F&& f) {
  if (count <= kStopPiece) return f(int64_t(0), count);
  const Context& ctx = context();
  for (int64_t begin = 0; begin < count; begin += kStopPiece) {
    ctx.check_stop();
    f(begin, std::min(begin + kStopPiece, count));
  }
}

// A comparison for std::sort and similar algorithms that checks for a stop at every call. The elements must
// be trivially copyable, because Error(cancelled) leaves the sort in the middle.
template <class Less>
auto stoppable(Less less) {
  return [&ctx = context(), less](const auto& a, const auto& b) {
    ctx.check_stop();
    return less(a, b);
  };
}

}  // namespace lunagrad
