#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> elementwise_ops() { return {}; }

}  // namespace lunagrad
