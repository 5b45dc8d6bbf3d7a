#version 460
// Lists the nonzero elements of a line, or the elements that begin runs of equal ones (RUNS). In the first pass a
// workgroup counts them in a piece. In the second pass one workgroup computes running sums of the counts, whose
// last one is the size of the result. In the third pass a workgroup lists the elements of a piece, tile by tile, and
// adjacent invocations write the results of adjacent ones.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "tile.glsl"
#include "divisor.glsl"

layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 0;
layout(constant_id = 2) const uint RAW_TYPE = 1;     // an integer type of the same size as the elements
layout(constant_id = 3) const bool RUNS = false;
layout(constant_id = 4) const bool ALIGNED = false;  // the elements begin at a multiple of 16 bytes

const uint kCount = 0, kAddUp = 1, kPut = 2;
const uint kEach = 8, kTile = 256 * kEach;

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Counts { int64_t at[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  // positions: [found, dims]; RUNS: where each run begins, or null; values: RUNS: the element of each run
  uint64_t positions, values, elements;
  Counts before;  // of each piece: how many it has; after kAddUp, all pieces before it, and last all pieces
  uint count, piece;  // elements, and elements of a piece
  uint dims;
  uint size[8];
  Divisor by[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared uint listed[MODE == kPut ? kTile : 1];  // positions in the tile

const uint kBytes = RAW_TYPE == kU8 ? 1 : RAW_TYPE == kRaw16 ? 2 : RAW_TYPE == kI32 ? 4 : 8;

int64_t raw_at(uint i) {
  return load_integer(arguments.elements, int64_t(i), RAW_TYPE);
}
bool is_nonzero(int64_t raw) {
  if (TYPE == kF32) raw &= 0x7fffffffL;
  if (TYPE == kF16 || TYPE == kBF16) raw &= 0x7fffL;
  if (TYPE == kC64) raw &= 0x7fffffff7fffffffL;
  return raw != 0;
}
vec2 number_of(int64_t raw) {
  const uint low = uint(raw & 0xffffffffL);
  if (TYPE == kF16) return vec2(half_to_float(low), 0.0);
  if (TYPE == kBF16) return vec2(bfloat_to_float(low), 0.0);
  return vec2(uintBitsToFloat(low), TYPE == kC64 ? uintBitsToFloat(uint(raw >> 32 & 0xffffffffL)) : 0.0);
}
bool differ(int64_t a, int64_t b) {
  if (TYPE < kF16) return a != b;
  const vec2 x = number_of(a), y = number_of(b);
  return x.x != y.x || x.y != y.y;
}

// Bit k: whether element first + k is listed.
uint listed_from(uint first) {
  int64_t raw[kEach];
  const bool whole = first + kEach <= arguments.count;
  if (ALIGNED && whole && kBytes == 1) {
    const uvec2 eight = U32x2Elements(arguments.elements + first).at;
    [[unroll]] for (uint k = 0; k < kEach; ++k) raw[k] = int64_t(eight[k / 4] >> k % 4 * 8 & 255u);
  } else if (ALIGNED && whole && kBytes == 2) {
    const uvec4 eight = U32x4Elements(arguments.elements + uint64_t(first) * 2).at;
    [[unroll]] for (uint k = 0; k < kEach; ++k) raw[k] = int64_t(eight[k / 2] >> k % 2 * 16 & 65535u);
  } else if (ALIGNED && whole && kBytes == 4) {
    const uvec4 low = U32x4Elements(arguments.elements + uint64_t(first) * 4).at,
                high = U32x4Elements(arguments.elements + uint64_t(first) * 4 + 16).at;
    [[unroll]] for (uint k = 0; k < kEach; ++k) raw[k] = int64_t(int(k < 4 ? low[k] : high[k - 4]));
  } else {
    [[unroll]] for (uint k = 0; k < kEach; ++k) raw[k] = first + k < arguments.count ? raw_at(first + k) : 0L;
  }
  int64_t earlier = RUNS && first > 0 && first < arguments.count ? raw_at(first - 1) : 0L;
  uint bits = 0;
  [[unroll]] for (uint k = 0; k < kEach; ++k) {
    const bool lists = RUNS ? first + k == 0 || differ(earlier, raw[k]) : is_nonzero(raw[k]);
    if (first + k < arguments.count && lists) bits |= 1u << k;
    earlier = raw[k];
  }
  return bits;
}

void put(uint64_t to, uint i) {
  if (RUNS) {
    store_integer(arguments.values, int64_t(to), RAW_TYPE, raw_at(i));
    if (arguments.positions != 0) store_integer(arguments.positions, int64_t(to), kI64, int64_t(i));
    return;
  }
  for (int d = int(arguments.dims) - 1; d >= 0; --d) {
    const uint rest = d == 0 ? 0 : quotient(i, arguments.by[d]);
    store_integer(arguments.positions, int64_t(to * arguments.dims) + d, kI64, int64_t(i - rest * arguments.size[d]));
    i = rest;
  }
}

void add_up(uint pieces) {
  const uint me = gl_LocalInvocationID.x, each = (pieces + 255) / 256;
  const uint begin = min(me * each, pieces), end = min(begin + each, pieces);
  Counts before = arguments.before;
  const uint kAhead = 8;  // loads in flight
  uint here[kAhead];
  uint own = 0;
  for (uint piece = begin; piece < end; piece += kAhead) {
    [[unroll]] for (uint k = 0; k < kAhead; ++k) here[k] = uint(before.at[min(piece + k, end - 1)]);
    [[unroll]] for (uint k = 0; k < kAhead; ++k) own += piece + k < end ? here[k] : 0;
  }
  uint sum = sum_before_me(uvec2(own, 0)).x;
  for (uint piece = begin; piece < end; piece += kAhead) {
    [[unroll]] for (uint k = 0; k < kAhead; ++k) here[k] = uint(before.at[min(piece + k, end - 1)]);
    [[unroll]] for (uint k = 0; k < kAhead; ++k)
      if (piece + k < end) {
        before.at[piece + k] = int64_t(sum);
        sum += here[k];
      }
  }
  if (me == 255) arguments.before.at[pieces] = int64_t(sum);
}

void main() {
  const uint me = gl_LocalInvocationID.x, pieces = (arguments.count + arguments.piece - 1) / arguments.piece;
  if (MODE == kAddUp) {
    add_up(pieces);
    return;
  }
  for (uint piece = gl_WorkGroupID.x; piece < pieces; piece += gl_NumWorkGroups.x) {
    const uint begin = piece * arguments.piece, end = min(begin + arguments.piece, arguments.count);
    if (MODE == kCount) {
      uint own = 0;
      for (uint first = begin + me * kEach; first < end; first += kTile) own += uint(bitCount(listed_from(first)));
      const uint before = sum_before_me(uvec2(own, 0)).x;
      if (me == 255) arguments.before.at[piece] = int64_t(before + own);
      continue;
    }
    uint64_t to = uint64_t(arguments.before.at[piece]);
    for (uint tile = begin; tile < end; tile += kTile) {
      const uint bits = listed_from(tile + me * kEach), own = uint(bitCount(bits));
      uint at = sum_before_me(uvec2(own, 0)).x;
      for (uint left = bits; left != 0; left &= left - 1) listed[at++] = me * kEach + uint(findLSB(left));
      if (me == 255) meeting_values[0].y = at;
      barrier();
      const uint all = meeting_values[0].y;
      for (uint k = me; k < all; k += 256) put(to + k, tile + listed[k]);
      to += all;
    }
  }
}
