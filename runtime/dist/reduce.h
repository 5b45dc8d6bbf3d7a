#pragma once
// Sums of what several ranks sent, in an order that depends on their number alone: halves of the ranks are
// added first, where the first half is the largest power of two below their number. So the bits are the same
// on every repeat, and sums over aligned blocks of ranks are the sums that fewer ranks with more parts each
// would get. Pure functions.
#include <string_view>

#include "runtime/dtype.h"

namespace lunagrad::dist {

enum class Reduction : uint8_t { sum, mean, product, min, max };
const char* reduction_name(Reduction);
// Error "op: …" for an unknown name, and when the type has no such reduction.
Reduction reduction_of(const char* op, std::string_view name);
void check_reduction(const char* op, Reduction, DType);

// The first of the two parts that n > 1 parts are divided into.
int first_part(int n);

// out[i] = the reduction of parts[k][i] over k. 16-bit floats are added in f32 and rounded once. `out` may be
// one of the parts.
void reduce(Reduction, DType, const void* const* parts, int n, int64_t count, void* out);

}  // namespace lunagrad::dist
