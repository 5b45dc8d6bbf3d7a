#version 460
// A copy with a conversion between tensors with different innermost dims: p in the operand, q in the result. Tiles of 64 x 64
// elements go through shared memory, so that both tensors are accessed along their innermost dims.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RESULT_TYPE = 6;
layout(constant_id = 1) const uint TYPE = 6;
// convert through 32-bit integers, else through floats
layout(constant_id = 2) const bool AS_INTEGER = false;
// 32-bit elements are copied without a conversion, four at a time: all sizes and strides are multiples of
// four, addresses are multiples of 16.
layout(constant_id = 3) const bool IN_FOURS = false;
layout(constant_id = 4) const bool IN_64_BITS = false;  // elements of 64 bits are copied without a conversion

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint p, q;        // sizes
  int64_t p_step;   // of the result
  int64_t q_step;   // of the operand
  uint tiles, p_tiles, q_tiles;
  uint dims;  // number of other dims
  uint size[8];
  int64_t stride[2][8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
  uint64_t result;
  uint64_t operand;
};

const uint kSide = 64, kRows = 4;  // rows and columns of a tile; rows that a workgroup accesses at a time
const uint kFours = kSide / 4;
shared uint tile[IN_FOURS || IN_64_BITS ? 1 : kSide * (kSide + 1)];
const uint kHalf = kSide / 2;
shared uvec2 tile_64[IN_64_BITS ? kHalf * (kSide + 1) : 1];
shared uvec4 four_tile[IN_FOURS ? kSide * kFours : 1];

// The position of a vector of four in a row of the tile. Adjacent invocations write rows four apart and read
// adjacent vectors; with this swizzle neither has bank conflicts.
uint place_of(uint row, uint four) {
  return row * kFours + (four ^ row / 4);
}

// An invocation transposes 4 x 4 elements in registers, so that loads, stores and shared memory accesses all
// have 16 bytes.
void turn_in_fours(uint p, uint q, int64_t to, int64_t from) {
  const uint near = gl_LocalInvocationID.x % kFours, far = gl_LocalInvocationID.x / kFours;
  uvec4 rows[4];
  if (p + 4 * near < arguments.p && q + 4 * far < arguments.q) {
    const uint64_t at = operand + (from + int64_t(p + 4 * near) + int64_t(q + 4 * far) * arguments.q_step) * 4;
    [[unroll]] for (uint i = 0; i < 4; ++i) rows[i] = U32x4Elements(at + i * arguments.q_step * 4).at;
  }
  [[unroll]] for (uint j = 0; j < 4; ++j)
    four_tile[place_of(4 * near + j, far)] = uvec4(rows[0][j], rows[1][j], rows[2][j], rows[3][j]);
  barrier();
  if (q + 4 * near < arguments.q)
    [[unroll]] for (uint i = 0; i < kSide; i += kFours) {
      const uint row = far + i;
      const uint64_t at = result + (to + int64_t(p + row) * arguments.p_step + int64_t(q + 4 * near)) * 4;
      if (p + row < arguments.p) U32x4Elements(at).at = four_tile[place_of(row, near)];
    }
}

void turn(uint p, uint q, int64_t to, int64_t from) {
  const uint near = gl_LocalInvocationID.x % kSide, far = gl_LocalInvocationID.x / kSide;
  [[unroll]] for (uint i = 0; i < kSide; i += kRows) {
    const uint row = far + i;
    if (p + near < arguments.p && q + row < arguments.q) {
      const int64_t at = from + int64_t(p + near) + int64_t(q + row) * arguments.q_step;
      tile[row * (kSide + 1) + near] =
          AS_INTEGER ? uint(load_integer(operand, at, TYPE)) : floatBitsToUint(load_float(operand, at, TYPE));
    }
  }
  barrier();
  [[unroll]] for (uint i = 0; i < kSide; i += kRows) {
    const uint row = far + i;
    if (p + row < arguments.p && q + near < arguments.q) {
      const int64_t at = to + int64_t(p + row) * arguments.p_step + int64_t(q + near);
      const uint bits = tile[near * (kSide + 1) + row];
      if (AS_INTEGER)
        store_integer(result, at, RESULT_TYPE, int64_t(int(bits)));
      else
        store_float(result, at, RESULT_TYPE, uintBitsToFloat(bits));
    }
  }
}

// Copies one half of a tile after the other, since 64-bit elements take twice the memory.
void turn_64_bits(uint p, uint q, int64_t to, int64_t from) {
  const uint near = gl_LocalInvocationID.x % kSide, far = gl_LocalInvocationID.x / kSide;
  [[unroll]] for (uint i = 0; i < kHalf; i += kRows) {
    const uint row = far + i;
    if (p + near < arguments.p && q + row < arguments.q)
      tile_64[row * (kSide + 1) + near] =
          U32x2Elements(operand + (from + int64_t(p + near) + int64_t(q + row) * arguments.q_step) * 8).at;
  }
  barrier();
  const uint beside = gl_LocalInvocationID.x % kHalf, below = gl_LocalInvocationID.x / kHalf;
  [[unroll]] for (uint i = 0; i < kSide; i += 2 * kRows) {
    const uint row = below + i;
    if (p + row < arguments.p && q + beside < arguments.q)
      U32x2Elements(result + (to + int64_t(p + row) * arguments.p_step + int64_t(q + beside)) * 8).at =
          tile_64[beside * (kSide + 1) + row];
  }
}

void main() {
  for (uint block = gl_WorkGroupID.x; block < arguments.tiles; block += gl_NumWorkGroups.x) {
    const uint p = block % arguments.p_tiles * kSide, q = block / arguments.p_tiles % arguments.q_tiles * kSide;
    uint rest = block / arguments.p_tiles / arguments.q_tiles;
    int64_t to = 0, from = 0;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      to += int64_t(rest % arguments.size[d]) * arguments.stride[0][d];
      from += int64_t(rest % arguments.size[d]) * arguments.stride[1][d];
      rest /= arguments.size[d];
    }
    if (IN_FOURS) {
      turn_in_fours(p, q, to, from);
    } else if (IN_64_BITS) {
      turn_64_bits(p, q, to, from);
      barrier();
      turn_64_bits(p, q + kHalf, to, from);
    } else {
      turn(p, q, to, from);
    }
    barrier();  // the next block overwrites the tile
  }
}
