// Checkpoints and custom ops for C++ hosts: memory, nesting, restored state.
#include <doctest/doctest.h>

#include <cstdio>

#include "runtime/ops.h"
#include "runtime/tape/checkpoint.h"
#include "runtime/tape/custom.h"
#include "runtime/tape/gradcheck.h"
#include "tests/runtime/values.h"
#include "tests/support/peak.h"

namespace lunagrad::tests {
namespace {

struct Stack {
  TensorList up, down;
  Tensor x;

  explicit Stack(int layers) {
    context().generator.seed(5);
    for (int i = 0; i < layers; ++i) {
      up.push_back((randn({128, 128}) * 0.05).detach().requires_grad_());
      down.push_back((randn({128, 128}) * 0.05).detach().requires_grad_());
    }
    x = randn({2048, 128});
  }
  Tensor layer(const Tensor& h, size_t i) const {
    return h + linear(dropout(gelu(linear(h, up[i]), "none"), 0.1), down[i]);
  }
  Tensor layers(Tensor h, size_t first, size_t count) const {
    for (size_t i = first; i < first + count; ++i) h = layer(h, i);
    return h;
  }
  // Returns the gradients of all weights and clears them.
  std::vector<std::vector<float>> gradients() const {
    std::vector<std::vector<float>> all;
    for (const TensorList* list : {&up, &down})
      for (const Tensor& w : *list) {
        all.push_back(w.grad().to_vector<float>());
        w.set_grad({});
      }
    return all;
  }
};

TEST_CASE("a checkpointed stack of 32 layers has the same gradients in at most 40 % of the memory") {
  const Stack stack(32);
  const auto run = [&](const std::function<Tensor()>& forward) {
    context().generator.seed(9);
    const Peak peak;
    backward(sum(square(forward())));
    return peak.mebibytes();
  };
  const double plain = run([&] { return stack.layers(stack.x, 0, 32); });
  const auto wanted = stack.gradients();
  CHECK(std::any_of(wanted[0].begin(), wanted[0].end(), [](float g) { return g != 0; }));

  const auto segments = [&](Tensor h, size_t first, size_t count, size_t size) {
    for (size_t i = first; i < first + count; i += size)
      h = checkpoint(
          [&stack, i, size](const TensorList& in) { return TensorList{stack.layers(in[0], i, size)}; },
          {h})[0];
    return h;
  };
  const double four = run([&] { return segments(stack.x, 0, 32, 4); });
  CHECK(stack.gradients() == wanted);
  const double nested = run([&] {
    Tensor h = stack.x;
    for (size_t i = 0; i < 32; i += 16)
      h = checkpoint([&, i](const TensorList& in) { return TensorList{segments(in[0], i, 16, 4)}; }, {h})[0];
    return h;
  });
  CHECK(stack.gradients() == wanted);
  std::printf("32 layers: %.1f MiB at the peak; in checkpoints of four %.1f MiB, in nested ones %.1f MiB\n",
              plain, four, nested);
  CHECK(four < 0.4 * plain);
  CHECK(nested < 0.4 * plain);
}

TEST_CASE("the second run has the generator and module of the first, and both are restored") {
  std::vector<std::pair<uint64_t, uint32_t>> seen;
  const Tensor x = Tensor::from<double>(List{1, 2}, {2}).requires_grad_();
  context().generator.seed(3);
  context().module = intern("first");
  const Tensor y = checkpoint(
      [&](const TensorList& in) {
        seen.emplace_back(context().generator.stream(), context().module);
        return TensorList{exp(in[0]) * rand({2}, DType::f64)};
      },
      {x})[0];
  context().generator.seed(4);
  context().module = 0;
  backward(sum(y));
  CHECK(seen.size() == 2);
  CHECK(seen[0] == seen[1]);
  CHECK(context().generator.seed() == 4);
  CHECK(context().generator.stream() == 0);
  CHECK(context().module == 0);
  CHECK(context().checkpoint == nullptr);
  CHECK(x.grad().to_vector<double>() == y.to_vector<double>());
}

TEST_CASE("a graph that is freed, also after an error, frees its checkpoints") {
  const size_t before = cpu_device().memory().in_use;
  {
    const Tensor x = Tensor::from<double>(List{1, 2}, {2}).requires_grad_();
    bool refuse = false;
    const auto f = [&](const TensorList& in) {
      if (refuse) fail("refused");
      return TensorList{
          checkpoint([](const TensorList& inner) { return TensorList{exp(exp(inner[0]))}; }, in)[0] * in[0]};
    };
    const Tensor y = checkpoint(f, {x})[0];
    const Tensor dropped = checkpoint(f, {x})[0];
    refuse = true;
    CHECK_THROWS_WITH(backward(sum(y)), "refused");
    CHECK(!context().checkpoint);
    refuse = false;
    backward(sum(y));
    CHECK(x.grad().defined());
  }
  CHECK(cpu_device().memory().in_use == before);
}

TEST_CASE("a custom op of a C++ host has second derivatives and passes gradcheck") {
  CustomOp cube;
  cube.record = custom_record("cube");
  cube.forward = [](CustomContext& ctx, const TensorList& in) {
    ctx.save(in);
    return TensorList{in[0] * in[0] * in[0]};
  };
  cube.backward = [](const CustomContext& ctx, const TensorList& g) {
    const Tensor x = ctx.saved()[0];
    return TensorList{g[0] * 3.0 * x * x};
  };
  const Tensor x = Tensor::from<double>(List{1, 2}, {2}).requires_grad_();
  const TensorFunction f = [&](const TensorList& in) { return apply_custom(cube, in); };
  CHECK(gradcheck(f, {x}).ok);
  CHECK(gradgradcheck(f, {x}).ok);
  const Tensor y = apply_custom(cube, {x})[0];
  CHECK(std::string(y.node()->label()) == "cube");
  CHECK(custom_record("cube") == cube.record);
  backward(sum(y));
  CHECK(x.grad().to_vector<double>() == List{3, 12});
}

}  // namespace
}  // namespace lunagrad::tests
