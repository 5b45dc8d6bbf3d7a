#version 460
// Running extremes with their positions, and running log-sum-exp, along a dim.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"
#include "order.glsl"

const uint kLargest = 0, kSmallest = 1, kLogSum = 2;  // MODE
layout(constant_id = 2) const uint TYPE = 6;
layout(constant_id = 3) const uint RAW_TYPE = 2;  // an integer type of the same size as the elements
layout(constant_id = 4) const uint STAGE = 0;
layout(constant_id = 5) const bool FOURS = false;  // rows of elements of 32 bits that can be accessed four at a time
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

// Among equal elements the last one counts; NaN stays until the next NaN. A key of up to 32 bits is in `high`.
const bool kWideKeys = TYPE == kI64;
struct Extreme {
  uint high, low;
  uint after;  // the position plus 1; 0: no element
};
bool exceeds(Extreme a, Extreme b) {
  if (!kWideKeys) return a.high > b.high;
  return a.high != b.high ? a.high > b.high : a.low > b.low;
}
Extreme later(Extreme a, Extreme b) {
  return b.after == 0 || exceeds(a, b) ? a : b;
}
Extreme extreme_of(uint order, uint place) {
  const bool nan = TYPE >= kF16 && order == 0xffffffffu;
  return Extreme(MODE == kLargest || nan ? order : ~order, 0, place + 1);
}
Extreme extreme_at(int64_t i, uint place) {
  const uint64_t order = order_at(arguments.operand, i, TYPE);
  if (!kWideKeys) return extreme_of(uint(order), place);
  const uvec2 key = unpackUint2x32(MODE == kLargest ? order : ~order);
  return Extreme(key.y, key.x, place + 1);
}

// exp(top) sum; top is the largest exponent.
struct LogSum {
  float top, sum;
};
LogSum both(LogSum a, LogSum b) {
  const bool rises = b.top > a.top;
  const float top = rises ? b.top : a.top, other_top = rises ? a.top : b.top;
  const float sum = rises ? b.sum : a.sum, other = rises ? a.sum : b.sum;
  const float factor = other_top == top ? 1.0 : lg_exp(other_top - top);
  return LogSum(top, sum + (other == 0.0 ? 0.0 : other * factor));
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
shared uvec2 shared_extremes[kAdds ? 1 : 272 * kRuns];
shared uint shared_lows[kWideKeys ? 272 * kRuns : 1];
shared vec2 shared_sums[kAdds ? 272 * kRuns : 1];

Item none() {
  return Item(Extreme(0, 0, 0), LogSum(-infinity(), 0.0));
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
    shared_extremes[i] = uvec2(item.best.high, item.best.after);
    if (kWideKeys) shared_lows[i] = item.best.low;
  }
}
Item shared_at(uint i) {
  Item item = none();
  if (kAdds)
    item.sum = LogSum(shared_sums[i].x, shared_sums[i].y);
  else
    item.best = Extreme(shared_extremes[i].x, kWideKeys ? shared_lows[i] : 0, shared_extremes[i].y);
  return item;
}
// 16 bytes each: an extreme, or both numbers.
void keep(uint i, Item item) {
  const uint64_t at = arguments.kept + uint64_t(i) * 16;
  if (kAdds) {
    C64Element(at).at = vec2(item.sum.top, item.sum.sum);
  } else {
    U32x2Elements(at).at = uvec2(item.best.high, item.best.low);
    I32Element(at + 8).at = int(item.best.after);
  }
}
Item kept_at(uint i) {
  const uint64_t at = arguments.kept + uint64_t(i) * 16;
  Item item = none();
  if (kAdds) {
    const vec2 pair = C64Element(at).at;
    item.sum = LogSum(pair.x, pair.y);
  } else {
    const uvec2 key = U32x2Elements(at).at;
    item.best = Extreme(key.x, key.y, uint(I32Element(at + 8).at));
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
  const int64_t place = int64_t(with.best.after) - 1;
  store_integer(arguments.result, to, RAW_TYPE,
                load_integer(arguments.operand, starts[1] + place * arguments.rows.step[1], RAW_TYPE));
  store_integer(arguments.places, starts[2] + at * arguments.rows.step[2], kI64, place);
}

// The items of earlier invocations of the subgroup, combined. An element is an extreme of those up to it if its key
// is the largest so far; the last of them counts.
const bool kInSubgroups = SUBGROUP > 0 && !kAdds && !kWideKeys;
Item before_in_subgroup(Item own) {
  Item before = none();
  before.best.high = subgroupExclusiveMax(own.best.high);
  before.best.after = subgroupExclusiveMax(own.best.high >= before.best.high ? own.best.after : 0);
  return before;
}

#define IN_STEPS
#define OWN_FOURS
#include "scan_rows.glsl"

uint64_t four_at_address(int64_t starts[3], uint i) {
  return arguments.operand + (starts[1] + int64_t(i)) * 4;
}
Four items_at(int64_t starts[3], uint i) {
  if (kAdds) return floats_at(starts, i);
  const uvec4 bits = U32x4Elements(four_at_address(starts, i)).at;
  Four four = Four(Item[](none(), none(), none(), none()));
  [[unroll]] for (uint v = 0; v < 4; ++v) four.at[v].best = extreme_of(order_of_bits(bits[v], TYPE), i + v);
  return four;
}
void put_items(int64_t starts[3], uint i, Item before, Four with) {
  if (kAdds) {
    put_floats(starts, i, before, with);
    return;
  }
  const uvec4 here = U32x4Elements(four_at_address(starts, i)).at;
  uvec4 bits, after;
  uint best = 0;
  if (before.best.after > 0) best = uint(I32Element(four_at_address(starts, before.best.after - 1)).at);
  [[unroll]] for (uint v = 0; v < 4; ++v) {
    after[v] = with.at[v].best.after;
    if (after[v] == i + v + 1) best = here[v];
    bits[v] = best;
  }
  U32x4Elements(arguments.result + (starts[0] + int64_t(i)) * 4).at = bits;
  const uint64_t places = arguments.places + (starts[2] + int64_t(i)) * 8;
  U32x4Elements(places).at = uvec4(after.x - 1, 0, after.y - 1, 0);
  U32x4Elements(places + 16).at = uvec4(after.z - 1, 0, after.w - 1, 0);
}

void main() {
  scan_rows();
}
