#pragma once
// The ops that have a row kernel (cpu/row_kernel.h), and the function that runs it. Called through Op::cpu;
// the rows are divided among the thread pool.
#include <memory>
#include <span>

#include "runtime/cpu/row_kernel.h"

namespace lunagrad {

// Runs a call whose first result consists of rows. Operands may have any strides. A result that is not wanted
// is empty.
void run_by_rows(const Call&);

// An op, and the functions that make its row kernels for f32 and for f64.
struct RowKernelMaker {
  const Op* op;
  std::unique_ptr<RowKernel> (*f32)(const Call&);
  std::unique_ptr<RowKernel> (*f64)(const Call&);
};
template <template <class> class Kernel>
RowKernelMaker row_kernel_maker(const Op& op) {
  return {
      &op,
      [](const Call& call) -> std::unique_ptr<RowKernel> { return std::make_unique<Kernel<float>>(call); },
      [](const Call& call) -> std::unique_ptr<RowKernel> { return std::make_unique<Kernel<double>>(call); }};
}
// Each family lists its row kernels in the file with its records.
std::span<const RowKernelMaker> softmax_row_kernels();
std::span<const RowKernelMaker> scan_row_kernels();
std::span<const RowKernelMaker> norm_row_kernels();
std::span<const RowKernelMaker> group_norm_row_kernels();
std::span<const RowKernelMaker> loss_row_kernels();
std::span<const RowKernelMaker> reduced_loss_row_kernels();
std::span<const RowKernelMaker> class_loss_row_kernels();

// The elements of an operand that is not read row by row, or null if it is absent.
template <class T>
const T* data_or_null(const Call& call, int input) {
  return call.has(input) ? call.input(input).data<T>() : nullptr;
}

}  // namespace lunagrad
