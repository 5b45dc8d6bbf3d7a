#version 460
// Running sums or products along a dim, from either end, inclusive or exclusive.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

// MODE is the type of the operand. f32, f16 and bf16 are combined in f32, and the result has the same type.
// Integer types are combined in i64.
layout(constant_id = 2) const bool PRODUCT = false;
layout(constant_id = 3) const uint STAGE = 0;
layout(constant_id = 4) const bool FOURS = false;  // rows of floats that can be accessed four at a time
layout(constant_id = 5) const uint RUNS = 1;  // of kRuns

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand, unused, kept;
  uint pieces;
  bool reverse, exclusive;
  Rows rows;
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

// Only one of these is used.
struct Item {
  float real;
  int64_t whole;
};
const uint kRuns = 4;
const bool kReal = MODE == kF32 || MODE == kF16 || MODE == kBF16;
const uint kFloats = MODE;
shared float shared_reals[kReal ? 272 * kRuns : 1];
shared int64_t shared_wholes[kReal ? 1 : 272 * kRuns];

Item none() {
  return Item(PRODUCT ? 1.0 : 0.0, PRODUCT ? 1L : 0L);
}
Item both(Item a, Item b) {
  return Item(PRODUCT ? a.real * b.real : a.real + b.real, PRODUCT ? a.whole * b.whole : a.whole + b.whole);
}
void share(uint i, Item item) {
  if (kReal)
    shared_reals[i] = item.real;
  else
    shared_wholes[i] = item.whole;
}
Item shared_at(uint i) {
  return Item(kReal ? shared_reals[i] : 0.0, kReal ? 0L : shared_wholes[i]);
}
void keep(uint i, Item item) {
  if (kReal)
    store_f32(arguments.kept, int64_t(i), item.real);
  else
    store_integer(arguments.kept, int64_t(i), kI64, item.whole);
}
Item kept_at(uint i) {
  Item item = Item(0.0, 0L);
  if (kReal)
    item.real = load_f32(arguments.kept, int64_t(i));
  else
    item.whole = load_integer(arguments.kept, int64_t(i), kI64);
  return item;
}

int64_t place_of(uint i) {
  return int64_t(arguments.reverse ? arguments.rows.extent - 1 - i : i);
}
Item item_at(int64_t starts[3], uint i) {
  Item item = Item(0.0, 0L);
  const int64_t at = starts[1] + place_of(i) * arguments.rows.step[1];
  if (kReal)
    item.real = load_float(arguments.operand, at, MODE);
  else
    item.whole = load_integer(arguments.operand, at, MODE);
  return item;
}
Item item_of(float x) {
  return Item(x, 0L);
}
float value_of(Item before, Item with) {
  return arguments.exclusive ? before.real : with.real;
}
void put(int64_t starts[3], uint i, Item before, Item with) {
  const int64_t at = starts[0] + place_of(i) * arguments.rows.step[0];
  if (kReal)
    store_float(arguments.result, at, MODE, value_of(before, with));
  else
    store_integer(arguments.result, at, kI64, arguments.exclusive ? before.whole : with.whole);
}

#include "scan_rows.glsl"

void main() {
  scan_rows();
}
