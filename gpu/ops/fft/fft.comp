#version 460
// Fourier transforms of rows of `extent` complex numbers, in shared memory: Stockham's passes, as in
// ops/fft/cpu/fft_kernels.cpp. A workgroup transforms `together` rows at once; element e of its row r is stored at e
// * together + r. Longer transforms are two dispatches: over the columns of a matrix, then over its rows,
// with a multiplication by roots of unity between them.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"

layout(local_size_x = 256) in;
// The inverse transform is the forward transform of numbers with real and imaginary parts exchanged.
layout(constant_id = 0) const bool SWAP_IN = false;
layout(constant_id = 1) const bool SWAP_OUT = false;
// Whether adjacent invocations read (write) the same element of adjacent rows, or adjacent elements of a row.
layout(constant_id = 2) const bool ROWS_FIRST_IN = false;
layout(constant_id = 3) const bool ROWS_FIRST_OUT = false;

const uint kLongest = 2048;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand;
  uint extent, together, rows;
  uint middle, inner;    // row = (outer * middle + m) * inner + i
  int64_t in_stride[3];  // strides of outer, m and i
  int64_t out_stride[3];
  int64_t in_step, out_step;  // elements between adjacent elements of a row
  uint turns;                 // result element k of row m is multiplied by exp(-2 pi i m k / turns); 0: no multiplication
  float scale;
  uint passes;
  uint radices[12];
  Divisor by_extent, by_together, by_middle, by_inner;
  Divisor by_stride[12];  // strides of the passes
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kMostTogether = 256;
shared vec2 numbers[kLongest];
shared vec2 roots[kLongest / 2 + 1];  // exp(-2 pi i k / extent), k <= extent / 2
shared int64_t row_from[kMostTogether], row_to[kMostTogether];
shared uint row_middle[kMostTogether];

vec2 times(vec2 a, vec2 b) {
  return vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}
vec2 times_minus_i(vec2 a) {
  return vec2(a.y, -a.x);
}

// exp(-2 pi i k / n), k < n < 2^29, from an angle of at most pi / 4 and the series of sine and cosine.
vec2 root(uint k, uint n) {
  uint a = 4 * k;  // the angle in units of 2 pi / (4 n)
  const bool lower = a > 2 * n;
  if (lower) a = 4 * n - a;
  const bool left = a > n;
  if (left) a = 2 * n - a;
  const bool steep = 2 * a > n;
  if (steep) a = n - a;
  const float x = 1.57079632679 * (float(a) / float(n)), xx = x * x;
  const float sine = x * (1.0 + xx * (-1.0 / 6.0 + xx * (1.0 / 120.0 + xx * (-1.0 / 5040.0 + xx / 362880.0))));
  const float cosine =
    1.0 + xx * (-0.5 + xx * (1.0 / 24.0 + xx * (-1.0 / 720.0 + xx * (1.0 / 40320.0 - xx / 3628800.0))));
  const vec2 z = steep ? vec2(sine, cosine) : vec2(cosine, sine);
  return vec2(left ? -z.x : z.x, lower ? z.y : -z.y);
}

// exp(-2 pi i k / extent), k < extent. The roots of k and extent - k are conjugates.
vec2 tabled_root(uint k) {
  const bool upper = 2 * k > arguments.extent;
  const vec2 z = roots[upper ? arguments.extent - k : k];
  return vec2(z.x, upper ? -z.y : z.y);
}

// A pass over the rows of this workgroup: `left` numbers remain to be combined, and `stride` transforms are
// interleaved. An invocation reads all its butterflies before it writes any. kHeld * 256 * kRadix >=
// kLongest.
#define PASS(NAME, kRadix, kHeld, BUTTERFLY)                                         \
  void NAME(uint left, uint stride, Divisor by_stride, uint turn) {                  \
    const uint count = left * stride, me = gl_LocalInvocationID.x;                   \
    vec2 held[kHeld][kRadix];                                                        \
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {                                    \
      const uint b = me + h * 256;                                                   \
      if (b < count) {                                                               \
        vec2 x[kRadix];                                                              \
        [[unroll]] for (uint k = 0; k < kRadix; ++k) x[k] = numbers[b + k * count];  \
        BUTTERFLY                                                                    \
        const uint p = quotient(b, by_stride);                                       \
        held[h][0] = x[0];                                                           \
        [[unroll]] for (uint j = 1; j < kRadix; ++j) held[h][j] = times(x[j], tabled_root(p * j * turn)); \
      }                                                                              \
    }                                                                                \
    barrier();                                                                       \
    [[unroll]] for (uint h = 0; h < kHeld; ++h) {                                    \
      const uint b = me + h * 256;                                                   \
      if (b < count) {                                                               \
        const uint to = b + quotient(b, by_stride) * stride * (kRadix - 1);          \
        [[unroll]] for (uint j = 0; j < kRadix; ++j) numbers[to + j * stride] = held[h][j]; \
      }                                                                              \
    }                                                                                \
    barrier();                                                                       \
  }

PASS(pass2, 2, 4, {
  const vec2 difference = x[0] - x[1];
  x[0] += x[1];
  x[1] = difference;
})
PASS(pass3, 3, 3, {
  const vec2 sum = x[1] + x[2];
  const vec2 even = x[0] - 0.5 * sum;
  const vec2 odd = 0.86602540378 * times_minus_i(x[1] - x[2]);
  x[0] += sum;
  x[1] = even + odd;
  x[2] = even - odd;
})
PASS(pass4, 4, 2, {
  const vec2 a = x[0] + x[2];
  const vec2 b = x[0] - x[2];
  const vec2 c = x[1] + x[3];
  const vec2 d = times_minus_i(x[1] - x[3]);
  x[0] = a + c;
  x[1] = b + d;
  x[2] = a - c;
  x[3] = b - d;
})
PASS(pass5, 5, 2, {
  const vec2 s = x[1] + x[4];
  const vec2 t = x[2] + x[3];
  const vec2 u = x[1] - x[4];
  const vec2 v = x[2] - x[3];
  const vec2 a = x[0] + 0.30901699437 * s - 0.80901699437 * t;
  const vec2 b = x[0] - 0.80901699437 * s + 0.30901699437 * t;
  const vec2 c = times_minus_i(0.95105651629 * u + 0.58778525229 * v);
  const vec2 d = times_minus_i(0.58778525229 * u - 0.95105651629 * v);
  x[0] += s + t;
  x[1] = a + c;
  x[2] = b + d;
  x[3] = b - d;
  x[4] = a - c;
})

// Stores where the rows of this workgroup lie in the operand and in the result, and their middle indices.
void note_rows(uint first, uint count) {
  const uint r = gl_LocalInvocationID.x;
  if (r >= count) return;
  const uint row = first + r, rest = quotient(row, arguments.by_inner), outer = quotient(rest, arguments.by_middle);
  const int64_t i = int64_t(row - rest * arguments.inner), m = int64_t(rest - outer * arguments.middle);
  row_from[r] = int64_t(outer) * arguments.in_stride[0] + m * arguments.in_stride[1] + i * arguments.in_stride[2];
  row_to[r] = int64_t(outer) * arguments.out_stride[0] + m * arguments.out_stride[1] + i * arguments.out_stride[2];
  row_middle[r] = uint(m);
}

// The row and the element of a row that an invocation moves.
struct Place {
  uint row, element;
};
Place place_of(uint at, bool rows_first) {
  if (rows_first) {
    const uint element = quotient(at, arguments.by_together);
    return Place(at - element * arguments.together, element);
  }
  const uint row = quotient(at, arguments.by_extent);
  return Place(row, at - row * arguments.extent);
}

void main() {
  const uint extent = arguments.extent, together = arguments.together, me = gl_LocalInvocationID.x;
  const uint blocks = (arguments.rows + together - 1) / together;
  for (uint k = me; k <= extent / 2; k += 256) roots[k] = root(k, extent);
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint first = block * together, count = min(together, arguments.rows - first);
    note_rows(first, count);
    barrier();
    for (uint at = me; at < extent * together; at += 256) {
      const Place p = place_of(at, ROWS_FIRST_IN);
      vec2 z = vec2(0.0);
      if (p.row < count)
        z = C64Element(arguments.operand + (row_from[p.row] + int64_t(p.element) * arguments.in_step) * 8).at;
      numbers[p.element * together + p.row] = SWAP_IN ? z.yx : z;
    }
    barrier();
    uint stride = together, turn = 1, left = extent;
    for (uint i = 0; i < arguments.passes; ++i) {
      const uint radix = arguments.radices[i];
      const Divisor by_stride = arguments.by_stride[i];
      left /= radix;
      switch (radix) {
        case 2: pass2(left, stride, by_stride, turn); break;
        case 3: pass3(left, stride, by_stride, turn); break;
        case 4: pass4(left, stride, by_stride, turn); break;
        default: pass5(left, stride, by_stride, turn); break;
      }
      stride *= radix;
      turn *= radix;
    }
    for (uint at = me; at < extent * together; at += 256) {
      const Place p = place_of(at, ROWS_FIRST_OUT);
      if (p.row >= count) continue;
      vec2 z = numbers[p.element * together + p.row];
      if (arguments.turns > 0) z = times(z, root(row_middle[p.row] * p.element, arguments.turns));
      z *= arguments.scale;
      C64Element(arguments.result + (row_to[p.row] + int64_t(p.element) * arguments.out_step) * 8).at =
        SWAP_OUT ? z.yx : z;
    }
    barrier();
  }
}
