// The helpers of linalg.h.
#include "runtime/ops/linalg/linalg.h"

#include <atomic>

#include "runtime/ops/elementwise/cpu/copy.h"

namespace lunagrad {
namespace {

void require_numbers(const Call& call, const Tensor& x) {
  if (!is_differentiable(x.dtype()))
    fail(call.op->name, ": a floating or complex type is needed (got ", x.dtype(), ")");
}

// The strides of a contiguous batch of column-major matrices of this shape.
Strides column_strides(const Shape& shape, int64_t rows) {
  Strides strides = contiguous_strides(shape);
  const int n = shape.size();
  strides[n - 2] = 1;
  strides[n - 1] = rows;
  return strides;
}

}  // namespace

void require_matrix(const Call& call, int operand) {
  const Tensor& x = call.input(operand);
  require_numbers(call, x);
  if (x.ndim() < 2)
    fail(call.op->name, ": ", call.op->inputs[size_t(operand)].name,
         " must have at least 2 dims, the last two of them the matrix (got shape ", x.shape(), ")");
}

void require_square(const Call& call, int operand) {
  require_matrix(call, operand);
  const Tensor& x = call.input(operand);
  if (x.size(-1) != x.size(-2))
    fail(call.op->name, ": ", call.op->inputs[size_t(operand)].name,
         " must be a square matrix or a batch of them (got shape ", x.shape(), ")");
}

RightSide right_side_of(const Call& call, bool left) {
  const Tensor &a = call.input(0), &b = call.input(1);
  const char* const name = call.op->name;
  if (b.ndim() == 0) fail(name, ": B must have at least 1 dim (got shape [])");
  Shape vector_batch = batch_shape(a.shape());
  vector_batch.push_back(a.size(-1));
  const bool vectors = b.ndim() == 1 || b.shape() == vector_batch;
  if (vectors && !left)
    fail(name, ": left = false needs a matrix B or batches of them (got A of shape ", a.shape(),
         " and B of shape ", b.shape(), ")");
  RightSide made{vectors ? unsqueeze(b, -1) : b, vectors};
  if (made.matrices.size(left ? -2 : -1) != a.size(-1))
    fail(name, ": A of shape ", a.shape(), " does not fit B of shape ", b.shape(), ": B must have ",
         a.size(-1), left ? " rows" : " columns");
  return made;
}

Tensor columns_of(const Tensor& x) {
  Shape shape = x.shape();
  std::swap(shape[x.ndim() - 2], shape[x.ndim() - 1]);
  Tensor columns = Tensor::empty(shape, x.dtype());
  if (columns.numel() > 0)
    copy_strided(columns.raw(), x.dtype(), column_strides(x.shape(), x.size(-2)), x.raw(), x.dtype(),
                 x.strides(), x.shape());
  return columns;
}

void copy_from_columns(const Tensor& out, const Tensor& columns) {
  if (out.numel() == 0) return;
  Strides strides = columns.strides();
  const int n = columns.ndim();
  std::swap(strides[n - 2], strides[n - 1]);
  copy_strided(out.raw(), out.dtype(), out.strides(), columns.raw(), columns.dtype(), strides, out.shape());
}

std::string in_batch(const Shape& shape, int64_t item, const char* single) {
  return shape.size() <= 2 ? std::string(single) : text("matrix ", item + 1, " of the batch");
}

void require_finite(const char* op, const Tensor& x) {
  const Tensor ordered = in_order(x);
  std::atomic<bool> found{false};
  visit_linalg_dtype(x.dtype(), [&]<class T>() {
    const auto* const values = static_cast<const Part<T>*>(ordered.raw());
    parallel_for(ordered.numel() * (is_complex_v<T> ? 2 : 1), 1 << 16, [&](int64_t begin, int64_t end) {
      Part<T> sum = 0;  // x - x is NaN for NaN and infinities
      for (int64_t i = begin; i < end; ++i) sum += values[i] - values[i];
      if (sum != 0 || std::isnan(sum)) found = true;
    });
  });
  if (found) fail(op, ": the input contains NaN or infinite values");
}

Tensor identity_like(const Tensor& x) { return eye(x.size(-1), x.size(-1), x.dtype(), x.device()); }
Tensor diag_embed(const Tensor& x) { return unsqueeze(x, -1) * identity_like(x); }
Tensor reciprocal_or_zero(const Tensor& x) {
  const Tensor zero = eq(x, zeros_like(x.detach()));
  return where(zero, zeros_like(x.detach()), reciprocal(where(zero, ones_like(x.detach()), x)));
}

}  // namespace lunagrad
