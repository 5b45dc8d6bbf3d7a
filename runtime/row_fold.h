#pragma once
// Reductions over the last dims of a contiguous tensor, as groups of calls see them: a matrix whose rows are
// folded to one value each. Pure; any thread.
#include "runtime/op.h"

namespace lunagrad {

// The value of a row is its state divided by `divisor`, or the square root of that.
struct RowFold {
  enum class Kind : uint8_t { none, sum, product, largest, smallest, magnitudes, squares, moments };
  Kind kind = Kind::none;
  bool root = false;
  double divisor = 1;
  int64_t rows = 0, columns = 0;
  explicit operator bool() const { return kind != Kind::none; }
};

// Kind none: the call is another op, its operand is not contiguous or holds no floats, or it folds other
// dims.
RowFold row_fold(const Call&);

}  // namespace lunagrad
