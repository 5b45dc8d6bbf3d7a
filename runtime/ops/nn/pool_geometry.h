#pragma once
// The windows of a call of any pooling record, for the kernels of each device. Pure; any thread.
#include "runtime/core/op.h"
#include "runtime/ops/nn/cpu/pool.h"

namespace lunagrad {

// The windows along one axis. Adaptive ones divide the input evenly and may overlap by one element. Others
// start every `stride` elements from -padding on and have `kernel` elements, `dilation` apart.
struct PoolRule {
  bool adaptive = false;
  int64_t in = 1, out = 1;  // elements, windows
  int64_t kernel = 1, stride = 1, padding = 0, dilation = 1;
  bool with_padding = false;  // whether divisors count the padding, but not what ceil_mode adds
};
PoolWindow pool_window(const PoolRule&, int64_t i);

struct PoolRules {
  PoolRule rows, columns;
  int64_t divisor = 0;  // as in PoolGeometry
};
PoolRules pool_rules(const Call&);

// The windows of pool_rules(), all listed.
PoolGeometry pool_geometry(const Call&);

}  // namespace lunagrad
