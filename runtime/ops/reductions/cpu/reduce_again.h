#pragma once
// Computes a reduction again whose plain state left the range of f64, or came near its ends: the elements are
// scaled before they are raised to a power or added. Pure; any thread.
#include <cstdint>
#include <functional>

#include "runtime/cpu/range.h"

namespace lunagrad {

// Calls its argument with the elements of a result, piece by piece, each time in the same order.
using ElementPieces = std::function<void(const std::function<void(const double* x, int64_t n)>&)>;

// Whether a sum of powers, or of squared deviations, is far from the ends of the range.
inline bool power_in_range(double sum) { return SquareRange<double>::holds(sum); }

// The sum / divisor.
double sum_again(const ElementPieces&, double divisor);
// (sum |x|^p)^(1/p) for finite p other than 0.
double norm_again(const ElementPieces&, double p);
// The sum of squared deviations / degrees, or with `root` its square root.
double variance_again(const ElementPieces&, double degrees, bool root);

}  // namespace lunagrad
