// Memory that an unsharded parameter has for forward and backward.
#include <doctest/doctest.h>

#include "runtime/ops.h"
#include "runtime/tape/checkpoint.h"
#include "runtime/tape/tape.h"
#include "runtime/tape/unsharded.h"

namespace lunagrad::tests {
namespace {

// A weight whose values are kept elsewhere while it has no memory.
struct UnshardedParameter {
  Tensor source, weight;
  int asked = 0;

  UnshardedParameter() {
    context().generator.seed(3);
    source = randn({256, 256});
    weight = source.detach();
    weight.requires_grad_();
    unshard();
  }
  void unshard() { unshard_memory(weight, clone(source), source); }
  Tensor run(const std::function<Tensor(const Tensor&)>& f, bool* needed = nullptr) {
    Tensor y;
    const bool may = run_unsharded(
        {weight}, [&] { y = f(weight); },
        [this] {
          ++asked;
          unshard();
        });
    if (needed) *needed = may;
    reshard_memory(weight);
    return y;
  }
};

std::vector<float> plain_gradient(const UnshardedParameter& unsharded,
                                  const std::function<Tensor(const Tensor&)>& f) {
  Tensor w = clone(unsharded.source);
  w.requires_grad_();
  backward(sum(f(w)));
  return w.grad().to_vector<float>();
}

TEST_CASE("nodes do not keep unsharded memory and ask for it in backward") {
  UnshardedParameter unsharded;
  const Tensor x = randn({4, 256});
  const auto f = [&](const Tensor& w) { return square(linear(tanh(linear(x, w)), w)); };
  const size_t before = cpu_device().memory().in_use;
  bool needed = false;
  Tensor y = unsharded.run(f, &needed);
  CHECK(needed);
  CHECK(cpu_device().memory().in_use < before);  // 256 KiB of the weight are gone, some results are there
  CHECK_THROWS_WITH(add(unsharded.weight, unsharded.weight),
                    doctest::Contains("whole only while its group runs"));
  const auto wanted = plain_gradient(unsharded, f);
  for (int round = 0; round < 2; ++round) {  // through a graph that is kept, the second time with new memory
    BackwardOptions options;
    options.retain_graph = round == 0;
    backward(sum(y), {}, options);
    CHECK(unsharded.asked > round);
    CHECK(unsharded.weight.grad().to_vector<float>() == wanted);
    unsharded.weight.set_grad({});
    reshard_memory(unsharded.weight);
  }
  CHECK_THROWS_WITH(backward(sum(y)), doctest::Contains("was freed"));
}

TEST_CASE("a write to the source of unsharded memory is found in backward") {
  UnshardedParameter unsharded;
  const Tensor x = randn({4, 256});
  const Tensor y = unsharded.run([&](const Tensor& w) { return linear(linear(x, w), w); });
  copy_(unsharded.source, zeros({256, 256}));
  CHECK_THROWS_WITH(backward(sum(y)), doctest::Contains("copy_ changed in place"));
}

TEST_CASE("what backward does not read is not asked for") {
  UnshardedParameter unsharded;
  bool needed = true;
  Tensor y = unsharded.run([](const Tensor& w) { return w + 1.0; }, &needed);
  CHECK_FALSE(needed);
  backward(sum(y));
  CHECK(unsharded.asked == 0);
  CHECK(unsharded.weight.grad().to_vector<float>()[0] == 1.0f);
}

TEST_CASE("unsharded memory inside of checkpoints, and checkpoints inside of it") {
  const Tensor x = randn({4, 256});
  const auto f = [&](const Tensor& w) { return tanh(linear(x, w)); };
  {
    UnshardedParameter unsharded;
    bool needed = false;
    const Tensor y = unsharded.run(
        [&](const Tensor& w) {
          return checkpoint([&](const TensorList&) { return TensorList{f(w)}; }, {})[0];
        },
        &needed);
    CHECK(needed);
    unsharded.unshard();  // the second run of the function reads the weight
    backward(sum(y));
    CHECK(unsharded.weight.grad().to_vector<float>() == plain_gradient(unsharded, f));
  }
  {
    UnshardedParameter unsharded;
    const auto inner = [&](const TensorList&) {
      unsharded.unshard();
      return TensorList{unsharded.run(f)};
    };
    const Tensor y = checkpoint(inner, {})[0];
    backward(sum(y));
    CHECK(unsharded.asked == 0);
    CHECK(unsharded.weight.grad().to_vector<float>() == plain_gradient(unsharded, f));
  }
}

TEST_CASE("memory of another form is not unsharded") {
  UnshardedParameter unsharded;
  CHECK_THROWS_WITH(unshard_memory(unsharded.weight, zeros({256, 256}, DType::f64), unsharded.source),
                    doctest::Contains("unshard: the memory is f64 on cpu, the tensor f32 on cpu"));
  CHECK_THROWS(unshard_memory(unsharded.weight, zeros({2, 2}), unsharded.source));
}

}  // namespace
}  // namespace lunagrad::tests
