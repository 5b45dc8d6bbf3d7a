#version 460
// Gradients of running products y_k = x_0 ... x_k, and of the products of rows, whose gradient g belongs to
// the last element only (LAST):
//   dx_i = x_0 ... x_(i - 1) s_i  with  s_i = g_i + x_(i + 1) s_(i + 1)
// There are no quotients, so zeros need no special case. The result holds x_0 ... x_(i - 1) at first. The
// recurrence runs from the end: an item is the function s -> factor s + sum, and items combine like
// functions.
#extension GL_GOOGLE_include_directive : require
#include "rows.glsl"

layout(constant_id = 2) const bool LAST = false;
layout(constant_id = 3) const uint STAGE = 0;
layout(constant_id = 4) const bool FOURS = false;  // rows that can be accessed four at a time
layout(constant_id = 5) const uint RUNS = 1;  // of kRuns

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Arguments {
  uint64_t result, operand, grad, kept;
  uint pieces;
  bool reverse, exclusive;  // reverse: always
  Rows rows;                // rows of result, x and g
};
layout(push_constant, scalar) uniform Push {
  Arguments arguments;
};

struct Item {
  float factor, sum;
};
const uint kRuns = 2;
const uint kFloats = kF32;
shared vec2 shared_items[272 * kRuns];

Item none() {
  return Item(1.0, 0.0);
}
Item both(Item a, Item b) {
  return Item(b.factor * a.factor, b.factor * a.sum + b.sum);
}
void share(uint i, Item item) {
  shared_items[i] = vec2(item.factor, item.sum);
}
Item shared_at(uint i) {
  return Item(shared_items[i].x, shared_items[i].y);
}
void keep(uint i, Item item) {
  C64Element(arguments.kept + uint64_t(i) * 8).at = vec2(item.factor, item.sum);
}
Item kept_at(uint i) {
  const vec2 item = C64Element(arguments.kept + uint64_t(i) * 8).at;
  return Item(item.x, item.y);
}

// i counts from the end of the row.
int64_t place_of(uint i) {
  return int64_t(arguments.rows.extent - 1 - i);
}
// The element of x after element i.
float factor_at(int64_t start, uint i) {
  return i == 0 ? 1.0 : load_f32(arguments.operand, start + (place_of(i) + 1) * arguments.rows.step[1]);
}
float grad_at(int64_t start, uint i) {
  return LAST && i > 0 ? 0.0 : load_f32(arguments.grad, start + place_of(i) * arguments.rows.step[2]);
}
Item item_at(int64_t starts[3], uint i) {
  return Item(factor_at(starts[1], i), grad_at(starts[2], i));
}
float value_of(Item before, Item with) {
  return with.sum;
}
void put(int64_t starts[3], uint i, Item before, Item with) {
  const int64_t at = starts[0] + place_of(i) * arguments.rows.step[0];
  store_f32(arguments.result, at, load_f32(arguments.result, at) * with.sum);
}

#define TWO_OPERANDS
#include "scan_rows.glsl"

Four items_at(int64_t starts[3], uint i) {
  const uint first = length() - 4 - i;
  const vec4 x = load_f32x4(arguments.operand + starts[1] * 4, int64_t(first / 4));
  vec4 g = vec4(0.0);
  if (!LAST)
    g = load_f32x4(arguments.grad + starts[2] * 4, int64_t(first / 4));
  else if (i == 0)
    g.w = load_f32(arguments.grad, starts[2]);
  return Four(Item[](Item(factor_at(starts[1], i), g.w), Item(x.w, g.z), Item(x.z, g.y), Item(x.y, g.x)));
}
vec4 stored(vec4 values, uint64_t to) {
  return values * load_f32x4(to, 0);
}

void main() {
  scan_rows();
}
