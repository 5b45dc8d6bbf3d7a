#version 460
// The elements of rows in order, and where they were: a bitonic network (Batcher, "Sorting networks and their
// applications", 1968) over a row's keys in shared memory, a work group a row. A key is the element's bits so that
// they order as the numbers do, NaN last and zeros equal; of equal keys the place decides, so the order is stable.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

layout(constant_id = 2) const uint LENGTH = 256;  // a power of two, no less than the row
layout(constant_id = 3) const bool DESCENDING = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t values, places, operand;
  uint64_t kept;  // elements of each row that are wanted
  Rows rows;      // of the operand, then of the results
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared uint keys[LENGTH];
shared uint places[LENGTH];

uint key_of(float x) {
  if (lg_isnan(x)) return DESCENDING ? 0u : 0xfffffffeu;
  const uint bits = x == 0.0 ? 0u : floatBitsToUint(x);
  const uint key = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return DESCENDING ? 0xfffffffeu - key : key;
}

void main() {
  const uint me = gl_LocalInvocationID.x, length = arguments.rows.extent;
  for (uint row = gl_WorkGroupID.x; row < arguments.rows.count; row += gl_NumWorkGroups.x) {
    int64_t at[3] = int64_t[](0, 0, 0);
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.rows.size[d];
      rest /= arguments.rows.size[d];
      [[unroll]] for (uint k = 0; k < 3; ++k) at[k] += int64_t(place) * arguments.rows.stride[k][d];
    }
    barrier();
    for (uint i = me; i < LENGTH; i += 256) {
      keys[i] = i < length ? key_of(load_f32(arguments.operand, at[0] + int64_t(i) * arguments.rows.step[0])) : 0xffffffffu;
      places[i] = i;
    }
    for (uint run = 2; run <= LENGTH; run *= 2)
      for (uint apart = run / 2; apart > 0; apart /= 2) {
        barrier();
        for (uint i = me; i < LENGTH; i += 256) {
          const uint other = i ^ apart;
          if (other < i) continue;
          const bool after = keys[i] > keys[other] || (keys[i] == keys[other] && places[i] > places[other]);
          if (after == ((i & run) == 0)) {
            const uint key = keys[i], place = places[i];
            keys[i] = keys[other];
            places[i] = places[other];
            keys[other] = key;
            places[other] = place;
          }
        }
      }
    barrier();
    for (uint i = me; i < uint(arguments.kept); i += 256) {
      store_f32(arguments.values, at[1] + int64_t(i) * arguments.rows.step[1],
                load_f32(arguments.operand, at[0] + int64_t(places[i]) * arguments.rows.step[0]));
      store_integer(arguments.places, at[2] + int64_t(i) * arguments.rows.step[2], kI64, int64_t(places[i]));
    }
  }
}
