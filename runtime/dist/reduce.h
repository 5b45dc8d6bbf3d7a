#pragma once
// Reductions over the parts of several ranks, in an order that depends on the number of ranks alone. The
// ranks are halved, and each half is added first; the first half is the largest power of two below the
// number. So the bits are the same on every repeat, and sums over aligned blocks of ranks are the sums that
// fewer ranks with more parts each would get. Pure functions.
#include <string_view>

#include "runtime/core/dtype.h"

namespace lunagrad::dist {

enum class Reduction : uint8_t { sum, mean, product, min, max };
const char* reduction_name(Reduction);
// Errors "op: …": reduction_of() for an unknown name, check_reduction() when the dtype has no such reduction.
Reduction reduction_of(const char* op, std::string_view name);
void check_reduction(const char* op, Reduction, DType);

// The number of parts in the first half of n > 1 parts.
int first_part(int n);

// out[i] = the reduction of parts[k][i] over k. 16-bit floats are added in f32 and rounded once. `out` may be
// one of the parts.
void reduce(Reduction, DType, const void* const* parts, int n, int64_t count, void* out);

}  // namespace lunagrad::dist
