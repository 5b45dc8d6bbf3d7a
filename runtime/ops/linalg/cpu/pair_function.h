#pragma once
// Pairs of rows and the function of their differences, for the records and the kernels of pairs.h. Pure
// values.
#include <cstdint>

namespace lunagrad {

// f(t) = |t|^power, or sign(t) |t|^power if `odd`. It is 0 at 0, except for |t|^0 = 1. An infinite power
// means 1 where |t| >= 1, else 0.
struct PairFunction {
  double power = 1;
  bool odd = false;
};

// The pairs i < j of n rows in the order of pdist: (0, 1), (0, 2), ... (1, 2), ...
constexpr int64_t pair_count(int64_t n) { return n * (n - 1) / 2; }
constexpr int64_t pair_index(int64_t i, int64_t j, int64_t n) { return i * (2 * n - i - 1) / 2 + j - i - 1; }

}  // namespace lunagrad
