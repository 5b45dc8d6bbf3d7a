#pragma once
// Translates SPIR-V of SPV_NV_cooperative_matrix to SPV_KHR_cooperative_matrix. Shaders are written against
// GL_NV_cooperative_matrix, which Debian 12's glslang supports; devices of all vendors support the KHR
// extension. The instructions differ only in their opcodes and in number and order of operands. With
// SPV_KHR_bfloat16 the factors can be bfloat16.
//
// The GLSL extension also requires Vulkan's memory model. The translation selects the GLSL450 model instead,
// as all other shaders do; in it barriers order accesses. Pure.
#include <cstdint>
#include <span>
#include <vector>

namespace lunagrad::gpu {

inline constexpr uint32_t kOpCapability = 17;  // number of the SPIR-V registry

// Whether the module uses cooperative matrices.
bool is_cooperative(std::span<const uint32_t> words);
// The translated module. With `bfloat` the 16-bit factors are bfloat16.
std::vector<uint32_t> portable_matrices(std::span<const uint32_t> words, bool bfloat);

}  // namespace lunagrad::gpu
