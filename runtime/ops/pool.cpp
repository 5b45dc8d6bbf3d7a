#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> pool_ops() { return {}; }

}  // namespace lunagrad
