#pragma once
// Names of the variants of products and convolutions in a profile: "matmul f32 64x64x16, bias, relu".
#include <string>

#include "gpu/vulkan/pipeline.h"
#include "runtime/ops/elementwise/activation.h"
#include "shaders/constants.h"

namespace lunagrad::gpu {

static_assert(shaders::Matmul::kNoActivation == uint32_t(Activation::none) &&
              shaders::Matmul::kRelu == uint32_t(Activation::relu) &&
              shaders::Matmul::kTanh == uint32_t(Activation::tanh) &&
              shaders::Matmul::kSigmoid == uint32_t(Activation::sigmoid));

inline ShaderCode with_variant(ShaderCode code, decltype(ShaderCode::variant) named, bool bfloat = false) {
  code.variant = named;
  code.bfloat = bfloat;
  return code;
}

// The epilogue: ", bias, relu".
inline std::string ending_name(bool biased, uint32_t activation) {
  const char* const name = activation_param().choices[activation];
  return text(biased ? ", bias" : "", activation ? text(", ", name) : "");
}

}  // namespace lunagrad::gpu
