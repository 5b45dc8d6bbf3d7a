#pragma once
// How the kernels of products and of convolutions name their variants in a profile: "matmul f32 64x64x16,
// bias, relu".
#include <string>

#include "gpu/pipeline.h"
#include "runtime/ops/activation.h"

namespace lunagrad::gpu {

inline ShaderCode with_variant(ShaderCode code, decltype(ShaderCode::variant) named, bool bfloat = false) {
  code.variant = named;
  code.bfloat = bfloat;
  return code;
}

// What becomes of the sums.
inline std::string ending_name(uint32_t biased, uint32_t activation) {
  const char* const name = activation_param().choices[activation];
  return text(biased ? ", bias" : "", activation ? text(", ", name) : "");
}

}  // namespace lunagrad::gpu
