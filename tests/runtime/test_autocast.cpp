// Autocast: the type that each op runs in, the casts of weights, and the types of gradients.
#include <doctest/doctest.h>

#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

Tensor weight(const Shape& shape) { return randn(shape).requires_grad_(); }

int casts_of(const Tensor& root) {
  int count = 0;
  for (const Node* node : nodes_of(root))
    count += std::string_view(node->label()) == "_cast" && node->in[0].node->is_leaf();
  return count;
}

Tensor unary(const char* name, const Tensor& x) {
  const Op& op = *find_op(name);
  return apply1(op, {x}, complete(op, {}));
}

TEST_CASE(
    "autocast runs products in the narrow type, exponentials, sums, norms and losses in f32, other ops "
    "in the promoted type") {
  context().generator.seed(1);
  const Tensor x = randn({4, 8}), w = weight({3, 8}), b = weight({3});
  const UseAutocast region(make_autocast(DType::bf16));
  const Tensor h = linear(x, w, b);
  CHECK(h.dtype() == DType::bf16);
  CHECK(matmul(h, transpose(h, 0, 1)).dtype() == DType::bf16);
  CHECK(relu(h).dtype() == DType::bf16);
  CHECK((h + h).dtype() == DType::bf16);
  CHECK((h + b).dtype() == DType::f32);
  CHECK(softmax(h, 1).dtype() == DType::f32);
  CHECK(log_softmax(h, 1).dtype() == DType::f32);
  CHECK(layer_norm(h, {3}).dtype() == DType::f32);
  // The statistics of batch_norm are f32, its result is not.
  CHECK(batch_norm(h, zeros({3}), ones({3}), b, b, true).dtype() == DType::bf16);
  CHECK(batch_norm(h, zeros({3}), ones({3}), {}, {}, false).dtype() == DType::bf16);
  CHECK(sum(h).dtype() == DType::f32);
  for (const char* const name : {"exp", "log1p", "rsqrt", "softplus", "erfinv", "ndtri"})
    CHECK_MESSAGE(unary(name, h).dtype() == DType::f32, name);
  for (const char* const name : {"exp2", "logit", "entr", "lgamma", "digamma", "i0", "i0e", "silu", "gelu"})
    CHECK_MESSAGE(unary(name, h).dtype() == DType::bf16, name);
  CHECK(cross_entropy(h, Tensor::from<int64_t>(std::vector<int64_t>{0, 1, 2, 0}, {4})).dtype() == DType::f32);
  CHECK(mse_loss(h, randn({4, 3})).dtype() == DType::f32);
  CHECK(cat({h, randn({4, 3})}).dtype() == DType::f32);
  CHECK(cat({h, h}).dtype() == DType::bf16);
  // f64 operands are never cast.
  CHECK(matmul(randn({2, 2}, DType::f64), randn({2, 2}, DType::f64)).dtype() == DType::f64);
  const Tensor image = conv2d(randn({1, 2, 5, 5}), weight({3, 2, 3, 3}));
  CHECK(image.dtype() == DType::bf16);
  {
    const UseAutocast off(nullptr);
    CHECK(linear(x, w, b).dtype() == DType::f32);
  }
  CHECK(linear(x, w, b).dtype() == DType::bf16);
}

TEST_CASE("losses of class ids and probabilities in a region have the bits of f32 operands") {
  context().generator.seed(5);
  for (const DType type : {DType::bf16, DType::f16}) {
    const Tensor logits = to(randn({6, 9}) * 4.0, type), labels = randint(0, 9, {6}),
                 weight = to(to(rand({9}) + 0.5, type), DType::f32);
    const Tensor probabilities = to(softmax(randn({6, 9}), 1), type);
    for (const auto& [name, target] :
         {std::pair{"cross_entropy", labels}, std::pair{"cross_entropy", probabilities},
          std::pair{"nll_loss", labels}}) {
      const Op& op = *find_op(name);
      const Values params = complete(
          op, op.params.size() == 3 ? Values{int64_t(2), int64_t(1), 0.1} : Values{int64_t(2), int64_t(1)});
      const auto run = [&](const Tensor& x, const Tensor& classes, bool inside) {
        const Tensor in = x.detach().requires_grad_();
        const UseAutocast region(inside ? make_autocast(type) : nullptr);
        const Tensor loss = apply1(op, {in, classes, to(weight, inside ? type : DType::f32)}, params);
        CHECK(loss.dtype() == DType::f32);
        backward(loss);
        CHECK(in.grad().dtype() == x.dtype());
        return std::pair{loss.item(), to(in.grad(), type).to_vector<float>()};
      };
      const bool ids = !is_floating(target.dtype());
      CHECK(run(logits, target, true) ==
            run(to(logits, DType::f32), ids ? target : to(target, DType::f32), false));
    }
  }
}

TEST_CASE("a weight is cast once for each of its versions, and its gradient is f32") {
  const Tensor x = randn({4, 3}), w = weight({3, 3});
  const UseAutocast region(make_autocast(DType::f16));
  Tensor h = x;
  for (int i = 0; i < 4; ++i) h = linear(h, w);
  CHECK(casts_of(h) == 1);
  const Tensor loss = sum(h);
  backward(loss);
  CHECK(w.grad().dtype() == DType::f32);
  const std::vector<float> before = linear(x, w).to_vector<float>();
  {
    const NoGrad off;
    fill_(w, 0);
  }
  CHECK(linear(x, w).to_vector<float>() == std::vector<float>(12, 0));
  CHECK(before != std::vector<float>(12, 0));
  // A cast made with the tape off is not reused with the tape on.
  const Tensor fresh = weight({3, 3});
  {
    const NoGrad off;
    linear(x, fresh);
  }
  CHECK(linear(x, fresh).requires_grad());
}

TEST_CASE("backward runs in the types of the forward pass, inside the region and outside") {
  const auto gradient = [](bool inside) {
    context().generator.seed(2);
    const Tensor x = randn({4, 3}), w = weight({3, 3});
    Tensor loss;
    {
      const UseAutocast region(make_autocast(DType::bf16));
      loss = sum(square(softmax(linear(x, w), 1)));
      if (inside) backward(loss);
    }
    if (!inside) backward(loss);
    return w.grad().to_vector<float>();
  };
  CHECK(gradient(true) == gradient(false));
}

TEST_CASE("gradients of a scaled loss are unscaled together") {
  const Tensor a = full({3}, 4.0), b = full({2}, 8.0);
  CHECK(unscale_gradients({a, b}, 0.5));
  CHECK(a.to_vector<float>() == std::vector<float>(3, 2));
  CHECK(b.to_vector<float>() == std::vector<float>(2, 4));
  fill_(b, INFINITY);
  CHECK(!unscale_gradients({a, b}, 1));
  CHECK(!unscale_gradients({full({3}, NAN)}, 1));
  CHECK(unscale_gradients({}, 1));
}

}  // namespace
}  // namespace lunagrad::tests
