#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> reduce_ops() { return {}; }

}  // namespace lunagrad
