#pragma once
// Groups wait for their shaders while it lives, instead of running their members one by one until these are
// compiled.
#include "gpu/groups/fused.h"

namespace lunagrad::tests {

struct WaitForShaders {
  WaitForShaders() { lunagrad::gpu::wait_for_fused(true); }
  ~WaitForShaders() { lunagrad::gpu::wait_for_fused(false); }
  WaitForShaders(const WaitForShaders&) = delete;
};

}  // namespace lunagrad::tests
