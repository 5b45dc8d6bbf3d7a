// The SIMD targets of this processor. Tests exclude some targets (hwy::DisableTargets).
#pragma once

#include <hwy/targets.h>

#include <cstdint>

namespace lunagrad {

// hwy::SupportedTargets() chooses the best target on its way, an excluded one, too: choose again.
inline int64_t supported_simd_targets() {
  const int64_t targets = hwy::SupportedTargets();
  hwy::GetChosenTarget().Update(targets);
  return targets;
}

}  // namespace lunagrad
