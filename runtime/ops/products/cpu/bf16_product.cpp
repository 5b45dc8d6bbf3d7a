#include "runtime/ops/products/cpu/bf16_product.h"

#include <algorithm>
#include <vector>

#include "runtime/cpu/parallel.h"
#include "runtime/cpu/workspace.h"
#include "runtime/ops/elementwise/cpu/convert_kernels.h"
#include "runtime/ops/products/cpu/bf16_tiles.h"
#include "runtime/ops/products/cpu/matrix.h"

namespace lunagrad {
namespace {

// Operations that are worth another thread: 4 µs with AMX, 40 µs with AVX-512.
constexpr double kGrain = 4e6;
// The sides of the largest block of C: its sums and the parts of A and B that are added to them in one pass,
// 256 KiB each, fit the second-level cache.
constexpr int64_t kBlockSide = 256;

const uint16_t* bits(const Bf16Matrix& x) { return reinterpret_cast<const uint16_t*>(x.data); }

class Product {
 public:
  Product(const Bf16Products& p, const Bf16Kernel& kernel)
      : p_(p), kernel_(kernel), bias_(size_t(p.bias ? p.n : 0)) {
    for (size_t j = 0; j < bias_.size(); ++j) bias_[j] = float(p.bias[j]);
  }

  int64_t a_words() const { return packed_words(p_.m, p_.k); }
  int64_t b_words() const { return packed_words(p_.n, p_.k); }
  double work() const { return 2 * double(p_.m) * double(p_.n) * double(std::max<int64_t>(p_.k, 1)); }

  void pack_a(int64_t item, uint32_t* to) const {
    const int64_t offset = blas::offset_of(item, p_.batch, p_.a_strides);
    pack_operand({bits(p_.a) + offset, p_.m, p_.k, p_.a.row_stride, p_.a.column_stride}, false, to);
  }
  void pack_b(int64_t item, uint32_t* to) const {
    const int64_t offset = blas::offset_of(item, p_.batch, p_.b_strides);
    pack_operand({bits(p_.b) + offset, p_.n, p_.k, p_.b.column_stride, p_.b.row_stride}, true, to);
  }

  void multiply(int64_t item, const uint32_t* a, const uint32_t* b) const {
    int64_t rows = std::min(kBlockSide, padded(p_.m));
    int64_t columns = std::min(kBlockSide, padded(p_.n));
    const auto blocks = [&] { return ceil_div(p_.m, rows) * ceil_div(p_.n, columns); };
    // Two blocks for each thread, as long as a block is worth a thread.
    const int64_t wanted = thread_count() == 1 ? 1 : 2 * thread_count();
    while (blocks() < wanted && std::max(rows, columns) > kKernelSide && work() / double(blocks()) > kGrain) {
      int64_t& longer = rows > columns ? rows : columns;
      longer = padded(longer / 2);
    }
    const int64_t across = ceil_div(p_.n, columns);
    const int64_t grain = std::max<int64_t>(1, int64_t(kGrain / (work() / double(blocks()))));
    parallel_for(blocks(), grain, [&](int64_t begin, int64_t end) {
      const Workspace<float> sums(rows * columns);
      const KernelScope use(kernel_);
      for (int64_t i = begin; i < end; ++i)
        compute(item, a, b, i / across * rows, i % across * columns, rows, columns, sums.data());
    });
  }

 private:
  // One block of C, whose sums lie in [rows, columns].
  void compute(int64_t item, const uint32_t* a, const uint32_t* b, int64_t row, int64_t column, int64_t rows,
               int64_t columns, float* sums) const {
    const int64_t here = std::min(rows, p_.m - row), tile_columns = std::min(columns, p_.n - column);
    const int64_t words = tiles_of(p_.k) * kTileWords / kTileSide;  // words of a line
    multiply_packed(kernel_, here, tile_columns, p_.k, a + row * words, b + column * words, false, sums,
                    columns);
    static const ConvertRow round = convert_row(DType::bf16, DType::f32);
    BFloat16* out = p_.c + item * p_.m * p_.n + row * p_.n + column;
    for (int64_t i = 0; i < here; ++i, sums += columns, out += p_.n) {
      if (!bias_.empty())
        for (int64_t j = 0; j < tile_columns; ++j) sums[j] += bias_[size_t(column + j)];
      round(sums, out, tile_columns);
    }
  }

  const Bf16Products& p_;
  const Bf16Kernel& kernel_;
  std::vector<float> bias_;
};

bool is_reused(const Dims& strides) {
  return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; });
}

}  // namespace

void multiply(const Bf16Products& p, const Bf16Kernel& kernel) {
  const int64_t items = numel(p.batch);
  if (p.m == 0 || p.n == 0 || items == 0) return;
  const Product product(p, kernel);
  const bool one_a = is_reused(p.a_strides), one_b = is_reused(p.b_strides);
  const Workspace<uint32_t> shared_a(one_a ? product.a_words() : 0), shared_b(one_b ? product.b_words() : 0);
  if (one_a) product.pack_a(0, shared_a.data());
  if (one_b) product.pack_b(0, shared_b.data());
  const auto run = [&](int64_t begin, int64_t end) {
    const Workspace<uint32_t> own_a(one_a ? 0 : product.a_words()), own_b(one_b ? 0 : product.b_words());
    for (int64_t item = begin; item < end; ++item) {
      if (!one_a) product.pack_a(item, own_a.data());
      if (!one_b) product.pack_b(item, own_b.data());
      product.multiply(item, one_a ? shared_a.data() : own_a.data(), one_b ? shared_b.data() : own_b.data());
    }
  };
  // Large items are divided one after the other; else each thread computes whole items.
  if (product.work() > (items < thread_count() ? 2 : 256) * kGrain) return run(0, items);
  parallel_for(items, std::max<int64_t>(1, int64_t(kGrain / product.work())), run);
}

}  // namespace lunagrad
