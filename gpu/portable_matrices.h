#pragma once
// Shaders that multiply matrices are written against GL_NV_cooperative_matrix, which the shader compiler
// knows, and are put into the words of SPV_KHR_cooperative_matrix, which devices of all vendors have, when
// they are loaded: instructions differ in number and order of operands alone. With SPV_KHR_bfloat16 what they
// multiply may be bfloat16.
//
// The language also demands Vulkan's memory model, under which each access to shared memory may be ordered
// against all others; modules are put under the model of all other shaders, in which barriers order.
#include <cstdint>
#include <span>
#include <vector>

namespace lunagrad::gpu {

// Whether the module multiplies matrices.
bool is_cooperative(std::span<const uint32_t> words);
// The module with its cooperative matrices as SPV_KHR_cooperative_matrix has them; with `bfloat`, the
// elements of 16 bits that are multiplied are bfloat16.
std::vector<uint32_t> portable_matrices(std::span<const uint32_t> words, bool bfloat);

}  // namespace lunagrad::gpu
