#include "runtime/ops/families.h"

namespace lunagrad {

std::span<const Op* const> index_ops() { return {}; }

}  // namespace lunagrad
