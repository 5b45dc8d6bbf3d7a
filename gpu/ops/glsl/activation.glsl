// The activation in the epilogue of an op. Numbered as Activation in runtime/ops/elementwise/activation.h, with the
// formulas of elementwise.def.
#include "functions.glsl"

const uint kNoActivation = 0, kRelu = 1, kTanh = 2, kSigmoid = 3;
layout(constant_id = 20) const uint ACTIVATION = kNoActivation;

float activated(float x) {
  if (ACTIVATION == kRelu) return any(bvec2(lg_isnan(x), x > 0.0)) ? x : 0.0;  // lg_max(x, 0) without a branch
  if (ACTIVATION == kTanh) return lg_tanh(x);
  if (ACTIVATION == kSigmoid) return lg_sigmoid(x);
  return x;
}
