#pragma once
// Compiles GLSL to SPIR-V at run time, with glslang's C interface. Any thread; calls run one at a time.
#include <cstdint>
#include <string>
#include <vector>

namespace lunagrad::gpu {

// The source string number of the user's text, for #line. An error with another number is in the engine's own
// text.
inline constexpr int kUserSource = 1;

// Compiles a compute shader for Vulkan 1.2. Throws an Error "NAME: line N of its GLSL: …" with line N of
// `user_text`.
std::vector<uint32_t> compile_glsl(const std::string& name, const std::string& whole,
                                   const std::string& user_text);

}  // namespace lunagrad::gpu
