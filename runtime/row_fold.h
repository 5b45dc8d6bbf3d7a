#pragma once
// Reductions over the last dims of a contiguous tensor, as groups of calls see them: a matrix whose rows are
// folded to one value each. Calls whose kernel needs a row as a whole, as softmax and norms, are seen in the
// same way. Pure; any thread.
#include <bit>

#include "runtime/op.h"

namespace lunagrad {

// Folds of longer rows are divided: parts of this many elements are folded, and then their states.
inline constexpr int64_t kLongestRow = 1 << 16;

// The value of a row is its state divided by `divisor`, or the square root of that.
struct RowFold {
  enum class Kind : uint8_t {
    none,
    sum,
    product,
    largest,
    smallest,
    magnitudes,
    squares,
    moments,
    value,  // one value of the row, by the call's own kernel (logsumexp)
    map     // no fold: the row becomes another row, each element of which depends on all (softmax)
  };
  Kind kind = Kind::none;
  bool root = false;
  double divisor = 1;
  int64_t rows = 0, columns = 0;
  bool in_parts = false;  // the kernel takes a divided row part by part
  uint32_t whole = 1;  // bit i: operand i has the elements of all rows. Others are in memory before the group
  explicit operator bool() const { return kind != Kind::none; }
  bool divided() const { return columns > kLongestRow; }
  bool maps() const { return kind == Kind::map; }
  bool by_kernel() const { return kind == Kind::map || kind == Kind::value; }
};

// Kind none: the call is another op, an operand is not contiguous or holds no floats, or it folds other dims.
// Results after the first are sums over rows: they are there when all rows are computed.
RowFold row_fold(const Call&);
// RowFold::whole of the op's calls. 0: none of them folds rows.
uint32_t operands_with_rows(const Op&);
// The operand whose shape the rows have.
inline const Tensor& whole_operand(const Call& call, const RowFold& fold) {
  return call.input(std::countr_zero(fold.whole));
}

// The members of a group in rows of the same length. Those of one stage need no value of a row that the stage
// makes, so their elements can be computed a few at a time; the values of the rows follow.
struct RowGroup {
  int64_t count = 0;     // elements of the rows
  int64_t columns = 0;   // of a row; 0: the group folds no rows
  bool divided = false;  // the folds are; no member reads their values
  struct Member {
    RowFold fold;           // kind none: elementwise
    bool row = false;       // the result has one element for each row
    int stage = 0;          // a map is computed after the elements of its stage, too
    bool outlasts = false;  // the result is folded, or read in a later stage
  };
  Small<Member, 8> members;
  int stages = 0;

  explicit RowGroup(const CallGroup&);
};

}  // namespace lunagrad
