// Memory that an unsharded parameter has for forward and backward.
#include <doctest/doctest.h>

#include "runtime/ops.h"
#include "runtime/tape/checkpoint.h"
#include "runtime/tape/lent.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {
namespace {

// A weight whose values are kept elsewhere while it has no memory.
struct Lent {
  Tensor source, weight;
  int asked = 0;

  Lent() {
    context().generator.seed(3);
    source = randn({256, 256});
    weight = source.detach();
    weight.requires_grad_();
    lend();
  }
  void lend() { lend_memory(weight, clone(source), source); }
  Tensor run(const std::function<Tensor(const Tensor&)>& f, bool* needed = nullptr) {
    Tensor y;
    const bool may = run_lent(
        {weight}, [&] { y = f(weight); },
        [this] {
          ++asked;
          lend();
        });
    if (needed) *needed = may;
    take_back_memory(weight);
    return y;
  }
};

std::vector<float> plain_gradient(const Lent& lent, const std::function<Tensor(const Tensor&)>& f) {
  Tensor w = clone(lent.source);
  w.requires_grad_();
  backward(sum(f(w)));
  return w.grad().to_vector<float>();
}

TEST_CASE("nodes do not keep lent memory and ask for it in backward") {
  Lent lent;
  const Tensor x = randn({4, 256});
  const auto f = [&](const Tensor& w) { return square(linear(tanh(linear(x, w)), w)); };
  const size_t before = cpu_device().memory().in_use;
  bool needed = false;
  Tensor y = lent.run(f, &needed);
  CHECK(needed);
  CHECK(cpu_device().memory().in_use < before);  // 256 KiB of the weight are gone, some results are there
  CHECK_THROWS_WITH(add(lent.weight, lent.weight), doctest::Contains("whole only while its group runs"));
  const auto wanted = plain_gradient(lent, f);
  for (int round = 0; round < 2; ++round) {  // through a graph that is kept, the second time with new memory
    BackwardOptions options;
    options.retain_graph = round == 0;
    backward(sum(y), {}, options);
    CHECK(lent.asked > round);
    CHECK(lent.weight.grad().to_vector<float>() == wanted);
    lent.weight.set_grad({});
    take_back_memory(lent.weight);
  }
  CHECK_THROWS_WITH(backward(sum(y)), doctest::Contains("was freed"));
}

TEST_CASE("a write to the source of lent memory is found in backward") {
  Lent lent;
  const Tensor x = randn({4, 256});
  const Tensor y = lent.run([&](const Tensor& w) { return linear(linear(x, w), w); });
  copy_(lent.source, zeros({256, 256}));
  CHECK_THROWS_WITH(backward(sum(y)), doctest::Contains("copy_ changed in place"));
}

TEST_CASE("what backward does not read is not asked for") {
  Lent lent;
  bool needed = true;
  Tensor y = lent.run([](const Tensor& w) { return w + 1.0; }, &needed);
  CHECK_FALSE(needed);
  backward(sum(y));
  CHECK(lent.asked == 0);
  CHECK(lent.weight.grad().to_vector<float>()[0] == 1.0f);
}

TEST_CASE("lent memory inside of checkpoints, and checkpoints inside of it") {
  const Tensor x = randn({4, 256});
  const auto f = [&](const Tensor& w) { return tanh(linear(x, w)); };
  {
    Lent lent;
    bool needed = false;
    const Tensor y = lent.run(
        [&](const Tensor& w) {
          return checkpoint([&](const TensorList&) { return TensorList{f(w)}; }, {})[0];
        },
        &needed);
    CHECK(needed);
    lent.lend();  // the second run of the function reads the weight
    backward(sum(y));
    CHECK(lent.weight.grad().to_vector<float>() == plain_gradient(lent, f));
  }
  {
    Lent lent;
    const auto inner = [&](const TensorList&) {
      lent.lend();
      return TensorList{lent.run(f)};
    };
    const Tensor y = checkpoint(inner, {})[0];
    backward(sum(y));
    CHECK(lent.asked == 0);
    CHECK(lent.weight.grad().to_vector<float>() == plain_gradient(lent, f));
  }
}

TEST_CASE("memory of another form is not lent") {
  Lent lent;
  CHECK_THROWS_WITH(lend_memory(lent.weight, zeros({256, 256}, DType::f64), lent.source),
                    doctest::Contains("lend: the memory is f64 on cpu, the tensor f32 on cpu"));
  CHECK_THROWS(lend_memory(lent.weight, zeros({2, 2}), lent.source));
}

}  // namespace
}  // namespace lunagrad::tests
