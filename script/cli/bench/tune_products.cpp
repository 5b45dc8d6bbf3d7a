#include "script/cli/bench/tune_products.h"

#include "runtime/core/error.h"

namespace lunagrad {
namespace {

struct Layer {
  int64_t rows, in, out;
};
// The linear layers of the examples at their default sizes, and of `lunagrad bench --device`.
constexpr Layer kMlp[] = {{64, 64, 128},    {64, 784, 256},    {64, 256, 128},
                          {128, 784, 1024}, {128, 1024, 1024}, {128, 1024, 10}};
constexpr Layer kCnn[] = {{64, 32 * 7 * 7, 10}, {256, 64 * 7 * 7, 10}};
constexpr Layer kGpt[] = {{16 * 128, 128, 384}, {16 * 128, 128, 128},  {16 * 128, 128, 512},
                          {16 * 128, 512, 128}, {16 * 128, 128, 256},  {64 * 256, 384, 1152},
                          {64 * 256, 384, 384}, {64 * 256, 384, 1536}, {64 * 256, 1536, 384},
                          {64 * 256, 384, 65}};

// Adds the products of a linear layer in a training step: the output, the gradient of the input and the
// gradient of the weight.
void add_layer(std::vector<TunedProduct>& products, const Layer& layer, DType dtype) {
  const auto [rows, in, out] = layer;
  products.push_back({rows, out, in, 1, "NT", dtype});
  products.push_back({rows, in, out, 1, "NN", dtype});
  products.push_back({out, in, rows, 1, "TN", dtype});
}

void add_squares(std::vector<TunedProduct>& products, int64_t from, int64_t to, DType dtype,
                 MatmulPrecision precision) {
  for (int64_t n = from; n <= to; n *= 2)
    for (const char* layout : {"NN", "NT", "TN"}) products.push_back({n, n, n, 1, layout, dtype, precision});
}

}  // namespace

std::string TunedProduct::name() const {
  constexpr const char* kPrecisions[] = {"", " high", " medium"};
  return text(batch > 1 ? text(batch, " of ") : "", m, " x ", n, " x ", k, " ", layout, " ",
              dtype_name(dtype), kPrecisions[size_t(precision)]);
}

std::vector<TunedProduct> products_to_tune(bool small) {
  constexpr MatmulPrecision kHighest = MatmulPrecision::highest;
  std::vector<TunedProduct> products;
  for (const Layer& layer : kMlp)
    if (!small || layer.rows * layer.in * layer.out < 1 << 20) add_layer(products, layer, DType::f32);
  add_squares(products, 64, small ? 64 : 4096, DType::f32, kHighest);
  if (small) return products;
  for (const Layer& layer : kCnn) add_layer(products, layer, DType::f32);
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const Layer& layer : kGpt) add_layer(products, layer, dtype);
  for (const DType dtype : {DType::f16, DType::bf16}) add_squares(products, 256, 4096, dtype, kHighest);
  for (const MatmulPrecision precision : {MatmulPrecision::high, MatmulPrecision::medium})
    add_squares(products, 512, 4096, DType::f32, precision);
  for (const DType dtype : {DType::f32, DType::bf16}) {
    products.push_back({16, 4096, 4096, 1, "NT", dtype});
    products.push_back({4096, 16, 4096, 1, "NN", dtype});
    products.push_back({64, 64, 65536, 1, "TN", dtype});
    products.push_back({4096, 4096, 64, 1, "NT", dtype});
    products.push_back({128, 128, 128, 64, "NN", dtype});
    products.push_back({256, 256, 64, 384, "NT", dtype});
    products.push_back({256, 64, 256, 384, "NN", dtype});
  }
  return products;
}

}  // namespace lunagrad
