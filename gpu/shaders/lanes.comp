#version 460
// Elements selected by an index along one dim. A lane is a line of the index along that dim. One thread processes it in
// order: of equal indices the last one is written, and sums are deterministic. It loads what AHEAD indices need before it
// stores the first result. An index that is out of range is noted as a fault and has no effect.
//   take: source = target[index]     put: target[index] = source     add: target[index] += source
//   product: target[index] *= source     largest, smallest: of both; NaN is larger and smaller than any number
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"
#include "fault.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 2;  // for take and put an integer type of the same size as the elements
layout(constant_id = 2) const uint INDEX_TYPE = 3;
layout(constant_id = 3) const uint AHEAD = 1;
layout(constant_id = 4) const uint WIDTH = 256;  // threads of a work group that have a lane

const uint kTake = 0, kPut = 1, kAdd = 2, kProduct = 3, kLargest = 4, kSmallest = 5;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t target, source, index;
  uint64_t fault;
  uint lanes, dims;
  uint first, last;          // indices of a lane that this dispatch processes
  uint kind, padding;        // kind: of a fault
  int64_t size;              // indices must be less
  int64_t target_step, source_step, index_step;  // along the dim
  Divisor by[8];  // the sizes
  uint lane_size[8];
  int64_t target_stride[8], source_stride[8], index_stride[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

float meet(float a, float b) {
  if (MODE == kAdd) return a + b;
  if (MODE == kProduct) return a * b;
  return (MODE == kLargest ? b > a : b < a) || lg_isnan(b) ? b : a;
}
int64_t meet(int64_t a, int64_t b) {
  if (MODE == kAdd) return a + b;
  if (MODE == kProduct) return a * b;
  return (MODE == kLargest ? b > a : b < a) ? b : a;
}

int64_t to[AHEAD];  // -1: nowhere
float reals[AHEAD], old_reals[AHEAD];
int64_t wholes[AHEAD], old_wholes[AHEAD];

const bool kMoves = MODE == kTake || MODE == kPut;

// What index k of a lane needs.
void load(uint j, uint k, int64_t target, int64_t source, int64_t index) {
  const int64_t place = index + int64_t(k) * arguments.index_step;
  const int64_t at = load_integer(arguments.index, place, INDEX_TYPE);
  to[j] = -1;
  if (at < 0 || at >= arguments.size) {
    note_index(arguments.fault, arguments.kind, uint(place), at, uint(arguments.size));
    return;
  }
  to[j] = target + at * arguments.target_step;
  const int64_t from = source + int64_t(k) * arguments.source_step;
  if (MODE == kTake) {
    wholes[j] = load_integer(arguments.target, to[j], TYPE);
  } else if (MODE == kPut) {
    wholes[j] = load_integer(arguments.source, from, TYPE);
  } else if (TYPE == kF32) {
    old_reals[j] = load_f32(arguments.target, to[j]);
    reals[j] = load_f32(arguments.source, from);
  } else {
    old_wholes[j] = load_integer(arguments.target, to[j], TYPE);
    wholes[j] = load_integer(arguments.source, from, TYPE);
  }
}
// The result of index j. An earlier one that led to the same element has changed what was loaded.
void combine(uint j) {
  [[unroll]] for (uint i = 0; i < j; ++i)
    if (to[i] == to[j]) {
      old_reals[j] = reals[i];
      old_wholes[j] = wholes[i];
    }
  if (TYPE == kF32)
    reals[j] = meet(old_reals[j], reals[j]);
  else
    wholes[j] = meet(old_wholes[j], wholes[j]);
}
void store(uint j, uint k, int64_t source) {
  if (to[j] == -1) return;
  if (MODE == kTake)
    store_integer(arguments.source, source + int64_t(k) * arguments.source_step, TYPE, wholes[j]);
  else if (MODE == kPut || TYPE != kF32)
    store_integer(arguments.target, to[j], TYPE, wholes[j]);
  else
    store_f32(arguments.target, to[j], reals[j]);
}

void main() {
  if (gl_LocalInvocationID.x >= WIDTH) return;
  for (uint lane = gl_WorkGroupID.x * WIDTH + gl_LocalInvocationID.x; lane < arguments.lanes;
       lane += gl_NumWorkGroups.x * WIDTH) {
    int64_t target = 0, source = 0, index = 0;
    uint rest = lane;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      const uint above = d == 0 ? 0 : quotient(rest, arguments.by[d]);
      const int64_t place = int64_t(rest - above * arguments.lane_size[d]);
      rest = above;
      target += place * arguments.target_stride[d];
      source += place * arguments.source_stride[d];
      index += place * arguments.index_stride[d];
    }
    for (uint k = arguments.first; k < arguments.last; k += AHEAD) {
      [[unroll]] for (uint j = 0; j < AHEAD; ++j) {
        to[j] = -1;
        if (k + j < arguments.last) load(j, k + j, target, source, index);
      }
      if (!kMoves)
        [[unroll]] for (uint j = 0; j < AHEAD; ++j) combine(j);
      [[unroll]] for (uint j = 0; j < AHEAD; ++j) store(j, k + j, source);
    }
  }
}
