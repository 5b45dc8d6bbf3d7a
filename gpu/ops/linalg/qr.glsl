// QR factors of small matrices by Householder reflections H = 1 - tau v v^H, with LAPACK's signs. R = H_k^H …
// H_1^H A replaces A, with the vectors v below the diagonal; Q is H_1 … H_k times the identity, one block of
// columns at a time.
#include "matrices.glsl"

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;
  uint64_t q, r;
  uint rows, columns;
  uint q_columns;  // 0: Q is not wanted
  uint r_rows;
  uint width;  // columns of a block
  uint padding;
  Batch batch;
};
PUSH_ARGUMENTS

shared Number taus[kThreads];

void factor(uint rows, uint columns) {
  const uint me = gl_LocalInvocationID.x;
  for (uint k = 0; k < min(rows, columns); ++k) {
    const Number alpha = held[k * stride + k];
    float largest = 0.0, sum = 0.0;
    for (uint i = k + 1; i < rows; ++i) largest = max(largest, largest_of(held[i * stride + k]));
    if (largest == 0.0 && alpha == number(real_part(alpha))) {  // already a column of R
      if (me == 0) taus[k] = number(0.0);
      continue;
    }
    largest = max(largest, largest_of(alpha));
    for (uint i = k; i < rows; ++i) sum += square_of(lg_quotient(held[i * stride + k], number(largest)));
    const float length = largest * sqrt(sum), beta = real_part(alpha) >= 0.0 ? -length : length;
    const Number tau = lg_quotient(number(beta) - alpha, number(beta)), below = alpha - number(beta);
    barrier();
    for (uint i = k + 1 + me; i < rows; i += kThreads) held[i * stride + k] = lg_quotient(held[i * stride + k], below);
    if (me == 0) {
      taus[k] = tau;
      held[k * stride + k] = number(beta);
    }
    barrier();
    for (uint j = k + 1 + me; j < columns; j += kThreads) {
      Number product = held[k * stride + j];
      for (uint i = k + 1; i < rows; ++i) product += times(conjugate(held[i * stride + k]), held[i * stride + j]);
      product = times(conjugate(tau), product);
      held[k * stride + j] -= product;
      for (uint i = k + 1; i < rows; ++i) held[i * stride + j] -= times(held[i * stride + k], product);
    }
    barrier();
  }
  barrier();
}

// Columns first … first + width - 1 of Q, each by one invocation, at held[sides + i * width + column].
void make_q(uint rows, uint columns, uint sides, uint first, uint width) {
  const uint me = gl_LocalInvocationID.x;
  if (me < width) {
    for (uint i = 0; i < rows; ++i) held[sides + i * width + me] = number(i == first + me ? 1.0 : 0.0);
    for (int k = int(min(rows, columns)) - 1; k >= 0; --k) {
      Number product = held[sides + k * width + me];
      for (uint i = k + 1; i < rows; ++i)
        product += times(conjugate(held[i * stride + k]), held[sides + i * width + me]);
      product = times(taus[k], product);
      held[sides + k * width + me] -= product;
      for (uint i = k + 1; i < rows; ++i) held[sides + i * width + me] -= times(held[i * stride + k], product);
    }
  }
  barrier();
}

void main() {
  const uint rows = arguments.rows, columns = arguments.columns, me = gl_LocalInvocationID.x;
  stride = columns | 1;
  const uint sides = rows * stride;
  const uint item = MY_ITEM;
  load_matrix(arguments.operand, place_in(0, item), rows, columns);
  factor(rows, columns);
  const int64_t r_first = int64_t(item) * arguments.r_rows * columns;
  for (uint e = me; e < arguments.r_rows * columns; e += kThreads) {
    const uint i = e / columns, j = e % columns;
    store(arguments.r, r_first + e, i <= j && i < rows ? held[i * stride + j] : number(0.0));
  }
  const uint q_columns = arguments.q_columns;
  const int64_t q_first = int64_t(item) * rows * q_columns;
  for (uint first = 0; first < q_columns; first += arguments.width) {
    const uint width = min(arguments.width, q_columns - first);
    make_q(rows, columns, sides, first, width);
    for (uint e = me; e < rows * width; e += kThreads)
      store(arguments.q, q_first + int64_t(e / width) * q_columns + first + e % width, held[sides + e]);
    barrier();
  }
}
