#pragma once
// Results whose size depends on the values, for nonzero and unique: pieces of the elements are counted first.
// `before` [pieces + 1] says how many results come before each piece, and of all pieces.
#include "runtime/ops/dense.h"

namespace lunagrad {

inline constexpr int64_t kListedPiece = 1 << 13;  // elements of a piece

inline int64_t listed_pieces(const Tensor& x) { return (x.numel() + kListedPiece - 1) / kListedPiece; }

// The number of results, read from `before` of x. On a GPU this waits.
inline int64_t listed_count(const char* op, const Tensor& x, const Tensor& before) {
  if (before.dtype() != DType::i64 || !(before.shape() == Shape{listed_pieces(x) + 1}))
    fail(op, ": counts of the pieces have type ", before.dtype(), " and shape ", before.shape());
  context().check_may_read();
  const NoGrad off;
  const int64_t count = narrow(before, 0, before.numel() - 1, 1).item_integer();
  if (count < 0 || count > x.numel()) fail(op, ": ", count, " of ", x.numel(), " elements cannot be listed");
  return count;
}

}  // namespace lunagrad
