#pragma once
// Reductions over the last dims of a contiguous tensor, for groups of deferred calls: a matrix whose rows are
// reduced to one value each. Row kernels, such as softmax and norms, are described in the same way. Pure; any
// thread.
#include <bit>

#include "runtime/core/op.h"

namespace lunagrad {

// Longer rows are divided: parts of this many elements are reduced, and then the states of the parts.
inline constexpr int64_t kLongestRow = 1 << 16;

// A reduction keeps a state per row. The row's value is state / divisor, or its square root if `root`.
struct RowReduction {
  enum class Kind : uint8_t {
    none,
    sum,
    product,
    largest,
    smallest,
    magnitudes,
    squares,
    moments,
    value,  // one value per row, by the call's own kernel (logsumexp)
    // not a reduction: the result is a row too, and each of its elements depends on the whole row (softmax)
    map
  };
  Kind kind = Kind::none;
  bool root = false;
  double divisor = 1;
  int64_t rows = 0, columns = 0;
  bool in_parts = false;  // the kernel takes a divided row part by part
  // bit i: operand i has the elements of all rows; other operands are in memory before the group runs
  uint32_t whole = 1;
  explicit operator bool() const { return kind != Kind::none; }
  bool divided() const { return columns > kLongestRow; }
  bool maps() const { return kind == Kind::map; }
  bool by_kernel() const { return kind == Kind::map || kind == Kind::value; }
};

// Kind none: the call is another op, an operand is not contiguous or not floating, or other dims are reduced.
// Results after the first are sums over rows: they are complete when all rows are computed.
RowReduction row_reduction(const Call&);
// RowReduction::whole of the op's calls. 0: none of them reduces rows.
uint32_t operands_with_rows(const Op&);
// The first operand with the elements of all rows: the rows have its shape.
inline const Tensor& whole_operand(const Call& call, const RowReduction& reduction) {
  return call.input(std::countr_zero(reduction.whole));
}

// The members of a group, by rows of the same length. A stage holds members that need no row value made in
// the same stage. So their elements can be computed a few at a time; the row values follow.
struct RowGroup {
  int64_t count = 0;     // elements of all rows
  int64_t columns = 0;   // elements of a row; 0: the group has no row reductions
  bool divided = false;  // long rows are divided into parts; no member reads the row values
  struct Member {
    RowReduction reduction;  // kind none: elementwise
    bool row = false;        // the result has one element per row
    int stage = 0;           // a map is computed after the elements of its stage
    bool outlasts = false;   // the result is reduced, or read in a later stage
  };
  Small<Member, 8> members;
  int stages = 0;

  explicit RowGroup(const CallGroup&);
};

}  // namespace lunagrad
