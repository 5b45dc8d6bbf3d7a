#version 460
// Running extremes with their places, and running log-sum-exp, along a dim. As in scan.comp each thread of a row owns one
// contiguous part of it: it combines its part, then what the parts before it give, and writes.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

const uint kLargest = 0, kSmallest = 1, kLogSum = 2;  // MODE
layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const uint RAW_TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 4) const bool REVERSE = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand, places;
  uint64_t padding;
  Rows rows;  // of result and operand, and of the places
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

shared uint64_t meeting_key[256];
shared uint meeting_place[256];
shared float meeting_top[256];

const uint kNowhere = 0xffffffffu;

// Of equal elements the last one counts; NaN stays until the next NaN.
struct Extreme {
  uint64_t key;
  uint place;
};
Extreme later(Extreme a, Extreme b) {
  if (b.place == kNowhere) return a;
  return a.place == kNowhere || b.key >= a.key ? b : a;
}
Extreme extreme_at(int64_t i, uint place) {
  const uint64_t order = order_at(arguments.operand, i, TYPE);
  const bool nan = TYPE >= kF16 && order == 0xffffffffUL;
  const uint64_t key = MODE == kLargest || nan ? order : TYPE == kI64 ? ~order : ~order & 0xffffffffUL;
  return Extreme(key, place);
}

// exp(top) sum; top is the largest exponent.
struct LogSum {
  float top, sum;
};
float share_of_top(LogSum a, float top) {
  return a.sum == 0.0 ? 0.0 : a.top == top ? a.sum : a.sum * lg_exp(a.top - top);
}
LogSum both(LogSum a, LogSum b) {
  const float top = max(a.top, b.top);
  return LogSum(top, share_of_top(a, top) + share_of_top(b, top));
}
LogSum log_sum_at(int64_t i) {
  const float x = load_f32(arguments.operand, i);
  if (lg_isnan(x)) return LogSum(-infinity(), nan());
  return LogSum(x, x == -infinity() ? 0.0 : 1.0);
}
float value_of(LogSum a) {
  return lg_isinf(a.top) && !lg_isnan(a.sum) ? a.top : a.top + lg_log(a.sum);
}

void main() {
  const uint length = arguments.rows.extent, me = gl_LocalInvocationID.x;
  const uint rounds = (arguments.rows.count + kRowsPerGroup - 1) / kRowsPerGroup;
  const uint each = (length + ALONG - 1) / ALONG;
  for (uint round = gl_WorkGroupID.x; round < rounds; round += gl_NumWorkGroups.x) {
    const uint row = round * kRowsPerGroup + beside();
    int64_t to = 0, from = 0, place_to = 0;
    uint rest = row;
    for (int d = int(arguments.rows.dims) - 1; d >= 0; --d) {
      const uint place = rest % arguments.rows.size[d];
      rest /= arguments.rows.size[d];
      to += int64_t(place) * arguments.rows.stride[0][d];
      from += int64_t(place) * arguments.rows.stride[1][d];
      place_to += int64_t(place) * arguments.rows.stride[2][d];
    }
    const uint begin = min(along() * each, length), end = row < arguments.rows.count ? min(begin + each, length) : begin;
    Extreme best = Extreme(0, kNowhere);
    LogSum sum = LogSum(-infinity(), 0.0);
    for (uint i = begin; i < end; ++i) {
      const uint at = REVERSE ? length - 1 - i : i;
      if (MODE == kLogSum)
        sum = both(sum, log_sum_at(from + int64_t(at) * arguments.rows.step[1]));
      else
        best = later(best, extreme_at(from + int64_t(at) * arguments.rows.step[1], at));
    }
    barrier();
    meeting_key[me] = best.key;
    meeting_place[me] = best.place;
    meeting_top[me] = sum.top;
    meeting[me] = sum.sum;
    barrier();
    best = Extreme(0, kNowhere);
    sum = LogSum(-infinity(), 0.0);
    for (uint k = beside() * ALONG; k < beside() * ALONG + along(); ++k) {
      if (MODE == kLogSum)
        sum = both(sum, LogSum(meeting_top[k], meeting[k]));
      else
        best = later(best, Extreme(meeting_key[k], meeting_place[k]));
    }
    for (uint i = begin; i < end; ++i) {
      const uint at = REVERSE ? length - 1 - i : i;
      const int64_t there = to + int64_t(at) * arguments.rows.step[0];
      if (MODE == kLogSum) {
        sum = both(sum, log_sum_at(from + int64_t(at) * arguments.rows.step[1]));
        store_f32(arguments.result, there, value_of(sum));
      } else {
        best = later(best, extreme_at(from + int64_t(at) * arguments.rows.step[1], at));
        const int64_t value = load_integer(arguments.operand, from + int64_t(best.place) * arguments.rows.step[1], RAW_TYPE);
        store_integer(arguments.result, there, RAW_TYPE, value);
        store_integer(arguments.places, place_to + int64_t(at) * arguments.rows.step[2], kI64, int64_t(best.place));
      }
    }
  }
}
