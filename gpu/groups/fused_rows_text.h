#pragma once
// The shader of a group in rows (RowGroup): a few invocations of a workgroup compute a row, stage after
// stage. An invocation holds its elements of the results that a later stage reads; the invocations of a row
// reduce them exactly as reduce.glsl does. Pure; any thread.
#include <string>

#include "gpu/groups/fused_shape.h"

namespace lunagrad::gpu {

std::string fused_rows_glsl(const FusedShape&);

}  // namespace lunagrad::gpu
