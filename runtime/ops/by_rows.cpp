#include "runtime/ops/by_rows.h"

#include <algorithm>
#include <array>

#include "runtime/core/row_reduction.h"
#include "runtime/cpu/parallel.h"
#include "runtime/ops/dense.h"

namespace lunagrad {

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
