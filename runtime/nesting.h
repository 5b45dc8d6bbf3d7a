#pragma once
namespace lunagrad {

// Lists, tables and calls within each other, in every value and format that nests.
inline constexpr int kDeepestNesting = 100;

}  // namespace lunagrad
