#pragma once
// The element types by name: the engine's own names, and PyTorch's.
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "runtime/dtype.h"

namespace lunagrad {

// PyTorch's names, some of which name one type.
std::span<const std::pair<std::string_view, DType>> torch_dtypes();
// The type of either name; nullopt where there is none.
std::optional<DType> dtype_from_name(std::string_view);

}  // namespace lunagrad
