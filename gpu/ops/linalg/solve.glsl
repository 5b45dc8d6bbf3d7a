// Solves linear systems for blocks of columns of the right sides, with a triangular matrix or with the
// factors that lu.glsl computes.
#include "matrices.glsl"
#include "substitution.glsl"

layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 2) const bool UPPER = false;
layout(constant_id = 3) const bool UNIT = false;

const uint kTriangle = 0;  // the operand is a triangle
const uint kSystem = 1;    // the operand has the factors of the transposed matrix
const uint kInverse = 2;   // the same; the right side is the identity

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand, right, result;
  uint64_t pivots;
  uint n, columns;
  uint width, blocks;  // columns of a block; blocks of a matrix
  Batch batch;         // of operand and right side
};
PUSH_ARGUMENTS

// Puts the rows of the solution back into the order of the matrix.
void exchange_rows(uint n, uint width, int64_t pivots) {
  const uint me = gl_LocalInvocationID.x;
  if (me < width)
    for (int i = int(n) - 1; i >= 0; --i) {
      const uint other = uint(I32Element(arguments.pivots + (pivots + i) * 4).at) - 1;
      if (other == uint(i)) continue;
      const Number x = held[sides + i * width + me];
      held[sides + i * width + me] = held[sides + other * width + me];
      held[sides + other * width + me] = x;
    }
  barrier();
}

void main() {
  const uint n = arguments.n, me = gl_LocalInvocationID.x;
  stride = n | 1;
  sides = n * stride;
  const uint task = MY_ITEM;
  const uint item = task / arguments.blocks, first = task % arguments.blocks * arguments.width;
  const uint width = min(arguments.width, arguments.columns - first);
  const int64_t matrix = place_in(0, item);
  load_matrix(arguments.operand, matrix, n, n);
  const int64_t from = MODE == kInverse ? 0 : place_in(1, item);
  for (uint e = me; e < n * width; e += kThreads) {
    const uint i = e / width, j = first + e % width;
    held[sides + e] = MODE == kInverse ? number(i == j ? 1.0 : 0.0)
                                       : load(arguments.right.memory, from + int64_t(i) * arguments.right.row_step +
                                                                          int64_t(j) * arguments.right.column_step);
  }
  if (MODE == kTriangle) {
    substitute(n, width, UPPER, UNIT, false);
  } else {
    // With A^T = P L U, the rows x^T of the solutions are b^T U^-1 L^-1 P^T.
    substitute(n, width, false, false, true);
    substitute(n, width, true, true, true);
    exchange_rows(n, width, matrix / n);
  }
  const int64_t to = int64_t(item) * n * arguments.columns;
  for (uint e = me; e < n * width; e += kThreads)
    store(arguments.result.memory, to + int64_t(e / width) * arguments.result.row_step +
                                       int64_t(first + e % width) * arguments.result.column_step,
          held[sides + e]);
}
