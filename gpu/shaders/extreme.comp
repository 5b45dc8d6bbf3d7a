#version 460
// The largest or smallest element of each row and its index: the first of equal ones. NaN precedes all numbers.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const bool HAS_VALUES = false;
layout(constant_id = 4) const uint RAW_TYPE = 2;  // an integer type of the same size as the elements

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t operand;
  uint64_t places, values;
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kLargest = 0, kSmallest = 1;
const uint kNowhere = 0xffffffffu;
shared uint64_t meeting_key[256];
shared uint meeting_place[256];

// The element with the largest key wins.
uint64_t key_at(int64_t i) {
  const uint64_t order = order_at(arguments.operand, i, TYPE);
  const bool nan = TYPE >= kF16 && order == 0xffffffffUL;
  return MODE == kLargest || nan ? order : TYPE == kI64 ? ~order : ~order & 0xffffffffUL;
}

// Whether key a at index i wins over b at index j.
bool wins(uint64_t a, uint i, uint64_t b, uint j) {
  if (j == kNowhere || i == kNowhere) return i != kNowhere;
  return a > b || (a == b && i < j);
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
    uint64_t best = 0;
    uint place = kNowhere;
    for (uint i = along(); i < (exists ? arguments.rows.extent : 0); i += ALONG) {
      const uint64_t key = key_at(at + int64_t(i) * arguments.rows.step[0]);
      if (wins(key, i, best, place)) {
        best = key;
        place = i;
      }
    }
    barrier();
    meeting_key[me] = best;
    meeting_place[me] = place;
    [[unroll]] for (uint apart = ALONG / 2; apart > 0; apart /= 2) {
      barrier();
      const uint other = me + apart;
      if (along() < apart && wins(meeting_key[other], meeting_place[other], meeting_key[me], meeting_place[me])) {
        meeting_key[me] = meeting_key[other];
        meeting_place[me] = meeting_place[other];
      }
    }
    if (exists && along() == 0) {
      const int64_t found = int64_t(meeting_place[me]);
      store_integer(arguments.places, int64_t(row), kI64, found);
      if (HAS_VALUES)
        store_integer(arguments.values, int64_t(row), RAW_TYPE,
                      load_integer(arguments.operand, at + found * arguments.rows.step[0], RAW_TYPE));
    }
  }
}
