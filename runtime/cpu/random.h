#pragma once
// Random numbers on the CPU: the words of random.h's Philox by SIMD, and what is made of them. Every function
// is one of the word's bits and a few correctly rounded operations, written so that another device can repeat
// it. Any thread; pointers are CPU memory.
#include <cstdint>

#include "runtime/random.h"

namespace lunagrad {

// Words 4 * first_block … 4 * (first_block + blocks) - 1 of the draw.
void philox_words(RandomDraw, uint64_t first_block, int64_t blocks, uint32_t* words);

// out[i] = uniform_f32(words[i]).
void uniform_from_words(const uint32_t* words, int64_t n, float* out);

// Standard normals by Box and Muller, "A note on the generation of random normal deviates" (1958). Words 2k
// and 2k + 1 make out[2k] = r cos t and out[2k + 1] = r sin t with r = sqrt(-2 log u), u = ((word >> 8) + 1)
// / 2^24 and t = 2 pi (word >> 8) / 2^24; the polynomials are in random_kernels.cpp. n is even.
void normals_from_words(const uint32_t* words, int64_t n, float* out);

// out[i] = words[i] < threshold ? 0 : x[i] * scale.
void drop_by_words(const uint32_t* words, uint32_t threshold, const float* x, float scale, int64_t n,
                   float* out);
void drop_by_words(const uint32_t* words, uint32_t threshold, const double* x, double scale, int64_t n,
                   double* out);

}  // namespace lunagrad
