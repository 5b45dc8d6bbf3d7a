#version 460
// Elements selected by an index along one dim. A lane is a line of the index along that dim. One invocation
// processes it in order: among equal indices the last one is written, and sums are deterministic. An index
// out of range is noted as a fault and has no effect.
//   take: source = target[index]     put: target[index] = source
//   other modes: target[index] = target[index] combined with source (combine.glsl)
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"
#include "fault.glsl"
#include "combine.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint MODE = 0;
layout(constant_id = 1) const uint TYPE = 2;  // for take and put an integer type of the same size as the elements
layout(constant_id = 2) const uint INDEX_TYPE = 3;

const uint kTake = 0, kPut = 1;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t target, source, index;
  uint64_t fault;
  uint lanes, dims;
  uint first, last;                              // indices of a lane that this dispatch processes
  uint kind;                                     // kind of fault
  uint wraps;                                    // 1: negative indices count from the end
  int64_t size;                                  // limit of the indices
  int64_t target_step, source_step, index_step;  // steps along the dim
  uint lane_size[8];
  int64_t target_stride[8], source_stride[8], index_stride[8];
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

void main() {
  for (uint lane = gl_GlobalInvocationID.x; lane < arguments.lanes; lane += gl_NumWorkGroups.x * gl_WorkGroupSize.x) {
    int64_t target = 0, source = 0, index = 0;
    uint rest = lane;
    for (int d = int(arguments.dims) - 1; d >= 0; --d) {
      const int64_t place = int64_t(rest % arguments.lane_size[d]);
      rest /= arguments.lane_size[d];
      target += place * arguments.target_stride[d];
      source += place * arguments.source_stride[d];
      index += place * arguments.index_stride[d];
    }
    for (uint k = arguments.first; k < arguments.last; ++k) {
      const int64_t given = load_integer(arguments.index, index + int64_t(k) * arguments.index_step, INDEX_TYPE);
      const int64_t at = arguments.wraps != 0 && given < 0 ? given + arguments.size : given;
      if (at < 0 || at >= arguments.size) {
        note_index(arguments.fault, arguments.kind, uint(index + int64_t(k) * arguments.index_step), given,
                   uint(arguments.size));
        continue;
      }
      const int64_t to = target + at * arguments.target_step, from = source + int64_t(k) * arguments.source_step;
      if (MODE == kTake)
        store_integer(arguments.source, from, TYPE, load_integer(arguments.target, to, TYPE));
      else if (MODE == kPut)
        store_integer(arguments.target, to, TYPE, load_integer(arguments.source, from, TYPE));
      else if (TYPE == kF32)
        store_f32(arguments.target, to,
                  combine(MODE, load_f32(arguments.target, to), load_f32(arguments.source, from)));
      else
        store_integer(arguments.target, to, TYPE,
                      combine(MODE, load_integer(arguments.target, to, TYPE),
                              load_integer(arguments.source, from, TYPE)));
    }
  }
}
