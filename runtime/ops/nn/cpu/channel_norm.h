#pragma once
// The passes of batch_norm and group_norm over contiguous elements, with SIMD selected at run time. Without
// `across` the elements belong to one channel, and each parameter is one number. With `across` each element
// belongs to another channel, and each parameter is an array with a number per element. Pointers are CPU
// memory; any thread.
#include <cstdint>

namespace lunagrad {

template <class T>
double sum_stretch(int64_t n, const T* x);
// The sum of (x - mean)^2.
template <class T>
double squares_stretch(int64_t n, const T* x, T mean);
// out[0] += sum of g, out[1] += sum of g (x - mean)
template <class T>
void dot_stretch(int64_t n, const T* g, const T* x, T mean, double* out);

// These sums for each of n columns, over `rows` rows that are `step` elements apart; added to arrays of n.
template <class T>
void sum_columns(int64_t rows, int64_t n, int64_t step, const T* x, double* sum);
template <class T>
void squares_columns(int64_t rows, int64_t n, int64_t step, const T* x, const T* mean, double* sum);
template <class T>
void dot_columns(int64_t rows, int64_t n, int64_t step, const T* g, const T* x, const T* mean, double* sum_g,
                 double* sum_gx);

// y = (x - mean) scale + shift
template <class T>
void normalize_stretch(bool across, int64_t n, const T* x, const T* mean, const T* scale, const T* shift,
                       T* y);
// dx = a g + b (x - mean) + c
template <class T>
void normalize_grad_stretch(bool across, int64_t n, const T* g, const T* x, const T* mean, const T* a,
                            const T* b, const T* c, T* dx);

}  // namespace lunagrad
