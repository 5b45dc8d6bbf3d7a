#pragma once
// Names of the variants of products and convolutions in a profile: "matmul f32 64x64x16, bias, relu".
#include <string>

#include "gpu/pipeline.h"
#include "runtime/ops/activation.h"

namespace lunagrad::gpu {

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
