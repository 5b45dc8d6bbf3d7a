#pragma once
// The width of the forms for forks and probes.

namespace lunagrad {

inline constexpr float kFormWidth = 26;  // in em

}  // namespace lunagrad
