// Products and convolutions that compute the activation which follows them.
#include <doctest/doctest.h>

#include "runtime/deferral/defer.h"
#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/deferral/numbers.h"
#include "tests/support/same_bits.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

struct Layer {
  Tensor x, weight, bias;
  Tensor apply() const { return weight.ndim() == 2 ? linear(x, weight, bias) : conv2d(x, weight, bias); }
};
std::vector<Layer> layers(DType type) {
  std::vector<Layer> all;
  for (const bool biased : {true, false}) {
    all.push_back(
        {numbers({33, 20}, type), numbers({17, 20}, type), biased ? numbers({17}, type) : Tensor()});
    all.push_back(
        {numbers({2, 5, 20}, type), numbers({1, 20}, type), biased ? numbers({1}, type) : Tensor()});
    all.push_back(
        {numbers({2, 3, 9, 11}, type), numbers({4, 3, 3, 3}, type), biased ? numbers({4}, type) : Tensor()});
  }
  return all;
}

struct Outcome {
  TensorList values;
  std::shared_ptr<const QueueReport> report;
};
// The results of f, deferred.
template <class F>
Outcome deferred_outcome(F&& f) {
  CallQueue queue;
  const DeferCalls defer(&queue);
  Outcome outcome{f(), nullptr};
  queue.compute();
  outcome.report = queue.report();
  return outcome;
}

// Whether a product and the activation were computed as one.
bool joined(const QueueReport& report, const Op& activation) {
  for (size_t i = 1; i < report.calls.size(); ++i)
    if (report.calls[i].op == &activation && report.calls[i].unit == report.calls[i - 1].unit &&
        !report.calls[i - 1].stored)
      return true;
  return false;
}

const Op* const kActivations[] = {find_op("relu"), find_op("tanh"), find_op("sigmoid")};

}  // namespace

TEST_CASE("a product computes the activation that follows it, in the same bits, with its gradients") {
  for (const DType type : {DType::f32, DType::f64})
    for (const Layer& layer : layers(type))
      for (const Op* activation : kActivations)
        for (const bool trained : {false, true}) {
          INFO(activation->name, " of ", text(layer.x.shape()), ' ', text(layer.weight.shape()), " trained ",
               trained);
          const Layer leaves{layer.x.detach().requires_grad_(trained),
                             layer.weight.detach().requires_grad_(trained), layer.bias};
          const auto work = [&] {
            const Tensor y = apply1(*activation, {leaves.apply()});
            TensorList all = trained ? grad({y}, {leaves.x, leaves.weight}, {ones_like(y)}) : TensorList{};
            all.push_back(y);
            return all;
          };
          const TensorList expected = work();
          const Outcome got = deferred_outcome(work);
          for (size_t i = 0; i < expected.size(); ++i) CHECK(same_bits(got.values[i], expected[i]));
          CHECK(joined(*got.report, *activation));
          if (trained) continue;
          CHECK(got.report->bytes_saved == expected.back().nbytes());
          CHECK(got.report->dropped == 0);
        }
}

TEST_CASE("a product keeps its own result where somebody else reads it") {
  const Layer layer = layers(DType::f32)[0];
  const Op& relu = *kActivations[0];
  Tensor held;
  const auto check = [&](auto&& work) {
    const TensorList expected = work();
    const Outcome got = deferred_outcome(work);
    for (size_t i = 0; i < expected.size(); ++i) CHECK(same_bits(got.values[i], expected[i]));
    CHECK(!joined(*got.report, relu));
  };
  check([&] {
    held = layer.apply();
    return TensorList{apply1(relu, {held}), held};
  });
  check([&] {
    const Tensor y = layer.apply();
    return TensorList{apply1(relu, {y}) + y};
  });
  check([&] { return TensorList{apply1(relu, {transpose(layer.apply(), 0, 1)})}; });
  check([&] { return TensorList{apply1(relu, {narrow(layer.apply(), 0, 1, 4)})}; });
  check([&] {
    const Tensor y = layer.apply();
    apply_in_place(relu, {y});
    return TensorList{y};
  });
  check([&] {
    return TensorList{apply1(relu, {linear(layer.x, layer.weight, layer.bias, Activation::tanh)})};
  });
}

TEST_CASE("16-bit results on the CPU are rounded before their activation") {
  for (const DType type : {DType::bf16, DType::f16})
    for (const Layer& layer : layers(type))
      for (const Op* activation : kActivations) {
        const auto work = [&] { return TensorList{apply1(*activation, {layer.apply()})}; };
        const TensorList expected = work();
        CHECK(same_bits(deferred_outcome(work).values[0], expected[0]));
      }
}
