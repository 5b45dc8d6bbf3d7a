#pragma once
// A kernel of bf16 products in plain C++, which tests use beside the processor's own, and helpers for
// comparisons.
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "runtime/core/random.h"
#include "runtime/ops.h"
#include "runtime/ops/products/cpu/bf16_kernels.h"

namespace lunagrad::tests {

inline std::atomic<int> plain_calls{0};  // of the kernel below, on all threads

// The documented result of Bf16Kernel::multiply(), one pair of terms after the other.
inline void multiply_plainly(int64_t tiles, const uint32_t* a, const uint32_t* b, int64_t panel, bool add,
                             float* c, int64_t c_row) {
  const auto normal = [](float x) { return std::abs(x) < 0x1p-126f ? 0.0f : x; };
  const auto part = [&](uint32_t word, int half) {
    return normal(std::bit_cast<float>(half ? word & 0xffff0000u : word << 16));
  };
  ++plain_calls;
  for (int64_t i = 0; i < kKernelSide; ++i)
    for (int64_t j = 0; j < kKernelSide; ++j) {
      float sum = add ? c[i * c_row + j] : 0;
      const uint32_t* const row = a + i / kTileSide * panel + i % kTileSide * kTileSide;
      const uint32_t* const column = b + j / kTileSide * panel + j % kTileSide;
      for (int64_t t = 0; t < tiles; ++t)
        for (int64_t pair = 0; pair < kTileSide; ++pair)
          for (const int half : {1, 0})
            sum = normal(sum + part(row[t * kTileWords + pair], half) *
                                   part(column[t * kTileWords + pair * kTileSide], half));
      c[i * c_row + j] = sum;
    }
}
inline constexpr Bf16Kernel kPlain{"plain", [] {}, [] {}, multiply_plainly};

class UseKernel {
 public:
  explicit UseKernel(const Bf16Kernel* kernel) : before_(bf16_kernel()) { use_bf16_kernel(kernel); }
  ~UseKernel() { use_bf16_kernel(before_); }
  UseKernel(const UseKernel&) = delete;

 private:
  const Bf16Kernel* before_;
};

// The plain kernel and, if there is one, the processor's.
inline std::vector<const Bf16Kernel*> kernels() {
  std::vector<const Bf16Kernel*> found{&kPlain};
  if (bf16_kernel()) found.push_back(bf16_kernel());
  return found;
}

// Uniform in [-1, 1), rounded to bf16; f64.
inline Tensor draw(const Shape& shape, uint64_t stream) {
  std::vector<double> values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 2 * uniform_f32(philox(11, stream, i)[0]) - 1;
  return to(to(Tensor::from<double>(values, shape), DType::bf16), DType::f64);
}
inline Tensor narrow_of(const Tensor& x) { return to(x, DType::bf16); }

// bf16 results that are rounded once from f32 sums of `terms` products. `sizes` are the sums of their
// magnitudes.
inline bool is_rounded(const Tensor& result, const Tensor& exact, const Tensor& sizes, int64_t terms) {
  if (result.dtype() != DType::bf16 || !(result.shape() == exact.shape())) return false;
  const std::vector<double> got = result.to_vector<double>(), want = exact.to_vector<double>(),
                            size = sizes.to_vector<double>();
  for (size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - want[i]) <= 0x1p-8 * std::abs(want[i]) + double(terms + 1) * 0x1p-23 * size[i]))
      return false;
  return true;
}

}  // namespace lunagrad::tests
