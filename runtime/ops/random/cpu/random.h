#pragma once
// Random numbers on the CPU: Philox words (runtime/core/random.h) with SIMD, and distributions computed from
// them. Every function depends only on the bits of the words and uses correctly rounded operations, so that
// other devices compute the same numbers. Any thread; pointers are CPU memory.
#include <cstdint>

#include "runtime/core/random.h"

namespace lunagrad {

// Words 4 * first_block … 4 * (first_block + blocks) - 1 of the draw.
void philox_words(RandomDraw, uint64_t first_block, int64_t blocks, uint32_t* words);

// out[i] = uniform_f32(words[i]).
void uniform_from_words(const uint32_t* words, int64_t n, float* out);

// Standard normals: G. Box and M. Muller, "A note on the generation of random normal deviates" (1958). Words
// 2k and 2k + 1 give out[2k] = r cos t and out[2k + 1] = r sin t with r = sqrt(-2 log u), u = ((word >> 8) +
// 1) / 2^24 of the first word and t = 2 pi (word >> 8) / 2^24 of the second; the polynomials are in
// random_kernels.cpp. n must be even.
void normals_from_words(const uint32_t* words, int64_t n, float* out);

// out[i] = words[i] < threshold ? 0 : x[i] * scale.
void drop_by_words(const uint32_t* words, uint32_t threshold, const float* x, float scale, int64_t n,
                   float* out);
void drop_by_words(const uint32_t* words, uint32_t threshold, const double* x, double scale, int64_t n,
                   double* out);

}  // namespace lunagrad
