#pragma once
// Which ops have a kernel for rows (cpu/row_kernel.h), and calls that run by it. Called through Op::cpu; the
// thread pool shares the rows.
#include <memory>
#include <span>

#include "runtime/cpu/row_kernel.h"

namespace lunagrad {

// Runs a call whose first result has rows. Operands may have any strides; a result that is not wanted is
// empty.
void run_by_rows(const Call&);

// An op and what makes its kernels for rows of a type.
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
// Each family lists its own, in the file with its records.
std::span<const RowKernelMaker> softmax_row_kernels();
std::span<const RowKernelMaker> scan_row_kernels();
std::span<const RowKernelMaker> norm_row_kernels();
std::span<const RowKernelMaker> group_norm_row_kernels();
std::span<const RowKernelMaker> loss_row_kernels();
std::span<const RowKernelMaker> folded_loss_row_kernels();
std::span<const RowKernelMaker> class_loss_row_kernels();

// The elements of an operand that is no row. Null: it is absent.
template <class T>
const T* data_or_null(const Call& call, int input) {
  return call.has(input) ? call.input(input).data<T>() : nullptr;
}

}  // namespace lunagrad
