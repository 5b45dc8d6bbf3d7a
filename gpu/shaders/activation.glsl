// The activation within an op (runtime/ops/activation.h): numbers of Activation, values of the rows of elementwise.def.
// The including file defines ACTIVATION_ID, the number of the constant that chooses.
#include "functions.glsl"

const uint kNoActivation = 0, kRelu = 1, kTanh = 2, kSigmoid = 3;
layout(constant_id = ACTIVATION_ID) const uint ACTIVATION = kNoActivation;

float activated(float x) {
  if (ACTIVATION == kRelu) return lg_max(x, 0.0);
  if (ACTIVATION == kTanh) return lg_tanh(x);
  if (ACTIVATION == kSigmoid) return lg_sigmoid(x);
  return x;
}
