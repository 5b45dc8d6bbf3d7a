// The cofactors of small matrices, also of singular ones. With complete pivoting A = P L D U Q, where L and U
// have ones on their diagonals: cof(A) = det(P) det(Q) P L^-T cof(D) U^-T Q. Each diagonal element of cof(D)
// is the product of the other diagonal elements of D.
#include "matrices.glsl"
#include "substitution.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;
  uint64_t result;
  uint64_t fault;
  uint n, width;    // width: columns that are solved together
  uint fault_kind;  // noted where an element is NaN or infinite
  uint padding;
  Batch batch;
};
PUSH_ARGUMENTS

shared float best[kThreads];
shared uint best_at[kThreads];
shared uint row_of[kThreads], column_of[kThreads];  // pivot row and column in A
shared Number others[kThreads];

// The row and the column of the largest remaining element.
uvec2 find_pivot(uint n, uint k, Share mine) {
  const uint me = gl_LocalInvocationID.x;
  float largest = -1.0;
  uint at = k * n + k;
  if (mine.column >= k && mine.column < n)
    for (uint i = k + mine.row; i < n; i += mine.step) {
      const float size = pivot_size(held[i * stride + mine.column]);
      if (size > largest) {
        largest = size;
        at = i * n + mine.column;
      }
    }
  best[me] = largest;
  best_at[me] = at;
  barrier();
  for (uint t = 0; t < kThreads; ++t)
    if (best[t] > largest || (best[t] == largest && best_at[t] < at)) {
      largest = best[t];
      at = best_at[t];
    }
  return uvec2(at / n, at % n);
}

// Returns det(P) det(Q).
float factor(uint n) {
  const uint me = gl_LocalInvocationID.x;
  const Share mine = share_of(n);
  float sign = 1.0;
  if (me < n) row_of[me] = column_of[me] = me;
  for (uint k = 0; k < n; ++k) {
    barrier();
    const uvec2 pivot_at = find_pivot(n, k, mine);
    if (pivot_at.x != k) sign = -sign;
    if (pivot_at.y != k) sign = -sign;
    barrier();
    if (pivot_at.x != k && me < n) {
      const Number x = held[k * stride + me];
      held[k * stride + me] = held[pivot_at.x * stride + me];
      held[pivot_at.x * stride + me] = x;
    }
    barrier();
    if (pivot_at.y != k && me < n) {
      const Number x = held[me * stride + k];
      held[me * stride + k] = held[me * stride + pivot_at.y];
      held[me * stride + pivot_at.y] = x;
    }
    if (me == 0) {
      const uint row = row_of[k], column = column_of[k];
      row_of[k] = row_of[pivot_at.x];
      row_of[pivot_at.x] = row;
      column_of[k] = column_of[pivot_at.y];
      column_of[pivot_at.y] = column;
    }
    barrier();
    const Number pivot = held[k * stride + k];
    if (pivot == number(0.0)) continue;  // all remaining elements are 0 too
    for (uint i = k + 1 + me; i < n; i += kThreads) held[i * stride + k] = lg_quotient(held[i * stride + k], pivot);
    barrier();
    if (mine.column > k && mine.column < n)
      for (uint i = k + 1 + mine.row; i < n; i += mine.step)
        held[i * stride + mine.column] -= times(held[i * stride + k], held[k * stride + mine.column]);
    barrier();
    for (uint j = k + 1 + me; j < n; j += kThreads) held[k * stride + j] = lg_quotient(held[k * stride + j], pivot);
  }
  barrier();
  return sign;
}

void main() {
  const uint n = arguments.n, me = gl_LocalInvocationID.x;
  stride = n | 1;
  sides = n * stride;
  const uint item = MY_ITEM;
  load_matrix(arguments.operand, place_in(0, item), n, n);
  if (unsound != 0 && me == 0) note_matrix(arguments.fault, arguments.fault_kind, item, 1, 0);
  const float sign = factor(n);
  if (me < n) {
    Number product = number(sign);
    for (uint k = 0; k < n; ++k)
      if (k != me) product = times(product, held[k * stride + k]);
    others[me] = product;
  }
  for (uint first = 0; first < n; first += arguments.width) {
    const uint width = min(arguments.width, n - first);
    barrier();
    for (uint e = me; e < n * width; e += kThreads)
      held[sides + e] = number(e / width == first + e % width ? 1.0 : 0.0);
    substitute(n, width, false, true, true);
    for (uint e = me; e < n * width; e += kThreads) held[sides + e] = times(held[sides + e], others[e / width]);
    substitute(n, width, true, true, true);
    for (uint e = me; e < n * width; e += kThreads)
      store(arguments.result, (int64_t(item) * n + row_of[e / width]) * n + column_of[first + e % width],
            held[sides + e]);
  }
}
