#version 460
// Running extremes with their positions, and running log-sum-exp, along a dim.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

const uint kLargest = 0, kSmallest = 1, kLogSum = 2;  // MODE
layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const uint RAW_TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 4) const uint STAGE = 0;
layout(constant_id = 5) const bool FOURS = false;  // rows of f32 that can be accessed four at a time
layout(constant_id = 6) const uint RUNS = 1;  // of kRuns

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand, places, kept;
  uint pieces;
  bool reverse, exclusive;  // exclusive: never
  Rows rows;                // rows of result, operand and places
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

const uint kNowhere = 0xffffffffu;

// Among equal elements the last one counts; NaN stays until the next NaN.
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
LogSum log_sum_of(float x) {
  if (lg_isnan(x)) return LogSum(-infinity(), nan());
  return LogSum(x, x == -infinity() ? 0.0 : 1.0);
}
float value_of(LogSum a) {
  return lg_isinf(a.top) && !lg_isnan(a.sum) ? a.top : a.top + lg_log(a.sum);
}


// Only one of these is used.
struct Item {
  Extreme best;
  LogSum sum;
};
const uint kRuns = 2;
const bool kAdds = MODE == kLogSum;
const uint kFloats = kF32;
shared uint64_t shared_keys[kAdds ? 1 : 272 * kRuns];
shared uint shared_places[kAdds ? 1 : 272 * kRuns];
shared vec2 shared_sums[kAdds ? 272 * kRuns : 1];

Item none() {
  return Item(Extreme(0, kNowhere), LogSum(-infinity(), 0.0));
}
Item both(Item a, Item b) {
  if (kAdds)
    a.sum = both(a.sum, b.sum);
  else
    a.best = later(a.best, b.best);
  return a;
}
void share(uint i, Item item) {
  if (kAdds) {
    shared_sums[i] = vec2(item.sum.top, item.sum.sum);
  } else {
    shared_keys[i] = item.best.key;
    shared_places[i] = item.best.place;
  }
}
Item shared_at(uint i) {
  Item item = none();
  if (kAdds)
    item.sum = LogSum(shared_sums[i].x, shared_sums[i].y);
  else
    item.best = Extreme(shared_keys[i], shared_places[i]);
  return item;
}
// 16 bytes each: the key and the position, or both numbers.
void keep(uint i, Item item) {
  const uint64_t at = arguments.kept + uint64_t(i) * 16;
  if (kAdds) {
    C64Element(at).at = vec2(item.sum.top, item.sum.sum);
  } else {
    U64Element(at).at = item.best.key;
    I32Element(at + 8).at = int(item.best.place);
  }
}
Item kept_at(uint i) {
  const uint64_t at = arguments.kept + uint64_t(i) * 16;
  Item item = none();
  if (kAdds) {
    const vec2 pair = C64Element(at).at;
    item.sum = LogSum(pair.x, pair.y);
  } else {
    item.best = Extreme(U64Element(at).at, uint(I32Element(at + 8).at));
  }
  return item;
}

uint place_of(uint i) {
  return arguments.reverse ? arguments.rows.extent - 1 - i : i;
}
Item item_of(float x) {
  Item item = none();
  item.sum = log_sum_of(x);
  return item;
}
float value_of(Item before, Item with) {
  return value_of(with.sum);
}
Item item_at(int64_t starts[3], uint i) {
  const int64_t at = starts[1] + int64_t(place_of(i)) * arguments.rows.step[1];
  if (kAdds) return item_of(load_f32(arguments.operand, at));
  Item item = none();
  item.best = extreme_at(at, place_of(i));
  return item;
}
void put(int64_t starts[3], uint i, Item before, Item with) {
  const int64_t at = int64_t(place_of(i)), to = starts[0] + at * arguments.rows.step[0];
  if (kAdds) {
    store_f32(arguments.result, to, value_of(with.sum));
    return;
  }
  const int64_t place = int64_t(with.best.place);
  store_integer(arguments.result, to, RAW_TYPE,
                load_integer(arguments.operand, starts[1] + place * arguments.rows.step[1], RAW_TYPE));
  store_integer(arguments.places, starts[2] + at * arguments.rows.step[2], kI64, place);
}

#define IN_STEPS
#include "scan_rows.glsl"

void main() {
  scan_rows();
}
