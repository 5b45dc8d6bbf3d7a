#pragma once
// Writes the GLSL source of a group of calls. Pure; any thread.
#include <string>

#include "gpu/groups/fused_shape.h"

namespace lunagrad::gpu {

// Equal for groups with the same shader.
std::string signature(const FusedShape&);
std::string fused_glsl(const FusedShape&);

}  // namespace lunagrad::gpu
