#pragma once
// PyTorch's names of the element types, which dtype_from_name takes beside the engine's own.
#include <span>
#include <utility>

#include "runtime/dtype.h"

namespace lunagrad {

std::span<const std::pair<std::string_view, DType>> torch_dtypes();

}  // namespace lunagrad
