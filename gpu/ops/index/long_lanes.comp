#version 460
// Writes or combines elements at the positions that an index selects along one dim, for long lanes: lines of the
// index along that dim. One invocation processes a lane in order: among equal indices the last one is
// written, and sums are deterministic. It loads the operands of kAhead indices before it stores the first
// result. An index out of range is noted as a fault and has no effect.
//   put: target[index] = source
//   other modes: target[index] = target[index] combined with source (combine.glsl)
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "divisor.glsl"
#include "fault.glsl"
#include "combine.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 1;
layout(constant_id = 1) const uint TYPE = 2;  // for put an integer type of the same size as the elements
layout(constant_id = 2) const uint INDEX_TYPE = 3;
layout(constant_id = 3) const uint WIDTH = 256;  // invocations of a workgroup that have a lane

const uint kPut = 1;
const uint kAhead = 8;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t target, source, index;
  uint64_t fault;
  uint lanes, dims;
  uint first, last;                              // indices of a lane that this dispatch processes
  uint kind, padding;                            // kind: of fault
  int64_t size;                                  // limit of the indices
  int64_t target_step, source_step, index_step;  // steps along the dim
  Divisor by[8];                                 // divisors: the lane sizes
  uint lane_size[8];
  int64_t target_stride[8], source_stride[8], index_stride[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

int64_t chosen[kAhead];
int64_t to[kAhead];  // -1: nowhere
float reals[kAhead], old_reals[kAhead];
int64_t wholes[kAhead], old_wholes[kAhead];

// Loads the operands of index k of a lane. No load is conditional, so none waits for another.
void load(uint j, uint k, int64_t target, int64_t source) {
  const bool leads = k < arguments.last && chosen[j] >= 0 && chosen[j] < arguments.size;
  to[j] = leads ? target + chosen[j] * arguments.target_step : -1L;
  const int64_t from = source + int64_t(min(k, arguments.last - 1)) * arguments.source_step;
  const int64_t old = leads ? to[j] : target;
  if (MODE == kPut) {
    wholes[j] = load_integer(arguments.source, from, TYPE);
  } else if (TYPE == kF32) {
    old_reals[j] = load_f32(arguments.target, old);
    reals[j] = load_f32(arguments.source, from);
  } else {
    old_wholes[j] = load_integer(arguments.target, old, TYPE);
    wholes[j] = load_integer(arguments.source, from, TYPE);
  }
}
// The result of index j. If an earlier index selected the same element, its result replaces the loaded value.
// The loop has a constant length, so that it is unrolled and the arrays stay in registers.
void combine_with_old(uint j) {
  [[unroll]] for (uint i = 0; i < kAhead; ++i)
    if (i < j && to[i] == to[j]) {
      old_reals[j] = reals[i];
      old_wholes[j] = wholes[i];
    }
  if (TYPE == kF32)
    reals[j] = combine(MODE, old_reals[j], reals[j]);
  else
    wholes[j] = combine(MODE, old_wholes[j], wholes[j]);
}
void store(uint j, uint k, int64_t index) {
  if (to[j] == -1) {
    if (k < arguments.last)
      note_index(arguments.fault, arguments.kind, uint(index + int64_t(k) * arguments.index_step), chosen[j],
                 uint(arguments.size));
    return;
  }
  if (MODE == kPut || TYPE != kF32)
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
    for (uint k = arguments.first; k < arguments.last; k += kAhead) {
      [[unroll]] for (uint j = 0; j < kAhead; ++j)
        chosen[j] = load_integer(arguments.index, index + int64_t(min(k + j, arguments.last - 1)) * arguments.index_step,
                                 INDEX_TYPE);
      [[unroll]] for (uint j = 0; j < kAhead; ++j) load(j, k + j, target, source);
      if (MODE != kPut)
        [[unroll]] for (uint j = 0; j < kAhead; ++j) combine_with_old(j);
      [[unroll]] for (uint j = 0; j < kAhead; ++j) store(j, k + j, index);
    }
  }
}
