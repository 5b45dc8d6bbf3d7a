#pragma once
// A row of rotary position embedding, with SIMD selected at run time: the first 2n features are n points of
// the plane, each rotated by its own angle. Feature i is paired with i + n or, interleaved, 2i with 2i + 1.
// out may be x. Any thread.
#include <cstdint>

namespace lunagrad {

void rope_row(bool interleaved, int64_t n, const float* x, const float* cos, const float* sin, float* out);
void rope_row(bool interleaved, int64_t n, const double* x, const double* cos, const double* sin,
              double* out);

}  // namespace lunagrad
