#pragma once
// The windows of a call of any pooling record, for the kernels of each device. Pure; any thread.
#include "runtime/cpu/pool.h"
#include "runtime/op.h"

namespace lunagrad {

PoolGeometry pool_geometry(const Call&);

}  // namespace lunagrad
