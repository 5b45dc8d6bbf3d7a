#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> optimizer_ops() { return {}; }

}  // namespace lunagrad
