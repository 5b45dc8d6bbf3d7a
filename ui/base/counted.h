#pragma once
// A number with its noun in singular or plural.
#include <cstdint>
#include <string>

#include "runtime/core/figures.h"

namespace lunagrad {

// "1 step", "12,345 steps"
inline std::string counted(int64_t count, const char* one) {
  return count_figure(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace lunagrad
