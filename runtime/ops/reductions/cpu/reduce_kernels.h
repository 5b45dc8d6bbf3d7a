#pragma once
// The innermost loops of reductions, selected at run time for this processor's best SIMD target. Pure
// functions, any thread; pointers are CPU memory.
#include <cstdint>

namespace lunagrad {

// sum_numbers skips NaN. The state of moments is {count, mean, sum of squared deviations}; the other states
// are one number.
enum class ReduceKind : uint8_t {
  sum,
  product,
  max,
  min,
  sum_abs,
  sum_numbers,
  sum_squares,
  sum_powers,
  moments
};

inline constexpr int kMaxReduceState = 3;
constexpr int reduce_state_size(ReduceKind reduction) {
  return reduction == ReduceKind::moments ? kMaxReduceState : 1;
}

// Each updates the state with the given elements; the planes of a state are
// `width` apart.
void reduce_row(ReduceKind, double p, const float* x, int64_t n, double* state);
void reduce_row(ReduceKind, double p, const double* x, int64_t n, double* state);
void reduce_row(ReduceKind, double p, const int64_t* x, int64_t n, int64_t* state);
void reduce_row(ReduceKind, double p, const uint8_t* x, int64_t n,
                uint8_t* state);  // bool: bytes 0 and 1; only max and min
// The index of the first element that equals `value`, where NaN equals NaN. There must be one.
int64_t find_element(const float* x, int64_t n, float value);
int64_t find_element(const double* x, int64_t n, double value);
int64_t find_element(const int64_t* x, int64_t n, int64_t value);
// Updates state[j] with x[i * row_stride + j] for each i < rows.
void reduce_columns(ReduceKind, double p, const float* x, int64_t row_stride, int64_t rows, int64_t width,
                    double* state);
void reduce_columns(ReduceKind, double p, const double* x, int64_t row_stride, int64_t rows, int64_t width,
                    double* state);
void reduce_columns(ReduceKind, double p, const int64_t* x, int64_t row_stride, int64_t rows, int64_t width,
                    int64_t* state);
void reduce_columns(ReduceKind, double p, const uint8_t* x, int64_t row_stride, int64_t rows, int64_t width,
                    uint8_t* state);
// Sets values[j] to row[j] and indices[j] to `index` where row[j] is larger (smaller), or is the first NaN.
void take_better_columns(bool largest, const float* row, int64_t width, int32_t index, float* values,
                         int32_t* indices);
void take_better_columns(bool largest, const double* row, int64_t width, int64_t index, double* values,
                         int64_t* indices);
void take_better_columns(bool largest, const int64_t* row, int64_t width, int64_t index, int64_t* values,
                         int64_t* indices);

}  // namespace lunagrad
