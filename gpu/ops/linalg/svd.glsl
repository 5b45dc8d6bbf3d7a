// Singular values in descending order, and singular vectors, of small matrices: the one-sided Jacobi method
// of Hestenes ("Inversion of matrices by biorthogonalization and related results", 1958) makes the columns of
// A V orthogonal. A has at least as many rows as columns; the host passes the adjoint of other matrices.
#include "matrices.glsl"
#include "jacobi.glsl"

layout(constant_id = 0) const bool VECTORS = true;
layout(constant_id = 2) const bool ADJOINT = false;  // the operand has A^H

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  Matrix operand;          // transposed if ADJOINT
  uint64_t u, values, vh;  // results for the operand, not for A
  uint64_t fault;
  uint rows, columns;
  uint left_columns;  // left vectors of A: `columns`, or `rows` if they are completed
  uint batched;       // whether there is a batch
  uint unsound_fault, convergence_fault;
  Batch batch;
};
PUSH_ARGUMENTS

// 2^-50: a square that is treated as 0 relative to elements of size 1
const float kNothing = 8.881784197001252e-16;

shared uint rotated;
shared uint ranks[kThreads];
shared uint known[kThreads];     // whether the left vector is computed already
shared float lengths[kThreads];  // lengths of the columns of A V
shared Number shares[kThreads];

// The right vectors begin at held[sides].
uint sides, right_stride;

float column_square(uint j, uint rows) {
  float sum = 0.0;
  for (uint i = 0; i < rows; ++i) sum += square_of(held[i * stride + j]);
  return sum;
}
Number column_product(uint p, uint q, uint rows) {
  Number sum = number(0.0);
  for (uint i = 0; i < rows; ++i) sum += times(conjugate(held[i * stride + p]), held[i * stride + q]);
  return sum;
}

// Takes four elements at a time, in separate sums, so that loads overlap and rounding errors grow less.
void multiply_columns(uint p, uint q, uint rows, out float p_square, out float q_square, out Number product) {
  float p_sums[4] = {0.0, 0.0, 0.0, 0.0}, q_sums[4] = {0.0, 0.0, 0.0, 0.0};
  Number products[4] = {number(0.0), number(0.0), number(0.0), number(0.0)};
  for (uint first = 0; first < rows; first += 4) {
    [[unroll]] for (uint k = 0; k < 4; ++k) {
      if (first + k < rows) {
        const Number x = held[(first + k) * stride + p], y = held[(first + k) * stride + q];
        p_sums[k] += square_of(x);
        q_sums[k] += square_of(y);
        products[k] += times(conjugate(x), y);
      }
    }
  }
  p_square = (p_sums[0] + p_sums[1]) + (p_sums[2] + p_sums[3]);
  q_square = (q_sums[0] + q_sums[1]) + (q_sums[2] + q_sums[3]);
  product = (products[0] + products[1]) + (products[2] + products[3]);
}

// One invocation makes two columns orthogonal.
void meet(uvec2 at, uint rows, uint columns, float tolerance) {
  float p, q;
  Number z;
  multiply_columns(at.x, at.y, rows, p, q, z);
  if (!(p > kNothing) || !(q > kNothing) || !(size_of(z) > tolerance * sqrt(p * q))) return;
  rotated = 1;
  const Rotation turn = rotation_of(p, q, z);
  rotate_all(at.x, at.y, stride, rows, turn);
  if (VECTORS) rotate_all(sides + at.x, sides + at.y, right_stride, columns, turn);
}

// Returns whether the method converges.
bool make_orthogonal(uint rows, uint columns) {
  const uint players = players_of(columns), me = gl_LocalInvocationID.x;
  // The rounding error of a product of columns; the last sweeps accept eight times as much.
  const float usual = (4.0 + 0.25 * float(rows)) * 5.9604644775390625e-8;
  for (uint sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (me == 0) rotated = 0;
    barrier();
    for (uint round = 0; round + 1 < players; ++round) {
      if (me < players / 2) {
        const uvec2 at = pair_of(me, round, players);
        if (at.y < columns) meet(at, rows, columns, sweep < 15 ? usual : 8.0 * usual);
      }
      barrier();
    }
    const bool done = rotated == 0;
    barrier();
    if (done) return true;
  }
  return false;
}

// Subtracts from column j its parts along the known vectors, and returns the square of the rest.
float subtract_known(uint j, uint rows, uint columns) {
  const uint me = gl_LocalInvocationID.x;
  for (uint twice = 0; twice < 2; ++twice) {
    if (me < columns) shares[me] = known[me] != 0 ? column_product(me, j, rows) : number(0.0);
    barrier();
    if (me < rows) {
      Number rest = held[me * stride + j];
      for (uint k = 0; k < columns; ++k)
        if (known[k] != 0) rest -= times(shares[k], held[me * stride + k]);
      held[me * stride + j] = rest;
    }
    barrier();
  }
  return column_square(j, rows);
}

// Makes left vector j orthogonal to the known vectors. It starts from the vector's column unless that is 0 or
// depends on them, else from the axis with the smallest part in their span.
void complete(uint j, uint rows, uint columns) {
  const uint me = gl_LocalInvocationID.x;
  const float before = j < arguments.columns ? lengths[j] : 0.0;
  if (me < rows) held[me * stride + j] = before > 0.0 ? held[me * stride + j] / before : number(0.0);
  barrier();
  float square = subtract_known(j, rows, columns);
  if (!(square > 0.25)) {
    float spanned = 0.0;
    if (me < rows)
      for (uint k = 0; k < columns; ++k)
        if (known[k] != 0) spanned += square_of(held[me * stride + k]);
    barrier();
    shares[me] = number(spanned);
    barrier();
    uint axis = 0;
    for (uint i = 1; i < rows; ++i)
      if (real_part(shares[i]) < real_part(shares[axis])) axis = i;
    barrier();
    if (me < rows) held[me * stride + j] = number(me == axis ? 1.0 : 0.0);
    barrier();
    square = subtract_known(j, rows, columns);
  }
  barrier();
  if (me < rows) held[me * stride + j] /= sqrt(square);
  if (me == 0) known[j] = 1;
  barrier();
}

void make_left(uint rows, uint columns, uint left_columns) {
  const uint me = gl_LocalInvocationID.x;
  if (me < kThreads) known[me] = me < columns && lengths[me] * lengths[me] > kNothing ? 1 : 0;
  barrier();
  for (uint e = me; e < rows * columns; e += kThreads)
    if (known[e % columns] != 0) held[e / columns * stride + e % columns] /= lengths[e % columns];
  barrier();
  for (uint j = 0; j < left_columns; ++j) {
    const bool there = known[j] != 0;
    barrier();
    if (!there) complete(j, rows, left_columns);
  }
}

// Stores vectors as the columns of a matrix, or their conjugates as its rows.
void store_columns(uint64_t to, int64_t item, uint first, uint step, uint rows, uint count) {
  for (uint e = gl_LocalInvocationID.x; e < rows * count; e += kThreads) {
    const uint i = e / count, j = e % count;
    store(to, (item * rows + i) * count + ranks[j], held[first + i * step + j]);
  }
}
void store_rows(uint64_t to, int64_t item, uint first, uint step, uint rows, uint count) {
  for (uint e = gl_LocalInvocationID.x; e < rows * count; e += kThreads) {
    const uint i = e / count, j = e % count;
    store(to, (item * count + ranks[j]) * rows + i, conjugate(held[first + i * step + j]));
  }
}

void main() {
  const uint rows = arguments.rows, columns = arguments.columns, me = gl_LocalInvocationID.x;
  const uint left_columns = VECTORS ? arguments.left_columns : columns;
  stride = left_columns | 1;
  right_stride = columns | 1;
  sides = rows * stride;
  const uint item = MY_ITEM;
  load_matrix(arguments.operand, place_in(0, item), rows, columns);
  if (unsound != 0 && me == 0) note_matrix(arguments.fault, arguments.unsound_fault, item, 1, arguments.batched);
  for (uint e = me; e < rows * columns; e += kThreads)
    if (ADJOINT) held[e / columns * stride + e % columns] = conjugate(held[e / columns * stride + e % columns]);
  for (uint e = me; e < columns * columns; e += kThreads)
    if (VECTORS) held[sides + e / columns * right_stride + e % columns] = number(e / columns == e % columns ? 1.0 : 0.0);
  barrier();
  const float factor = scale_elements(rows, columns);
  const bool converges = make_orthogonal(rows, columns);
  if (!converges && unsound == 0 && me == 0)
    note_matrix(arguments.fault, arguments.convergence_fault, item, 1, arguments.batched);
  if (me < columns) lengths[me] = sqrt(column_square(me, rows));
  barrier();
  uint rank = me;
  if (me < columns) {
    rank = 0;
    for (uint j = 0; j < columns; ++j)
      if (lengths[j] > lengths[me] || (lengths[j] == lengths[me] && j < me)) ++rank;
    store_f32(arguments.values, int64_t(item) * columns + rank, lg_quotient(lengths[me], factor));
  }
  ranks[me] = rank;
  barrier();
  if (!VECTORS) return;
  make_left(rows, columns, left_columns);
  if (ADJOINT) {
    store_columns(arguments.u, int64_t(item), sides, right_stride, columns, columns);
    store_rows(arguments.vh, int64_t(item), 0, stride, rows, left_columns);
  } else {
    store_columns(arguments.u, int64_t(item), 0, stride, rows, left_columns);
    store_rows(arguments.vh, int64_t(item), sides, right_stride, columns, columns);
  }
}
