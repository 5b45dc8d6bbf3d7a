#pragma once
// Programs whose calls form groups with reductions of rows: programs that users write in elementary
// operations, and random ones. Each returns its values and gradients; equal seeds give equal programs.
#include <random>
#include <string>

#include "runtime/core/context.h"
#include "runtime/core/error.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {

// Normal numbers; `hostile`: one in 16 is NaN, infinite, a zero of either sign, denormal or very large.
inline Tensor row_numbers(const Shape& shape, DType type, bool hostile, Device& device) {
  Tensor x = randn(shape, DType::f32, cpu_device());
  if (hostile) {
    const Tensor kind = randint(0, 128, shape, DType::i64, cpu_device());
    const double values[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-40, -3e38, 3e38};
    for (size_t i = 0; i < std::size(values); ++i)
      x = where(eq(kind, Tensor::number(int64_t(i))), Tensor::number(values[i]), x);
  }
  return to(to(x, type), device);
}

// The results of a program: a value, and the gradients of the leaves from sum(value * slope). `twice`: also
// the gradients of the sum of the squares of the first leaf's gradient.
inline TensorList value_and_gradients(const Tensor& y, const Tensor& slope, const TensorList& leaves,
                                      bool twice) {
  const Tensor loss = sum(y.shape() == slope.shape() ? y * slope : y);
  TensorList results = {y.detach()};
  if (twice) {
    const Tensor g = grad({loss}, {leaves[0]}, {}, {{.create_graph = true}})[0];
    results.push_back(g.detach());
    backward(sum(to(g * g, DType::f32)));
  } else {
    backward(loss);
  }
  for (const Tensor& leaf : leaves)
    if (leaf.grad().defined()) results.push_back(leaf.grad());
  return results;
}

// Softmax, cross entropy, layer norm, RMSNorm with SwiGLU, a normalisation by length, softmax and log_softmax
// as operations between others, and a standardisation, with the gradients of their operands.
inline TensorList written_out(int which, const Shape& shape, DType type, bool hostile, Device& device) {
  const int64_t columns = shape.back();
  Tensor x = row_numbers(shape, type, hostile, device).requires_grad_();
  Tensor w = row_numbers({columns}, type, false, device).requires_grad_();
  Tensor b = row_numbers({columns}, type, false, device).requires_grad_();
  const Tensor slope = row_numbers(shape, type, false, device);
  Tensor y;
  switch (which) {
    case 0: {
      const Tensor e = exp(x - amax(x, {-1}, true));
      y = e / sum(e, {-1}, true);
      break;
    }
    case 1: {
      const Tensor shifted = x - amax(x, {-1}, true);
      const Tensor logs = shifted - log(sum(exp(shifted), {-1}, true));
      y = neg(sum(logs * softmax(slope, -1), {-1}));
      break;
    }
    case 2: {
      const Tensor apart = x - mean(x, {-1}, true);
      y = apart * rsqrt(mean(square(apart), {-1}, true) + 1e-5) * w + b;
      break;
    }
    case 3: {
      const Tensor normed = x * rsqrt(mean(x * x, {-1}, true) + 1e-6) * w;
      y = silu(normed) * (normed + b);
      break;
    }
    case 4:
      y = x / (norm(x, 2, {-1}, true) + 1e-12);
      break;
    case 5:
      y = softmax(x * 0.125 + b, -1) * w;
      break;
    case 6:
      y = exp(log_softmax(x + b, -1) * 0.5) + sum(x, {-1}, true);
      break;
    default:
      y = (x - mean(x, {-1}, true)) / stddev(x, {-1}, 0, true) * w + amin(x, {-1}, true);
  }
  return value_and_gradients(y, slope, {x, w, b}, false);
}
inline constexpr int kWrittenOut = 8;

// The library's norms, running sums, log-sum-exps, losses and their gradients between other
// operations, on a tensor of two dims or more.
inline TensorList built_in(int which, const Shape& shape, DType type, bool hostile, bool twice,
                           Device& device) {
  const int64_t columns = shape.back(), channels = shape[1];
  Tensor x = row_numbers(shape, type, hostile, device).requires_grad_();
  Tensor w = row_numbers({columns}, type, false, device).requires_grad_();
  Tensor b = row_numbers({columns}, type, false, device).requires_grad_();
  Tensor c = row_numbers({channels}, type, false, device).requires_grad_();
  const Tensor slope = row_numbers(shape, type, false, device);
  Tensor y;
  switch (which) {
    case 0:
      y = to(layer_norm(x + slope, {columns}, w, b), DType::bf16) * 2.0;
      break;
    case 1:
      y = silu(rms_norm(x * 0.5, {columns}, w)) + slope;
      break;
    case 2: {
      const Dims last = shape.size() > 2 ? Shape{shape[shape.size() - 2], columns} : Shape{columns};
      y = tanh(layer_norm(x - b, last)) * w;
      break;
    }
    case 3:
      y = relu(group_norm(x * 3.0, channels % 2 || channels == 2 ? 1 : 2, c, to(c, type) * 2.0)) + x;
      break;
    case 4:
      y = shape.size() > 2 && columns > 1 ? instance_norm(x + 1.0, {}, {}, c, {}) * slope
                                          : group_norm(x + 1.0, 1) * slope;
      break;
    case 5:
      y = exp((x + b) - logsumexp(x + b, {-1}, true));
      break;
    case 6:
      y = cumsum(x * w, -1, true) * 0.25 + cumsum(sigmoid(x), -1);
      break;
    case 7:
      y = normalize(x + b, 2, -1) * w;
      break;
    case 8:
      y = softmax(layer_norm(x * 2.0, {columns}, w) * 0.5, -1) + rms_norm(x, {columns}, b, 1e-3);
      break;
    case 9: {
      const Tensor labels =
          randint(-1, columns, {x.numel() / std::max<int64_t>(1, columns)}, DType::i64, device);
      const Tensor rows = reshape(x * 2.0 + b, {labels.numel(), columns});
      const Reduction reduction = twice ? Reduction::none : Reduction::mean;
      y = cross_entropy(rows, labels,
                        {.weight = w.detach(),
                         .ignore_index = -1,
                         .reduction = reduction,
                         .label_smoothing = hostile ? 0.1 : 0.0});
      break;
    }
    case 10: {
      const Tensor score = sigmoid(x * 2.0);
      y = mse_loss(score, slope * 0.25) * 0.5 + mse_loss(x + b, slope, Reduction::sum);
      for (int64_t term = 0; term < 4; ++term)  // huber, cross entropy, divergences
        y = y +
            apply1(*find_op("_reduced_loss"), {tanh(x + b), abs(slope * 0.25)}, {term, 0.5, term % 2 == 0});
      break;
    }
    default:  // no gradient for the input: sums over rows alone
      y = rms_norm(layer_norm(x.detach() * 2.0, {columns}, w, b), {columns}) * x;
  }
  return value_and_gradients(y, slope, {x, w, b, c}, twice);
}
inline constexpr int kBuiltIn = 12;

inline TensorList random_row_program(unsigned seed, Device& device) {
  std::mt19937 random(seed);
  const auto below = [&](size_t count) { return size_t(random() % count); };
  context().generator.seed(seed);
  const int64_t sizes[] = {1, 2, 7, 32, 33, 63, 64, 65, 256, 1000, 1024, 1025, 4097};
  const int64_t rows = int64_t(1 + below(20)), columns = sizes[below(std::size(sizes))];
  const DType types[] = {DType::f32, DType::f32, DType::f16, DType::bf16, DType::f64};
  const size_t kinds = device.is_cpu() ? 5 : 4;
  const Shape whole = below(3) ? Shape{rows, columns} : Shape{2, rows, columns};
  const auto numbers = [&](const Shape& shape) {
    Tensor x = row_numbers(shape, types[below(kinds)], below(3) == 0, device);
    return below(2) ? x.requires_grad_() : x;
  };
  const TensorList leaves = {numbers(whole), numbers(whole), numbers({columns}), numbers({rows, 1})};
  TensorList values = leaves;
  const Op* const of_one[] = {find_op("exp"),  find_op("neg"),     find_op("abs"),  find_op("tanh"),
                              find_op("sqrt"), find_op("sigmoid"), find_op("relu"), find_op("square")};
  const Op* const of_two[] = {find_op("add"), find_op("sub"), find_op("mul"), find_op("div"),
                              find_op("maximum")};
  for (size_t steps = 4 + below(16); steps > 0; --steps) {
    const Tensor &latest = values.back(), &other = values[below(values.size())];
    const Tensor x = below(3) ? latest : other;
    try {
      Tensor y;
      const bool keepdim = below(4) > 0;
      const Dims dims = x.ndim() == 3 && below(4) == 0 ? Dims{-2, -1} : Dims{-1};
      switch (below(15)) {
        case 0:
        case 1:
          y = apply1(*of_one[below(std::size(of_one))], {x});
          break;
        case 2:
          y = sum(x, dims, keepdim);
          break;
        case 3:
          y = mean(x, dims, keepdim);
          break;
        case 4:
          y = below(2) ? amax(x, dims, keepdim) : amin(x, dims, keepdim);
          break;
        case 5:
          y = below(2) ? var(x, dims, 1, keepdim) : norm(x, below(2) ? 2 : 1, dims, keepdim);
          if (x.ndim() > 0 && below(2)) y = below(2) ? softmax(x, -1) : log_softmax(x, -1);
          break;
        case 6:
          y = to(x, types[below(kinds)]);
          break;
        case 7:
          y = x * (0.5 + double(below(3)));
          break;
        case 8:
          if (x.ndim() > 0) y = below(2) ? cumsum(x, -1, below(2) == 0) : logsumexp(x, {-1}, keepdim);
          break;
        case 9: {
          if (x.ndim() == 0) break;
          const Tensor& weight = values[below(values.size())];
          const bool fits = weight.shape() == Shape{x.size(-1)} && weight.dtype() == x.dtype();
          y = below(2) ? layer_norm(x, {x.size(-1)}, fits ? weight : Tensor())
                       : rms_norm(x, {x.size(-1)}, fits ? weight : Tensor(), 1e-5);
          break;
        }
        case 10:
          y = below(2) && x.is_contiguous() ? reshape(x, {-1, x.ndim() ? x.size(-1) : 1}) : group_norm(x, 1);
          break;
        case 11:  // a column from a tensor that has lost a dim, or else a view of the first row
          y = x.ndim() + 1 == whole.size() ? unsqueeze(x, -1) : narrow(x, 0, 0, 1);
          break;
        default:
          y = apply1(*of_two[below(std::size(of_two))], {values[below(values.size())], latest});
      }
      if (y.defined() && y.numel() <= 1 << 19) values.push_back(y);
    } catch (const Error&) {  // shapes or types that do not fit
    }
  }
  Tensor loss;
  for (const Tensor& y : values)
    if (is_floating(y.dtype()) && y.requires_grad()) {
      const Tensor part = to(mean(y), DType::f32);
      loss = loss.defined() ? loss + part : part;
    }
  if (loss.defined() && !loss.is_leaf()) backward(loss);
  for (const Tensor& leaf : leaves)
    if (leaf.requires_grad() && leaf.grad().defined()) values.push_back(leaf.grad());
  return values;
}

}  // namespace lunagrad::tests
