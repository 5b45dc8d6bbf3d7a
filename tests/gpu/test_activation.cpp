// The activation within linear and convolutions on the Vulkan device.
#include <limits>
#include <regex>

#include "gpu/device/device.h"
#include "runtime/core/work_times.h"
#include "tests/gpu/compare.h"
#include "tests/support/activations.h"
#include "tests/support/same_bits.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

// Shapes of x and of the weight. The last ones use split-K.
struct Layer {
  Shape x, weight;
};
const Layer kLayers[] = {{{3, 7, 40}, {33, 40}},     {{40}, {5, 40}},        {{65, 33}, {129, 33}},
                         {{130, 17}, {131, 17}},     {{256, 64}, {200, 64}}, {{3, 0}, {4, 0}},
                         {{8, 4096}, {12, 4096}},    {{7, 5000}, {9, 5000}}, {{1, 6000}, {1, 6000}},
                         {{2, 33, 3000}, {30, 3000}}};

// Values and, with a seed, gradients of x, weight and bias: with the activation inside the op or after it.
TensorList run_linear(const Layer& layer, DType type, Activation activation, bool within,
                      Arrangement arrangement) {
  Tensor x = random(layer.x, 1);
  if (x.numel() > 9) {
    x.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    x.data<float>()[x.numel() - 1] = INFINITY;
  }
  TensorList leaves = {to(arrange(x, arrangement), type),
                       to(arrange(random(layer.weight, 2), arrangement), type),
                       to(to(random({layer.weight[0]}, 3), gpu()), type)};
  for (Tensor& leaf : leaves) leaf.requires_grad_();
  const Tensor y = within ? linear(leaves[0], leaves[1], leaves[2], activation)
                          : apart(linear(leaves[0], leaves[1], leaves[2]), activation);
  TensorList all = grad({y}, leaves, {to(to(random(y.shape(), 4), gpu()), type)});
  all.push_back(y);
  return all;
}

TEST_CASE("linear with an activation equals linear followed by the activation, bit for bit") {
  Fallbacks lacks;
  size_t row = 0;
  Turns turns(3);
  for (const Layer& layer : kLayers)
    for (const Activation activation : activations_of(row++))
      for (const Arrangement arrangement : {Arrangement::contiguous, Arrangement::transposed}) {
        if (!turns.next()) continue;
        const TensorList got = run_linear(layer, DType::f32, activation, true, arrangement),
                         expected = run_linear(layer, DType::f32, activation, false, arrangement);
        for (size_t i = 0; i < got.size(); ++i)
          CHECK_MESSAGE(same_bits(got[i], expected[i]), "result " << i << " of "
                                                                  << text(layer.x, " by ", layer.weight)
                                                                  << ", activation " << int(activation));
      }
  CHECK(lacks.ops.empty());
}

TEST_CASE("convolution with an activation equals convolution followed by the activation, bit for bit") {
  Fallbacks lacks;
  size_t row = 0;
  Turns turns(3);
  for (const Convolution& c : convolutions())
    for (const Activation activation : activations_of(row++)) {
      if (!turns.next()) continue;
      const auto results = [&](bool within) {
        TensorList leaves = {to(random(c.image, 1), gpu()), to(random(c.weight, 2), gpu())};
        if (c.bias) leaves.push_back(to(random({c.weight[0]}, 3), gpu()));
        for (Tensor& leaf : leaves) leaf.requires_grad_();
        const Tensor bias = c.bias ? leaves[2] : Tensor();
        const Tensor y = within
                             ? convolve(c, leaves[0], leaves[1], bias, activation)
                             : apart(convolve(c, leaves[0], leaves[1], bias, Activation::none), activation);
        TensorList all = grad({y}, leaves, {to(random(y.shape(), 4), gpu())});
        all.push_back(y);
        return all;
      };
      const TensorList got = results(true), expected = results(false);
      for (size_t i = 0; i < got.size(); ++i)
        CHECK_MESSAGE(same_bits(got[i], expected[i]), "result " << i << " of "
                                                                << text(c.image, " by ", c.weight)
                                                                << ", activation " << int(activation));
      const TensorList there = {to(random(c.image, 1), DType::f64), to(random(c.weight, 2), DType::f64)};
      const Tensor bias = c.bias ? to(random({c.weight[0]}, 3), DType::f64) : Tensor();
      CHECK(distance(got.back(), convolve(c, there[0], there[1], bias, activation)) < 4e-6);
    }
  CHECK(lacks.ops.empty());
}

TEST_CASE("16-bit linear with relu is exact, and with other activations rounded once") {
  Turns turns(3);
  for (const DType type : {DType::f16, DType::bf16})
    for (const Layer& layer : kLayers) {
      if (!turns.next()) continue;
      const TensorList got = run_linear(layer, type, Activation::relu, true, Arrangement::contiguous),
                       expected = run_linear(layer, type, Activation::relu, false, Arrangement::contiguous);
      for (size_t i = 0; i < got.size(); ++i)
        CHECK_MESSAGE(same_bits(got[i], expected[i]),
                      "result " << i << " of " << text(layer.x, " by ", layer.weight, " as ", type));
      const Tensor x = to(random(layer.x, 1, -0.1, 0.1), type),
                   w = to(random(layer.weight, 2, -0.1, 0.1), type),
                   bias = to(random({layer.weight[0]}, 3), type);
      for (const Activation activation : {Activation::tanh, Activation::sigmoid}) {
        const Tensor exact =
            apart(linear(to(x, DType::f64), to(w, DType::f64), to(bias, DType::f64)), activation);
        const Tensor y = linear(to(x, gpu()), to(w, gpu()), to(bias, gpu()), activation);
        CHECK(y.dtype() == type);
        // Half a unit in the last place of numbers below 1, and the error of the sum.
        CHECK(largest(abs(to(to(y, cpu_device()), DType::f64) - exact)) <=
              (type == DType::f16 ? 0x1p-12 : 0x1p-9) + 1e-6);
      }
    }
}

TEST_CASE("bias and activation run in the kernel of the product, whose name lists them") {
  const NoGrad off;
  auto& times = dynamic_cast<WorkTimes&>(gpu());
  const auto dispatched = [&](const Shape& x, const Shape& weight) {
    const Tensor a = to(random(x, 1), gpu()), w = to(random(weight, 2), gpu()),
                 b = to(random({weight[0]}, 3), gpu());
    std::map<std::string, int64_t> count;
    for (const KernelUse& kernel : times.kernels()) count[kernel.name] -= int64_t(kernel.dispatches);
    if (weight.size() == 2)
      linear(a, w, b, Activation::relu);
    else
      conv2d(a, w, b, {1}, {0}, {1}, 1, Activation::relu);
    for (const KernelUse& kernel : times.kernels()) count[kernel.name] += int64_t(kernel.dispatches);
    std::string said;
    for (const auto& [name, times_run] : count)
      if (times_run) said += text(times_run, " of ", name, "; ");
    return std::regex_replace(said, std::regex(" [0-9]+x[0-9]+x[0-9]+"),
                              "");  // the tile that the model chose does not matter
  };
  CHECK(dispatched({64, 64}, {64, 64}) == "1 of matmul f32, bias, relu; ");
  CHECK(dispatched({8, 4096}, {12, 4096}) == "1 of matmul f32, ragged; 1 of matmul_parts f32, bias, relu; ");
  CHECK(dispatched({1, 3, 8, 8}, {4, 3, 3, 3}) == "1 of conv, bias, relu; ");
}

}  // namespace
}  // namespace lunagrad::tests
