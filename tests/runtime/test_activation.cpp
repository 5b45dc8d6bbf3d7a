// Fused activations of linear and convolutions: bit-equal to the separate ops, and only the result is saved.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "runtime/core/random.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/support/activations.h"
#include "tests/support/same_bits.h"

namespace lunagrad {
namespace {

using tests::apart;
using tests::convolve;
using tests::kActivations;

// Values in [-2, 2); with odd_numbers also NaN, Inf, zeros and a tiny number.
Tensor operand(const Shape& shape, DType type, uint64_t stream, bool odd_numbers = false) {
  std::vector<double> values(size_t(numel(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 4 * uniform_f32(philox(7, stream, i)[0]) - 2;
  const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0, 1e-30};
  for (size_t i = 0; odd_numbers && i < std::size(odd) && 3 * i < values.size(); ++i) values[3 * i] = odd[i];
  return to(Tensor::from<double>(values, shape), type);
}

struct Layer {
  Shape x, weight;
  bool bias;
};
const Layer kLayers[] = {
    {{3, 4}, {2, 4}, true},        {{4}, {3, 4}, true},           {{2, 5, 7}, {9, 7}, false},
    {{1, 33}, {70, 33}, true},     {{33, 17}, {1, 17}, true},     {{5, 0}, {3, 0}, true},
    {{43, 160}, {170, 160}, true}, {{900, 70}, {1100, 70}, true}, {{64, 300}, {600, 300}, false}};

// The result of `f` on three leaves, fused or with separate ops, and the gradients of the leaves.
template <class F>
TensorList run(F&& f, TensorList leaves, bool create_graph) {
  for (Tensor& leaf : leaves)
    if (leaf.defined()) leaf.requires_grad_();
  const Tensor y = f(leaves[0], leaves[1], leaves[2]);
  if (!leaves[2].defined()) leaves.pop_back();
  TensorList all = grad({y}, leaves, {operand(y.shape(), y.dtype(), 4)}, {{.create_graph = create_graph}});
  all.push_back(y);
  return all;
}

void check_same(const TensorList& got, const TensorList& expected, const std::string& what) {
  REQUIRE(got.size() == expected.size());
  for (size_t i = 0; i < got.size(); ++i)
    CHECK_MESSAGE(tests::same_bits(got[i], expected[i]), "result " << i << " of " << what);
}

TEST_CASE("linear with a fused activation is bit-equal to the separate ops, with its gradients") {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64})
    for (const Layer& layer : kLayers)
      for (const Activation activation : kActivations) {
        const auto leaves = [&] {
          return TensorList{operand(layer.x, type, 1, activation != Activation::tanh),
                            operand(layer.weight, type, 2),
                            layer.bias ? operand({layer.weight[0]}, type, 3) : Tensor()};
        };
        const auto within = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
          return linear(x, w, b, activation);
        };
        const auto separate = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
          return apart(linear(x, w, b), activation);
        };
        for (const bool create_graph : {false, true})
          check_same(run(within, leaves(), create_graph), run(separate, leaves(), create_graph),
                     text(layer.x, " by ", layer.weight, " as ", type, ", activation ", int(activation)));
      }
}

TEST_CASE("a convolution with a fused activation is bit-equal to the separate ops, with its gradients") {
  for (const DType type : {DType::f16, DType::f32, DType::f64})
    for (const tests::Convolution& c : tests::convolutions())
      for (const Activation activation : kActivations) {
        const auto leaves = [&] {
          return TensorList{operand(c.image, type, 1, true), operand(c.weight, type, 2),
                            c.bias ? operand({c.weight[0]}, type, 3) : Tensor()};
        };
        const auto within = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
          return convolve(c, x, w, b, activation);
        };
        const auto separate = [&](const Tensor& x, const Tensor& w, const Tensor& b) {
          return apart(convolve(c, x, w, b, Activation::none), activation);
        };
        for (const bool create_graph : {false, true})
          check_same(run(within, leaves(), create_graph), run(separate, leaves(), create_graph),
                     text(c.image, " by ", c.weight, " as ", type, ", activation ", int(activation)));
      }
}

TEST_CASE("second derivatives of linear with a fused activation equal the separate ops'") {
  for (const Activation activation : kActivations) {
    const auto run = [&](bool within) {
      TensorList leaves = {operand({4, 6}, DType::f64, 1), operand({5, 6}, DType::f64, 2),
                           operand({5}, DType::f64, 3)};
      for (Tensor& leaf : leaves) leaf.requires_grad_();
      const Tensor y = within ? linear(leaves[0], leaves[1], leaves[2], activation)
                              : apart(linear(leaves[0], leaves[1], leaves[2]), activation);
      Tensor loss = sum(y * y);
      for (const Tensor& g : grad({loss}, leaves, {}, {{.create_graph = true}})) loss = loss + sum(g * g);
      return grad({loss}, leaves);
    };
    const TensorList got = run(true), expected = run(false);
    for (size_t i = 0; i < got.size(); ++i)
      CHECK_MESSAGE(amax(abs(got[i] - expected[i])).item() < 1e-9,
                    "leaf " << i << ", activation " << int(activation));
  }
}

TEST_CASE("linear saves its result only if it has an activation") {
  const Tensor x = operand({3, 4}, DType::f32, 1), w = operand({2, 4}, DType::f32, 2);
  Tensor bias = operand({2}, DType::f32, 3);
  bias.requires_grad_();
  for (const Activation activation :
       {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid}) {
    const Tensor y = linear(x, w, bias, activation);
    const Node& node = *y.node();
    CHECK(node.op->name == std::string("linear"));
    CHECK(bool(node.out[0].saved) == (activation != Activation::none));
    for (const Operand& in : node.in) CHECK(!in.saved);
  }
  const Tensor y = linear(x, w, bias, Activation::relu);
  apply_in_place(*find_op("mul"), {y, Tensor::number(2.0)});
  CHECK_THROWS_WITH(
      backward(sum(y)),
      doctest::Contains("backward of linear needs its output 1 of shape [3, 2], which mul_ changed"));
}

TEST_CASE("linear of complex numbers has the same activations as the separate ops") {
  const Tensor x = lunagrad::complex(operand({3, 4}, DType::f32, 1), operand({3, 4}, DType::f32, 2)),
               w = lunagrad::complex(operand({2, 4}, DType::f32, 3), operand({2, 4}, DType::f32, 4));
  CHECK(tests::same_bits(view_as_real(linear(x, w, {}, Activation::tanh)), view_as_real(tanh(linear(x, w)))));
  CHECK_THROWS_WITH(linear(x, w, {}, Activation::relu),
                    "linear: relu: complex numbers are not supported (got c64)");
}

}  // namespace
}  // namespace lunagrad
