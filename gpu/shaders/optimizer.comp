#version 460
// One step of an optimizer over all parameters of a group: a work group takes a block of 1024 elements of one
// tensor, found in the table of tensors by its number.
//   SGD:   g' = g + decay p;  b = momentum b + (1 - dampening) g' (first step: g')
//          p -= lr b, or lr (g' + momentum b)
//   Adam:  p *= shrink;  g' = g + decay p;  m = beta1 m + (1 - beta1) g';  v = beta2 v + (1 - beta2) g'^2
//          p -= step_size m / (sqrt(v) / root_correction + eps), with amsgrad the largest v so far
// (Kingma and Ba, ICLR 2015; Loshchilov and Hutter, ICLR 2019; Reddi, Kale and Kumar, ICLR 2018; as PyTorch
// defines them.)
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const bool ADAM = true;
layout(constant_id = 1) const bool HAS_LAST_STATE = false;  // SGD: momentum; Adam: amsgrad

struct Entry {
  uint64_t param, grad, state[3];  // SGD: the buffer; Adam: m, v, the largest v
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint tensors, blocks;
  float sign;           // -1 to maximize
  float decay;
  float lr;             // Adam: the step size
  float first, second;  // SGD: momentum, 1 - dampening; Adam: beta1, beta2
  float rest_of_first, rest_of_second;  // Adam: 1 - beta1, 1 - beta2
  float eps, root_correction, shrink;
  uint first_step, nesterov;  // SGD
};

void sgd(Entry e, int64_t i) {
  const float p = load_f32(e.param, i);
  float g = sign * load_f32(e.grad, i) + decay * p;
  if (HAS_LAST_STATE) {
    const float b = first_step != 0 ? g : first * load_f32(e.state[0], i) + second * g;
    store_f32(e.state[0], i, b);
    g = nesterov != 0 ? g + first * b : b;
  }
  store_f32(e.param, i, p - lr * g);
}

void adam(Entry e, int64_t i) {
  const float p = shrink * load_f32(e.param, i);
  const float g = sign * load_f32(e.grad, i) + decay * p;
  const float m = first * load_f32(e.state[0], i) + rest_of_first * g;
  const float v = second * load_f32(e.state[1], i) + rest_of_second * (g * g);
  store_f32(e.state[0], i, m);
  store_f32(e.state[1], i, v);
  float largest = v;
  if (HAS_LAST_STATE) {
    const float before = load_f32(e.state[2], i);
    largest = before >= v ? before : v;
    store_f32(e.state[2], i, largest);
  }
  store_f32(e.param, i, p - lr * (m * root_correction / (sqrt(largest) + eps * root_correction)));
}

void main() {
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    uint low = 0, high = tensors;  // the last tensor whose first block is not above `block`
    while (high - low > 1) {
      const uint middle = (low + high) / 2;
      if (entries.at[middle].first_block <= block)
        low = middle;
      else
        high = middle;
    }
    const Entry e = entries.at[low];
    const uint start = (block - e.first_block) * 1024;
    for (uint i = start + gl_LocalInvocationID.x; i < min(start + 1024, e.count); i += 256) {
      if (ADAM)
        adam(e, int64_t(i));
      else
        sgd(e, int64_t(i));
    }
  }
}
