// Batches of small matrices: a workgroup of 64 invocations computes one matrix in shared memory. The
// including file defines COMPLEX for c64; else the numbers are f32.
#include "memory.glsl"
#include "functions.glsl"
#include "fault.glsl"
#include "complex.glsl"
#include "turns.glsl"

#ifdef COMPLEX
#define Number vec2
Number number(float x) {
  return vec2(x, 0.0);
}
Number load(uint64_t address, int64_t i) {
  return C64Element(address + i * 8).at;
}
void store(uint64_t address, int64_t i, Number x) {
  C64Element(address + i * 8).at = x;
}
Number times(Number a, Number b) {
  return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
Number conjugate(Number x) {
  return lg_conj(x);
}
float real_part(Number x) {
  return x.x;
}
float size_of(Number x) {
  return magnitude(x);
}
// The size by which pivots are chosen; the same as in LAPACK.
float pivot_size(Number x) {
  return abs(x.x) + abs(x.y);
}
float largest_of(Number x) {
  return max(abs(x.x), abs(x.y));
}
float square_of(Number x) {
  return dot(x, x);
}
#else
#define Number float
Number number(float x) {
  return x;
}
Number load(uint64_t address, int64_t i) {
  return load_f32(address, i);
}
void store(uint64_t address, int64_t i, Number x) {
  store_f32(address, i, x);
}
Number times(Number a, Number b) {
  return a * b;
}
Number conjugate(Number x) {
  return x;
}
float real_part(Number x) {
  return x;
}
float size_of(Number x) {
  return abs(x);
}
float pivot_size(Number x) {
  return abs(x);
}
float largest_of(Number x) {
  return abs(x);
}
float square_of(Number x) {
  return x * x;
}
#endif

layout(local_size_x = 64) in;
const uint kThreads = 64;
layout(constant_id = 1) const uint WORDS = 8000;  // numbers in shared memory

// Element (i, j) of a matrix is held[i * stride + j] with an odd stride, so that columns have no bank
// conflicts.
shared Number held[WORDS];
shared uint unsound;  // not 0: an element is NaN or infinite
uint stride;

struct Batch {
  uint count, dims;
  uint size[8];
  int64_t stride[2][8];  // for two operands, from matrix to matrix
};
// Declares the push constants, with the address of the shader's Arguments, and place_in(operand, item): where a
// matrix of the batch begins. A macro, since each shader has its own Arguments.
#define PUSH_ARGUMENTS                                                                    \
  layout(push_constant, scalar) uniform Push {                                            \
    Arguments arguments;                                                                  \
    TURN                                                                                  \
  };                                                                                      \
  int64_t place_in(uint operand, uint item) {                                             \
    int64_t at = 0;                                                                       \
    uint rest = item;                                                                     \
    for (int d = int(arguments.batch.dims) - 1; d >= 0; --d) {                            \
      at += int64_t(rest % arguments.batch.size[d]) * arguments.batch.stride[operand][d]; \
      rest /= arguments.batch.size[d];                                                    \
    }                                                                                     \
    return at;                                                                            \
  }

struct Matrix {
  uint64_t memory;
  int64_t row_step, column_step;
};

// Loads a matrix whose first element is `first`.
void load_matrix(Matrix m, int64_t first, uint rows, uint columns) {
  if (gl_LocalInvocationID.x == 0) unsound = 0;
  barrier();
  const bool by_columns = abs(m.row_step) < abs(m.column_step);
  for (uint e = gl_LocalInvocationID.x; e < rows * columns; e += kThreads) {
    const uint i = by_columns ? e % rows : e / columns, j = by_columns ? e / rows : e % columns;
    const Number x = load(m.memory, first + int64_t(i) * m.row_step + int64_t(j) * m.column_step);
    held[i * stride + j] = x;
    if (!lg_isfinite(x)) unsound = 1;
  }
  barrier();
}

// How invocations share the elements of columns 0 … width - 1 (at most 64): each has one column and every
// `step`-th row.
struct Share {
  uint column, row, step;
};
Share share_of(uint width) {
  const uint bits = width <= 1 ? 0 : uint(findMSB(width - 1)) + 1, me = gl_LocalInvocationID.x;
  return Share(me & ((1u << bits) - 1), me >> bits, kThreads >> bits);
}
