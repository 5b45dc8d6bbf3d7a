#pragma once
// Softmax and related functions of one row of n elements, with SIMD selected at run time. The row becomes NaN
// if it has a NaN or +infinity, or only -infinity. Any thread; out may be the input.
#include <cstdint>

namespace lunagrad {

// out = exp(x - lse x) with lse x = log sum exp x
void softmax_row(const float* x, int64_t n, float* out);
void softmax_row(const double* x, int64_t n, double* out);
// out = x - lse x
void log_softmax_row(const float* x, int64_t n, float* out);
void log_softmax_row(const double* x, int64_t n, double* out);
// lse x
double logsumexp_row(const float* x, int64_t n);
double logsumexp_row(const double* x, int64_t n);
// out = y (g - sum(g y))
void softmax_grad_row(const float* g, const float* y, int64_t n, float* out);
void softmax_grad_row(const double* g, const double* y, int64_t n, double* out);
// out = g - exp(y) sum(g)
void log_softmax_grad_row(const float* g, const float* y, int64_t n, float* out);
void log_softmax_grad_row(const double* g, const double* y, int64_t n, double* out);
// out = scale exp(x - lse)
void scaled_exp_row(const float* x, double lse, double scale, int64_t n, float* out);
void scaled_exp_row(const double* x, double lse, double scale, int64_t n, double* out);

// Softmax along the columns of n rows, `stride` elements apart, for the first `columns` columns (at most
// kSoftmaxColumns).
inline constexpr int64_t kSoftmaxColumns = 512;
void softmax_columns(const float* x, int64_t n, int64_t stride, int64_t columns, float* out);
void softmax_columns(const double* x, int64_t n, int64_t stride, int64_t columns, double* out);
void log_softmax_columns(const float* x, int64_t n, int64_t stride, int64_t columns, float* out);
void log_softmax_columns(const double* x, int64_t n, int64_t stride, int64_t columns, double* out);
void softmax_grad_columns(const float* g, const float* y, int64_t n, int64_t stride, int64_t columns,
                          float* out);
void softmax_grad_columns(const double* g, const double* y, int64_t n, int64_t stride, int64_t columns,
                          double* out);
void log_softmax_grad_columns(const float* g, const float* y, int64_t n, int64_t stride, int64_t columns,
                              float* out);
void log_softmax_grad_columns(const double* g, const double* y, int64_t n, int64_t stride, int64_t columns,
                              double* out);

}  // namespace lunagrad
