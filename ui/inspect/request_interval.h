#pragma once
// How often the window asks a session for values that it shows.
#include <chrono>

namespace lunagrad {

inline constexpr auto kRequestInterval = std::chrono::milliseconds(250);  // while the script runs

}  // namespace lunagrad
