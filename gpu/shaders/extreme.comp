#version 460
// The largest or smallest element of each row, and its place: the first of equals; a NaN beats all numbers.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const bool HAS_VALUES = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t operand;
  uint64_t places, values;
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kLargest = 0;
const uint kNowhere = 0xffffffffu;
shared uint meeting_place[256];

// Whether a at place i comes before b at place j.
bool wins(float a, uint i, float b, uint j) {
  if (j == kNowhere || i == kNowhere) return i != kNowhere;
  const bool a_nan = lg_isnan(a), b_nan = lg_isnan(b);
  if (a_nan || b_nan) return a_nan && (!b_nan || i < j);
  if (a == b) return i < j;
  return MODE == kLargest ? a > b : a < b;
}

void main() {
  const uint me = gl_LocalInvocationID.x;
  const uint blocks = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const uint row = block * kRowsPerGroup + beside();
    const bool exists = row < arguments.rows.count;
    int64_t at = 0;
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      at += int64_t(rest % arguments.rows.size[d]) * arguments.rows.stride[0][d];
      rest /= arguments.rows.size[d];
    }
    float best = 0.0;
    uint place = kNowhere;
    for (uint i = along(); i < (exists ? arguments.rows.extent : 0); i += ALONG) {
      const float x = load_float(arguments.operand, at + int64_t(i) * arguments.rows.step[0], TYPE);
      if (wins(x, i, best, place)) {
        best = x;
        place = i;
      }
    }
    barrier();
    meeting[me] = best;
    meeting_place[me] = place;
    [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
      barrier();
      const uint other = me + apart;
      if (along() < apart && wins(meeting[other], meeting_place[other], meeting[me], meeting_place[me])) {
        meeting[me] = meeting[other];
        meeting_place[me] = meeting_place[other];
      }
    }
    if (exists && along() == 0) {
      store_integer(arguments.places, int64_t(row), kI64, int64_t(meeting_place[me]));
      if (HAS_VALUES) store_float(arguments.values, int64_t(row), TYPE, meeting[me]);
    }
  }
}
