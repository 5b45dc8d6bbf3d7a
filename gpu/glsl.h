#pragma once
// GLSL to SPIR-V while the program runs, by glslang's C interface. One compilation at a time; any thread may
// ask.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad::gpu {

// The number of the text as a source, for #line: errors of text that has another number are the engine's own.
inline constexpr int kUserSource = 1;

// The module of a compute shader for Vulkan 1.2. Error "NAME: line N of its GLSL: …" with the line itself,
// which is looked up in `user_text`.
std::vector<uint32_t> compile_glsl(const std::string& name, const std::string& whole,
                                   const std::string& user_text);

}  // namespace lunagrad::gpu
