#pragma once
// f16 to f32 and back for contiguous elements, with the processor's own conversion where it has one. Round to
// nearest even. Pure functions, any thread.
#include <cstdint>

#include "runtime/dtype.h"

namespace lunagrad {

void widen_halves(const Half* in, float* out, int64_t count);
void narrow_to_halves(const float* in, Half* out, int64_t count);

}  // namespace lunagrad
