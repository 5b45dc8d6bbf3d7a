// The Cholesky factors of small matrices, A = L L^H, from the lower triangle of A, or L^H from the upper
// triangle.
#include "matrices.glsl"

layout(constant_id = 0) const bool UPPER = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;
  uint64_t result;
  uint64_t fault;
  uint n;
  uint fault_kind;
  uint batched;  // whether there is a batch
  uint padding;
  Batch batch;
};
PUSH_ARGUMENTS

// Returns the order of the leading minor that is not positive, or 0.
uint factor(uint n) {
  const Share mine = share_of(n);
  for (uint k = 0; k < n; ++k) {
    const float square = real_part(held[k * stride + k]);
    if (!(square > 0.0)) return k + 1;
    const float diagonal = sqrt(square);
    barrier();
    for (uint i = k + gl_LocalInvocationID.x; i < n; i += kThreads)
      held[i * stride + k] = i == k ? number(diagonal) : held[i * stride + k] / diagonal;
    barrier();
    const uint j = mine.column;
    if (j > k && j < n) {
      const Number factor = conjugate(held[j * stride + k]);
      for (uint i = k + 1 + mine.row; i < n; i += mine.step)
        if (i >= j) held[i * stride + j] -= times(held[i * stride + k], factor);
    }
    barrier();
  }
  return 0;
}

void main() {
  const uint n = arguments.n, me = gl_LocalInvocationID.x;
  stride = n | 1;
  const uint item = MY_ITEM;
  // The upper triangle is the lower triangle of the transposed matrix, whose factor is conj(L).
  load_matrix(arguments.operand, place_in(0, item), n, n);
  const uint failing = factor(n);
  if (failing != 0 && me == 0)
    note_matrix(arguments.fault, arguments.fault_kind, item, failing, arguments.batched);
  barrier();
  for (uint e = me; e < n * n; e += kThreads) {
    const uint i = e / n, j = e % n;
    const bool outside = UPPER ? i > j : i < j;
    store(arguments.result, int64_t(item) * n * n + e,
          outside ? number(0.0) : held[UPPER ? j * stride + i : i * stride + j]);
  }
}
