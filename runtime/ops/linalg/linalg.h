#pragma once
// What the files linalg_*.cpp share: checks of matrices, batches of them for LAPACK, and the operations that
// gradients and compositions of other files call. In the comments A is [..., m, n] or square, [..., n, n];
// further dims are batches. For the tensors' thread, except the templates for kernels.
#include <optional>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/dense.h"
#include "runtime/ops/families.h"
#include "runtime/ops/flops.h"
#include "runtime/ops/linalg/cpu/lapack.h"

namespace lunagrad {

// --- checks; `which` names the operand ---

void require_matrix(const Call&, int operand = 0);
void require_square(const Call&, int operand = 0);

// The matrices B of A X = B, or of X A = B unless `left`. `vectors`: B is a vector or a batch of vectors, and
// each vector became a column. By PyTorch's rule B is a batch of vectors if its shape is A's shape without
// the last dim. Error unless B fits A.
struct RightSide {
  Tensor matrices;
  bool vectors;
};
RightSide right_side_of(const Call&, bool left);

inline Shape batch_shape(const Shape& shape) {
  Shape batch;
  for (int d = 0; d < shape.size() - 2; ++d) batch.push_back(shape[d]);
  return batch;
}
inline Shape with_dims(Shape batch, std::initializer_list<int64_t> dims) {
  for (const int64_t size : dims) batch.push_back(size);
  return batch;
}

// --- for records ---

inline const ParamSpec kHermitian{"hermitian", ParamKind::boolean, false};
// Pivots of an example: both rows were exchanged with the second.
inline const ExampleOperand kSecondRow{.shape = {2}, .low = 2, .high = 3, .kind = kIndex};

// --- for kernels ---

// Calls f.template operator()<T>() for f32, f64, c64 or c128.
template <class F>
void visit_linalg_dtype(DType dtype, F&& f) {
  visit_any_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>) f.template operator()<T>();
  });
}

// A contiguous copy of x in which each matrix is column-major: [..., n, m] in memory.
Tensor columns_of(const Tensor& x);
// Copies a column-major batch into the contiguous row-major tensor `out`, whose matrices have the same number
// of rows and at most as many columns.
void copy_from_columns(const Tensor& out, const Tensor& columns);

// Calls f(item) for each item of a batch on all threads; `work` is the number of operations for one item.
template <class F>
void for_items(int64_t items, double work, F&& f) {
  const int64_t grain = std::max<int64_t>(1, int64_t(4e4 / std::max(1.0, work)));
  parallel_for(items, grain, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) f(item);
  });
}

// For error texts: `single` for a single matrix, else "matrix 3 of the batch".
std::string in_batch(const Shape& shape, int64_t item, const char* single = "the matrix");
// Error unless all elements are finite: LAPACK's iterations may not end otherwise.
void require_finite(const char* op, const Tensor& x);

// --- for gradients ---

inline bool is_complex_tensor(const Tensor& x) { return is_complex(x.dtype()); }
// The transpose, and the conjugate transpose, of the last two dims.
inline Tensor transposed(const Tensor& x) { return transpose(x, -2, -1); }
inline Tensor adjoint(const Tensor& x) { return is_complex_tensor(x) ? conj(transposed(x)) : transposed(x); }
// The identity of x's last dim, type and device.
Tensor identity_like(const Tensor& x);
// A diagonal matrix from a vector in the last dim; the diagonal of the last two dims.
Tensor diag_embed(const Tensor& x);
inline Tensor diagonal_of(const Tensor& x) { return diagonal(x, 0, -2, -1); }
// 1 / x, and 0 where x is 0.
Tensor reciprocal_or_zero(const Tensor& x);

// --- operations of these files ---

Tensor linalg_inv(const Tensor& a);
Tensor linalg_solve(const Tensor& a, const Tensor& b);  // b [..., n, k]
Tensor linalg_solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left = true,
                               bool unitriangular = false);
Tensor linalg_cholesky(const Tensor& a, bool upper = false);
Tensor linalg_det(const Tensor& a);
Operands linalg_slogdet(const Tensor& a);
Operands linalg_qr(const Tensor& a);  // reduced
Operands linalg_svd(const Tensor& a, bool full_matrices);
Tensor linalg_svdvals(const Tensor& a);
Operands linalg_eigh(const Tensor& a, bool upper = false);
Tensor linalg_eigvalsh(const Tensor& a, bool upper = false);
Operands linalg_eig(const Tensor& a);
Tensor linalg_pinv(const Tensor& a);
// dA from the gradient g of the pseudoinverse; both in the form that users see (backward.h).
Tensor pinv_gradient(const Tensor& g, const Tensor& pinv, const Tensor& a);

}  // namespace lunagrad
