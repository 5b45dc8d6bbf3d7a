#pragma once
// The element types by name: the engine's own names, and PyTorch's.
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/core/dtype.h"

namespace lunagrad {

// PyTorch's names. Some dtypes have more than one.
std::span<const std::pair<std::string_view, DType>> torch_dtypes();
// The dtype of an engine's or PyTorch's name; nullopt when neither knows the name.
std::optional<DType> dtype_from_name(std::string_view);

}  // namespace lunagrad
