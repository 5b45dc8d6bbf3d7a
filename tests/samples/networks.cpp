#include "tests/samples/networks.h"

#include "runtime/ops.h"

namespace lunagrad::tests {
namespace {

Tensor data(const Shape& shape, double scale = 1) {
  const NoGrad off;
  return randn(shape) * scale;
}
Tensor parameter(const Shape& shape, double scale = 1) { return data(shape, scale).requires_grad_(); }
Tensor labels(int64_t classes, const Shape& shape) { return randint(0, classes, shape); }

Tensor perceptron() {
  Tensor x = linear(data({16, 12}), parameter({24, 12}, 0.3), parameter({24}, 0.1));
  x = gelu(layer_norm(x, {24}, parameter({24}), parameter({24})));
  x = dropout(x, 0.25);
  x = tanh(linear(x, parameter({20, 24}, 0.2), parameter({20}, 0.1)));
  return cross_entropy(linear(x, parameter({7, 20}, 0.4)), labels(7, {16}));
}

Tensor convolutions() {
  Tensor x = conv2d(data({4, 2, 12, 12}), parameter({6, 2, 3, 3}, 0.4), {}, {1}, {1});
  x = batch_norm(x, {}, {}, parameter({6}), parameter({6}), true);
  x = max_pool2d(relu(x), {2});
  x = group_norm(conv2d(x, parameter({8, 6, 3, 3}, 0.2)), 2, parameter({8}), parameter({8}));
  x = avg_pool2d(silu(x), {2});
  x = conv_transpose2d(x, parameter({8, 3, 2, 2}, 0.3), {}, {2});
  x = matmul(reshape(interpolate(x, {6, 6}, Interpolation::bilinear), {4, 108}), parameter({108, 5}, 0.1));
  return mean(square(log_softmax(x, -1)));
}

Tensor attention() {
  const Tensor table = parameter({11, 16}, 0.7);
  Tensor x = embedding(labels(11, {3, 9}), table);
  const Tensor q = matmul(x, parameter({16, 16}, 0.3)), k = matmul(x, parameter({16, 16}, 0.3));
  x = x + scaled_dot_product_attention(q, k, x, {.is_causal = true});
  x = rms_norm(x, {16}, parameter({16}));
  const Tensor weights = softmax(matmul(x, transpose(x, 1, 2)) * 0.25, -1);
  x = glu(matmul(matmul(weights, x), parameter({16, 20}, 0.3)));
  return mse_loss(sigmoid(x), data({3, 9, 10}));
}

Tensor recurrent() {
  const TensorList weights = {parameter({24, 6}, 0.3), parameter({24, 8}, 0.3), parameter({24}, 0.1),
                              parameter({24}, 0.1)};
  const Tensor states = gru(data({7, 4, 6}), {}, weights)[0];
  const TensorList cell = {parameter({40, 8}, 0.3), parameter({40, 10}, 0.3), parameter({40}, 0.1),
                           parameter({40}, 0.1)};
  return mean(square(lstm(states, {}, {}, cell)[0]));
}

Tensor order_and_sums() {
  const Tensor x = parameter({6, 10});
  const Tensor positive = exp(x * 0.5);
  const Tensor sorted = sort(x, 1).first, best = topk(positive, 3).first, top = max(x, 1).first;
  Tensor sums = sum(cumsum(positive, 1) / 10.0, {1}) + stddev(x, {1}) + logsumexp(x, {1}) + top;
  sums = sums + norm(sorted - 3.0, 2, {1}) + prod(best, {1}) + sum(pow(positive, Tensor::number(1.5)), {1});
  const Tensor picked = gather(log1p(positive), 1, labels(10, {6, 4}));
  const Tensor joined = cat({picked, sqrt(positive), where(gt(x, Tensor::number(0.0)), sin(x), erf(x))}, 1);
  return mean(sums) + mean(clamp(joined, -0.5, 1.2)) + amax(x);
}

}  // namespace

std::vector<Network> networks() {
  return {{"perceptron", perceptron},
          {"convolutions", convolutions},
          {"attention", attention},
          {"recurrent", recurrent},
          {"order and sums", order_and_sums}};
}

}  // namespace lunagrad::tests
