#pragma once
namespace lunagrad {

// The deepest nesting of lists, tables and calls, in every value and format that nests.
inline constexpr int kDeepestNesting = 100;

}  // namespace lunagrad
