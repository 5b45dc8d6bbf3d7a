#pragma once
// `lunagrad test`.
#include <string_view>

namespace lunagrad {

// Whether a file of this name holds tests, as test_model.lua and model_test.lua do.
inline bool is_test_file(std::string_view name) {
  return name.ends_with("_test.lua") || (name.starts_with("test_") && name.ends_with(".lua"));
}

}  // namespace lunagrad
