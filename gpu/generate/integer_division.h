#pragma once
// Which rows of elementwise.def divide integers. Their kernels note a division by 0 as a fault (faults.h).
// Used by the build's shader writer and by the kernels. Pure; any thread.
#include "runtime/elementwise/elementwise.h"

namespace lunagrad::gpu {

constexpr bool divides_integers(Row row) {
  return row == Row::floor_divide || row == Row::remainder || row == Row::fmod;
}

}  // namespace lunagrad::gpu
