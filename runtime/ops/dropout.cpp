#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> dropout_ops() { return {}; }

}  // namespace lunagrad
