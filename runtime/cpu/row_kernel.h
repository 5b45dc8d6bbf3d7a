#pragma once
// The row kernels: softmax, norms, running sums, their gradients and gradients of losses. A call alone
// (ops/by_rows.h) and a group of calls (fused.h) run the same kernel over the same blocks of rows, so both
// give the same bits. A kernel belongs to one computation of a call; its rows may be computed by several
// threads.
#include <memory>

#include "runtime/core/op.h"

namespace lunagrad {

class RowKernel {
 public:
  RowKernel(int64_t rows, int64_t columns) : rows_(rows), columns_(columns) {}
  RowKernel(const RowKernel&) = delete;
  virtual ~RowKernel() = default;

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  // The number of rows in a block, counted from the first row. One thread computes a block, in ascending
  // order.
  int64_t block() const { return block_; }

  // Computes a row of the first result. in[k] is the row of operand k if this operand has rows
  // (RowReduction::whole), else null. `out` is null if the result is not needed. For a divided row
  // (RowReduction::in_parts) `row` counts its parts, `in` points to them, `out` is null, and finish() writes
  // the result.
  virtual void run(int64_t row, const void* const* in, void* out) const = 0;
  // Called after all rows: writes the results that are made of several rows or parts.
  virtual void finish() const {}

 protected:
  int64_t block_ = 1;

 private:
  int64_t rows_, columns_;
};

// The kernel for a call whose operands are contiguous tensors on the CPU and whose rows are f32 or f64. It
// refers to the call and to their memory. Implemented in run/all_ops.cpp.
std::unique_ptr<RowKernel> row_kernel(const Call&);

}  // namespace lunagrad
