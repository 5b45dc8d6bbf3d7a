#pragma once
// The shader of a group in rows (RowGroup): a few threads of a work group compute a row, stage after stage. A
// thread holds its elements of the results that a later stage reads; the threads of a row fold them exactly
// as reduce.glsl does. Pure; any thread.
#include <string>

#include "gpu/fused_text.h"

namespace lunagrad::gpu {

std::string fused_rows_glsl(const FusedShape&);

}  // namespace lunagrad::gpu
