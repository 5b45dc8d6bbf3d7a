#pragma once
// Reductions on the CPU: the mapping of elements to results (ReducePlan), SIMD reductions of a row and of
// many columns, and the driver that shares the work among the thread pool. The division of the work depends
// only on the shape, so results do not depend on the number of threads. Floats accumulate in f64, integers in
// i64, complex numbers in c128. Any thread; pointers are CPU memory.
#include <complex>
#include <cstdint>
#include <functional>

#include "runtime/core/row_reduction.h"
#include "runtime/core/tensor.h"
#include "runtime/ops/reductions/cpu/reduce_kernels.h"

namespace lunagrad {

// The elements of a tensor as results x elements of each result, with adjacent dims merged where strides
// allow. Kept dims are in the order of the result, reduced dims in the order of the tensor. Dims of size 1
// are omitted.
struct ReducePlan {
  Dims kept_sizes, kept_strides;
  Dims reduced_sizes, reduced_strides;
  int64_t outputs = 1;
  int64_t count = 1;  // elements of each result

  // any_order: the elements of a result may be reduced in the order of memory.
  ReducePlan(const Shape&, const Strides&, uint32_t mask, bool any_order);
};

// Receives results first … first + n - 1: result i has states[k * n + i] for each k below reduce_state_size.
template <class A>
using ReduceStore = std::function<void(int64_t first, int64_t n, const A* states)>;

// Reduces x over the dims of the mask. p is the exponent of sum_powers. reduce_floats does not take f16 and
// bf16. Each result is stored once, in any order, from any thread.
void reduce_floats(ReduceKind, double p, const Tensor& x, uint32_t mask, const ReduceStore<double>&);
void reduce_integers(ReduceKind, const Tensor& x, uint32_t mask, const ReduceStore<int64_t>&);
void reduce_complex(ReduceKind, const Tensor& x, uint32_t mask,
                    const ReduceStore<std::complex<double>>&);  // only sum and product
// Calls f with the elements of result `output`, as f64, piece by piece.
void for_elements_of(const Tensor& x, const ReducePlan&, int64_t output,
                     const std::function<void(const double* x, int64_t n)>& f);
// Whether all elements (any element) of a result are not zero: the stored state is then not zero.
void reduce_truth(bool all, const Tensor& x, uint32_t mask, const ReduceStore<uint8_t>&);

// The first largest (smallest) element of each result and its index within the result; NaN is larger
// (smaller) than everything. values has x's dtype and may be null.
void find_extremes(bool largest, const Tensor& x, uint32_t mask, void* values, int64_t* indices);

// Reduces rows of floats, a few at a time, with the same results as reduce_floats over the last dim of a
// contiguous tensor [all, columns] of this type.
class RowReducer {
 public:
  RowReducer(ReduceKind, DType, int64_t all, int64_t columns);
  // `x` points to `rows` consecutive rows that are not divided.
  void reduce(const void* x, int64_t rows, const ReduceStore<double>&) const;
  // For a divided row: reduce_part() computes the state of a part, combine() joins two states.
  void reduce_part(const void* x, int64_t count, double* state) const;
  void combine(double* state, const double* later) const;

 private:
  ReduceKind reduction_;
  DType type_;
  ReducePlan plan_;
};

}  // namespace lunagrad
