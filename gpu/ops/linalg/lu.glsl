// LU factors of small matrices with partial pivoting, P A = L U, and determinants, which are products of the pivots. As in
// LAPACK a matrix with NaN or infinities has factors of NaN.
#include "matrices.glsl"

layout(constant_id = 0) const uint MODE = 0;

const uint kFactor = 0;       // result: the factors in one matrix; pivots: counted from 1
const uint kDeterminant = 1;  // result: a number for each matrix
const uint kLogarithm = 2;    // result: the sign, logarithms: log|det|

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;
  uint64_t result, pivots, logarithms;
  uint64_t fault;
  uint rows, columns;
  uint fault_kind;  // noted where a pivot is 0; 0: none
  uint batched;     // whether there is a batch
  Batch batch;
};
PUSH_ARGUMENTS

shared uint swaps[64];

// Returns the first column, counted from 1, whose pivot is 0, else 0.
uint factor(uint rows, uint columns) {
  const uint me = gl_LocalInvocationID.x;
  const Share mine = share_of(columns);
  uint failing = 0;
  for (uint k = 0; k < min(rows, columns); ++k) {
    float largest = -1.0;
    uint pivot_row = k;
    for (uint i = k; i < rows; ++i) {
      const float size = pivot_size(held[i * stride + k]);
      if (size > largest) {
        largest = size;
        pivot_row = i;
      }
    }
    barrier();
    if (me == 0) swaps[k] = pivot_row;
    if (pivot_row != k && me < columns) {
      const Number x = held[k * stride + me];
      held[k * stride + me] = held[pivot_row * stride + me];
      held[pivot_row * stride + me] = x;
    }
    barrier();
    if (largest == 0.0) {  // all elements below are 0 too
      if (failing == 0) failing = k + 1;
      continue;
    }
    const Number pivot = held[k * stride + k];
    for (uint i = k + 1 + me; i < rows; i += kThreads) held[i * stride + k] = lg_quotient(held[i * stride + k], pivot);
    barrier();
    if (mine.column > k && mine.column < columns) {
      const Number above = held[k * stride + mine.column];
      for (uint i = k + 1 + mine.row; i < rows; i += mine.step)
        held[i * stride + mine.column] -= times(held[i * stride + k], above);
    }
    barrier();
  }
  return failing;
}

void make_nan(uint rows, uint columns) {
  for (uint e = gl_LocalInvocationID.x; e < rows * columns; e += kThreads)
    held[e / columns * stride + e % columns] = number(nan());
  if (gl_LocalInvocationID.x < min(rows, columns)) swaps[gl_LocalInvocationID.x] = gl_LocalInvocationID.x;
  barrier();
}

void store_determinant(uint item, uint n) {
  float sign = 1.0, logarithm = 0.0;
  for (uint k = 0; k < n; ++k)
    if (swaps[k] != k) sign = -sign;
  Number product = number(sign);
  for (uint k = 0; k < n; ++k) {
    const Number pivot = held[k * stride + k];
    if (MODE == kDeterminant) {
      product = times(product, pivot);
    } else {
      const float size = size_of(pivot);
      product = size == 0.0 ? number(0.0) : times(product, lg_quotient(pivot, number(size)));
      logarithm += lg_log(size);
    }
  }
  store(arguments.result, int64_t(item), product);
  if (MODE == kLogarithm) store_f32(arguments.logarithms, int64_t(item), logarithm);
}

void main() {
  const uint rows = arguments.rows, columns = arguments.columns, me = gl_LocalInvocationID.x;
  stride = columns | 1;
  const uint item = MY_ITEM;
  load_matrix(arguments.operand, place_in(0, item), rows, columns);
  uint failing = 0;
  if (unsound != 0)
    make_nan(rows, columns);
  else
    failing = factor(rows, columns);
  if (MODE != kFactor) {
    if (me == 0) store_determinant(item, rows);
    return;
  }
  if (me == 0 && failing != 0 && arguments.fault_kind != 0)
    note_matrix(arguments.fault, arguments.fault_kind, item, failing, arguments.batched);
  const int64_t first = int64_t(item) * rows * columns, first_pivot = int64_t(item) * min(rows, columns);
  for (uint e = me; e < rows * columns; e += kThreads)
    store(arguments.result, first + e, held[e / columns * stride + e % columns]);
  if (me < min(rows, columns)) I32Element(arguments.pivots + (first_pivot + me) * 4).at = int(swaps[me]) + 1;
}
