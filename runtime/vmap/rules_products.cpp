// Matrix products and convolutions. A weight that all samples share keeps the batch one large product;
// weights of their own make it a batched product, or a convolution with N times as many groups.
#include <algorithm>

#include "runtime/vmap/rules.h"

namespace lunagrad {
namespace {

// Reshapes [N, ...] so that it has as many batch dims after N as the other operand, and a vector becomes a
// matrix.
Tensor as_matrices(const Tensor& value, int ndim, int batch_dims, bool left) {
  Shape shape = value.shape();
  if (ndim == 1) shape.insert(left ? 1 : 2, 1);
  const int matrix = std::max(ndim, 2);
  for (int d = matrix - 2; d < batch_dims; ++d) shape.insert(1, 1);
  return reshape(value, shape);
}

bool multiplied(const BatchedCall& call, Operands& out) {
  const int a = call.ndim(0), b = call.ndim(1);
  if (a == 0 || b == 0) return false;
  const int batch_dims = std::max({a - 2, b - 2, 0});
  const auto side = [&](int i) {
    const int ndim = call.ndim(i);
    if (call.is(i)) return as_matrices(call.values[size_t(i)], ndim, batch_dims, i == 0);
    return ndim == 1 ? unsqueeze(call.values[size_t(i)], i == 0 ? 0 : 1) : call.values[size_t(i)];
  };
  Tensor product;
  if (b == 1 && call.is(1) && !call.is(0) && a == 2)  // one matrix for all vectors: N rows at once
    product = unsqueeze(call.run({call.values[1], transpose(call.values[0], 0, 1)})[0], 2);
  else if (a == 1 && call.is(0) && !call.is(1) && b == 2)
    product = unsqueeze(call.run({call.values[0], call.values[1]})[0], 1);
  else
    product = call.run({side(0), side(1)})[0];
  Shape shape = product.shape();
  if (b == 1) shape.erase(shape.size() - 1);
  if (a == 1) shape.erase(shape.size() - (b == 1 ? 1 : 2));
  out = {reshape(product, shape)};
  return true;
}

// Batches of matrices that broadcast: N becomes their first dim.
bool pairs_of_rows(const BatchedCall& call, Operands& out) {
  int most = 0;
  for (int i = 0; i < int(call.values.size()); ++i)
    if (call.has(i)) most = std::max(most, call.ndim(i));
  Operands in = call.values;
  for (int i = 0; i < int(in.size()); ++i) {
    if (!call.has(i)) continue;
    if (call.ndim(i) < 2) return false;  // pairs of one matrix
    if (!call.is(i)) continue;
    Shape shape = in[size_t(i)].shape();
    for (int d = call.ndim(i); d < most; ++d) shape.insert(1, 1);
    in[size_t(i)] = reshape(in[size_t(i)], shape);
  }
  out = call.run(std::move(in));
  return true;
}

// Only the input is batched; other calls are composed.
bool linear_layer(const BatchedCall& call, Operands& out) {
  if (call.batched != 1 || call.ndim(0) == 0) return false;
  out = call.run(call.values);
  return true;
}

// The dims before the channels and the spatial dims. In a sample x is [B, C, ...] or [C, ...].
Tensor merged_batches(const Tensor& value) {  // [N, B, ...] -> [N B, ...]
  Shape shape = value.shape();
  shape[1] *= shape[0];
  shape.erase(0);
  return reshape(value, shape);
}
Tensor unfolded(const Tensor& y, int64_t n) {  // the opposite
  Shape shape = y.shape();
  shape[0] = n == 0 ? 0 : shape[0] / n;
  shape.insert(0, n);
  return reshape(y, shape);
}

// [N, B, C, ...] -> [B, N C, ...]
Tensor side_by_side(const Tensor& value) {
  const Tensor moved = transpose(value, 0, 1);
  Shape shape = moved.shape();
  shape[2] *= shape[1];
  shape.erase(1);
  return reshape(moved, shape);
}
Tensor apart(const Tensor& y, int64_t n) {  // the opposite
  Shape shape = y.shape();
  const int64_t channels = shape[1] / n;
  shape[1] = channels;
  shape.insert(1, n);
  return transpose(reshape(y, shape), 0, 1);
}

template <int dims, int groups_at>
bool convolved(const BatchedCall& call, Operands& out) {
  if (call.size == 0) return false;
  const bool alone = call.ndim(0) == dims + 1;  // a sample is a single image
  if (call.batched == 1) {
    Operands in = call.values;
    if (!alone) in[0] = merged_batches(in[0]);
    const Tensor y = call.run(std::move(in))[0];
    out = {alone ? y : unfolded(y, call.size)};
    return true;
  }
  Tensor x = call.spread(0);
  if (alone) x = unsqueeze(x, 1);
  const Tensor weight = merged_batches(call.spread(1));
  Operands in{side_by_side(x), weight, Tensor()};
  if (call.has(2)) in[2] = reshape(call.spread(2), {call.size * call.shape(2)[0]});
  Values params = call.call.params;
  params[groups_at] = Value(params[groups_at].i * call.size);
  Tensor y = apart(call.run(std::move(in), std::move(params))[0], call.size);
  if (alone)
    y = reshape(y, [&] {
      Shape shape = y.shape();
      shape.erase(1);
      return shape;
    }());
  out = {y};
  return true;
}

// The gradient of the input, for a weight that all samples share. It is linear in grad and treats each image
// separately.
bool gradient_of_input(const BatchedCall& call, Operands& out) {
  if (call.batched != 1 || call.size == 0) return false;
  Values params = call.call.params;
  Dims& size = params[params.size() - 1].list;
  const bool alone = call.ndim(0) < call.ndim(1);
  if (alone) return false;
  size[0] *= call.size;
  out = {
      unfolded(call.run({merged_batches(call.values[0]), call.values[1]}, std::move(params))[0], call.size)};
  return true;
}

}  // namespace

std::span<const NamedRule> product_rules() {
  static constexpr NamedRule rules[] = {
      {"matmul", multiplied},
      {"linear", linear_layer},
      {"cdist", pairs_of_rows},
      {"_pair_column_sums", pairs_of_rows},
      {"_pair_row_sums", pairs_of_rows},
      {"_cdist_grad", pairs_of_rows},
      {"conv1d", convolved<1, 3>},
      {"conv2d", convolved<2, 3>},
      {"conv3d", convolved<3, 3>},
      {"conv_transpose1d", convolved<1, 3>},
      {"conv_transpose2d", convolved<2, 3>},
      {"_conv1d_grad_input", gradient_of_input},
      {"_conv2d_grad_input", gradient_of_input},
      {"_conv3d_grad_input", gradient_of_input},
  };
  return rules;
}

}  // namespace lunagrad
