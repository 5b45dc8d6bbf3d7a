#include "runtime/ops/by_rows.h"

#include <algorithm>
#include <array>
#include <vector>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"

namespace lunagrad {

std::unique_ptr<RowKernel> row_kernel(const Call& call) {
  static const std::vector<RowKernelMaker> all = [] {
    std::vector<RowKernelMaker> makers;
    for (const auto& family :
         {softmax_row_kernels(), scan_row_kernels(), norm_row_kernels(), group_norm_row_kernels(),
          loss_row_kernels(), reduced_loss_row_kernels(), class_loss_row_kernels()})
      makers.insert(makers.end(), family.begin(), family.end());
    return makers;
  }();
  const auto maker =
      std::find_if(all.begin(), all.end(), [&](const RowKernelMaker& m) { return m.op == call.op; });
  return (call.output().dtype() == DType::f64 ? maker->f64 : maker->f32)(call);
}

void run_by_rows(const Call& call) {
  constexpr int64_t kGrain = 8192, kRowsToStop = 1024;
  constexpr size_t kMostOperands = 4;
  Call dense = call;
  for (Tensor& x : dense.in)
    if (x.defined()) x = in_order(x);
  const std::unique_ptr<RowKernel> kernel = row_kernel(dense);
  const Tensor& y = dense.output();
  const int64_t rows = kernel->rows(), block = kernel->block();
  const int64_t bytes = kernel->columns() * int64_t(item_size(y.dtype()));  // of a row
  std::array<const char*, kMostOperands> in{};
  const uint32_t whole = operands_with_rows(*call.op);
  for (size_t k = 0; k < dense.in.size(); ++k)
    if (whole >> k & 1) in[k] = static_cast<const char*>(dense.in[k].raw());
  char* const out = y.numel() ? static_cast<char*>(y.raw()) : nullptr;

  parallel_for((rows + block - 1) / block, iterations_in(kGrain, block * kernel->columns()),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin * block; row < std::min(rows, end * block); ++row) {
                   if (row % kRowsToStop == kRowsToStop - 1) context().check_stop();
                   std::array<const void*, kMostOperands> at{};
                   for (size_t k = 0; k < at.size(); ++k) at[k] = in[k] ? in[k] + row * bytes : nullptr;
                   kernel->run(row, at.data(), out ? out + row * bytes : nullptr);
                 }
               });
  kernel->finish();
}

}  // namespace lunagrad
