#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> conv_ops() { return {}; }

}  // namespace lunagrad
