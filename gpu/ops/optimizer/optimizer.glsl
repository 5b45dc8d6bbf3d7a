// One step of an optimizer over all parameters of a group: a workgroup takes a block of 1024 elements of one
// tensor. The including file defines update(); gpu/generate/write_optimizers.cpp writes it from a record of
// runtime/optimizer/optimizers.def.
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint TYPE = 6;
layout(constant_id = 1) const uint STATES = 0;  // bit k: state k exists

#define V float
#define MOST_STATES 3
#define K(c) V(c)

struct Entry {
  uint64_t param, grad, state[MOST_STATES];
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint tensors, blocks;
  float number[14];  // the rule's numbers, then the derived values
};
#include "many.glsl"

// Functions used in optimizers.def that GLSL lacks, or does not define for NaN.
V mul_add(V a, V b, V c) {
  return a * b + c;
}
V neg_mul_add(V a, V b, V c) {
  return c - a * b;
}
V average(V share, V rest, V state, V value) {
  return share * state + rest * value;
}
V sel(bool condition, V yes, V no) {
  return condition ? yes : no;
}
V lg_sign(V x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}
#define sign lg_sign

void regularize(bool maximize, V decay, inout V p, inout V g) {
  if (maximize) g = -g;
  if (decay < 0.0)
    p += decay * p;
  else
    g += decay * p;
}

void update(inout V p, V g, inout V states[MOST_STATES]);

void main() {
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const Entry e = entries.at[tensor_of(block)];
    const uint start = (block - e.first_block) * 1024;
    for (uint place = start + gl_LocalInvocationID.x; place < min(start + 1024, e.count); place += 256) {
      const int64_t i = int64_t(place);
      V p = load_float(e.param, i, TYPE), states[MOST_STATES] = V[](0.0, 0.0, 0.0);
      [[unroll]] for (uint k = 0; k < MOST_STATES; ++k)
        if ((STATES >> k & 1u) != 0u) states[k] = load_float(e.state[k], i, TYPE);
      update(p, load_float(e.grad, i, TYPE), states);
      store_float(e.param, i, TYPE, p);
      [[unroll]] for (uint k = 0; k < MOST_STATES; ++k)
        if ((STATES >> k & 1u) != 0u) store_float(e.state[k], i, TYPE, states[k]);
    }
  }
}
