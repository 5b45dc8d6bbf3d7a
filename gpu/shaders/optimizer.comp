#version 460
// One step of an optimizer over all parameters of a group: a work group takes a block of 1024 elements of one tensor. The
// rules, their numbers and their sources are those of runtime/cpu/optimizer.h and runtime/cpu/optimizer_kernels.cpp.
#extension GL_GOOGLE_include_directive : require
#include "memory.glsl"

layout(local_size_x = 256) in;
layout(constant_id = 0) const uint RULE = 0;
layout(constant_id = 1) const uint TYPE = 6;

const uint kSgd = 0, kMomentum = 1, kAdam = 2, kAmsgrad = 3, kNAdam = 4, kRAdam = 5, kAdamax = 6, kRmsProp = 7,
           kRmsPropMomentum = 8, kRmsPropCentered = 9, kRmsPropBoth = 10, kAdagrad = 11, kAdadelta = 12, kLion = 13,
           kEma = 14;
const uint kStates[15] = uint[](0, 1, 2, 3, 2, 2, 2, 1, 2, 2, 3, 1, 2, 1, 0);

struct Entry {
  uint64_t param, grad, state[3];
  uint count;
  uint first_block;
};
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Entries {
  Entry at[];
};
layout(push_constant, scalar) uniform Push {
  Entries entries;
  uint tensors, blocks;
  float sign;    // -1 to maximize
  float decay;   // added to the gradient
  float shrink;  // the decoupled decay: what the parameter is multiplied by
  float number[8];
  float rest[3];  // 1 less the first numbers
};
#include "many.glsl"

float average(uint share, float state, float value) {
  return number[share] * state + rest[share] * value;
}

// s = the states; all but g are changed.
void take_step(inout float p, float g, inout float s[3]) {
  switch (RULE) {
    case kSgd: p -= number[0] * g; break;
    case kMomentum:
      s[0] = number[5] != 0.0 ? g : number[3] * s[0] + number[4] * g;
      p -= number[0] * (number[6] != 0.0 ? g + number[3] * s[0] : s[0]);
      break;
    case kAdam:
    case kAmsgrad: {
      s[0] = average(0, s[0], g);
      s[1] = average(1, s[1], g * g);
      s[2] = RULE == kAmsgrad && s[2] >= s[1] ? s[2] : s[1];
      p -= number[4] * (s[0] * number[5] / (sqrt(s[2]) + number[2] * number[5]));
      break;
    }
    case kNAdam:
      s[0] = average(0, s[0], g);
      s[1] = average(1, s[1], g * g);
      p -= (number[4] * g + number[5] * s[0]) * number[6] / (sqrt(s[1]) + number[2] * number[6]);
      break;
    case kRAdam:
      s[0] = average(0, s[0], g);
      s[1] = average(1, s[1], g * g);
      p -= number[4] * (number[5] != 0.0 ? s[0] / (sqrt(s[1]) + number[2]) : s[0]);
      break;
    case kAdamax: {
      s[0] = average(0, s[0], g);
      const float size = abs(g) + number[2], held = number[1] * s[1];
      s[1] = held >= size ? held : size;
      p -= number[4] * (s[0] / s[1]);
      break;
    }
    case kRmsProp:
    case kRmsPropMomentum:
    case kRmsPropCentered:
    case kRmsPropBoth: {
      s[0] = average(1, s[0], g * g);
      float second = s[0];
      if (RULE == kRmsPropCentered) {
        s[1] = average(1, s[1], g);
        second -= s[1] * s[1];
      } else if (RULE == kRmsPropBoth) {
        s[2] = average(1, s[2], g);
        second -= s[2] * s[2];
      }
      float direction = g / (sqrt(second) + number[2]);
      if (RULE == kRmsPropMomentum || RULE == kRmsPropBoth) direction = s[1] = number[5] * s[1] + direction;
      p -= number[0] * direction;
      break;
    }
    case kAdagrad:
      s[0] += g * g;
      p -= number[0] * (g / (sqrt(s[0]) + number[1]));
      break;
    case kAdadelta: {
      s[0] = average(1, s[0], g * g);
      const float delta = sqrt(s[1] + number[2]) / sqrt(s[0] + number[2]) * g;
      s[1] = average(1, s[1], delta * delta);
      p -= number[0] * delta;
      break;
    }
    case kLion: {
      const float direction = average(1, s[0], g);
      p -= number[0] * (direction > 0.0 ? 1.0 : direction < 0.0 ? -1.0 : direction);
      s[0] = average(2, s[0], g);
      break;
    }
    case kEma: p = average(0, p, g); break;
  }
}

void main() {
  for (uint block = gl_WorkGroupID.x; block < blocks; block += gl_NumWorkGroups.x) {
    const Entry e = entries.at[tensor_of(block)];
    const uint start = (block - e.first_block) * 1024;
    for (uint place = start + gl_LocalInvocationID.x; place < min(start + 1024, e.count); place += 256) {
      const int64_t i = int64_t(place);
      float p = load_float(e.param, i, TYPE), g = load_float(e.grad, i, TYPE);
      if (RULE != kEma) {
        p = shrink * p;
        g = sign * g + decay * p;
      }
      float s[3] = float[](0.0, 0.0, 0.0);
      [[unroll]] for (uint k = 0; k < 3; ++k)
        if (k < kStates[RULE]) s[k] = load_float(e.state[k], i, TYPE);
      take_step(p, g, s);
      store_float(e.param, i, TYPE, p);
      [[unroll]] for (uint k = 0; k < 3; ++k)
        if (k < kStates[RULE]) store_float(e.state[k], i, TYPE, s[k]);
    }
  }
}
