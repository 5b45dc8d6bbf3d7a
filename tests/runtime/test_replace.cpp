// Replacing the memory of a tensor: what stays, what follows, and what is refused.
#include <doctest/doctest.h>

#include "runtime/ops.h"
#include "runtime/tape/autocast.h"
#include "runtime/tape/replace.h"
#include "runtime/tape/tape.h"

namespace lunagrad::tests {
namespace {

TEST_CASE("a tensor with other memory keeps its handles, node, hooks and gradient") {
  Tensor x = randn({2, 3}).requires_grad_();
  const Tensor other_handle = x;
  const Ref<Node> node = x.node();
  int calls = 0;
  register_hook(x, [&](const Tensor&) { return ++calls, Tensor(); });
  backward(sum(x * x));
  const Tensor grad = x.grad();
  const Tensor wide = to(x.detach(), DType::f64);
  replace_data(x, wide);
  CHECK(other_handle.dtype() == DType::f64);
  CHECK(&other_handle.storage() == &wide.storage());
  CHECK((x.node() == node && x.is_leaf() && x.requires_grad()));
  CHECK(x.grad().dtype() == DType::f64);
  CHECK(x.grad().to_vector<double>() == to(grad, DType::f64).to_vector<double>());
  backward(sum(x * x));
  CHECK(calls == 2);
  CHECK(x.grad().to_vector<double>() == (4 * x.detach()).to_vector<double>());
}

TEST_CASE("a graph of before keeps its values, and its gradient of another type is refused") {
  Tensor x = full({2}, 3.0, DType::f32).requires_grad_();
  const Tensor y = sum(x * x * x);
  const Tensor same = full({2}, 5.0, DType::f32);
  replace_data(x, same);
  backward(y, {}, {.retain_graph = true});
  CHECK(x.grad().to_vector<float>() == std::vector<float>{27, 27});  // 3 x^2 at the saved 3
  replace_data(x, to(same, DType::f64));
  CHECK_THROWS_WITH(backward(y), doctest::Contains("run the forward pass again after model:to()"));
}

TEST_CASE("views of before keep the old memory and are tensors of their own") {
  const Tensor x = zeros({4}, DType::f32);
  const Tensor view = narrow(x, 0, 1, 2);
  replace_data(x, ones({4}, DType::f32));
  Tensor w = ones({2}, DType::f32).requires_grad_();
  copy_(view, w * 2);
  CHECK(view.requires_grad());
  CHECK(!x.requires_grad());
  CHECK(x.to_vector<float>() == std::vector<float>{1, 1, 1, 1});
  backward(sum(view));
  CHECK(w.grad().to_vector<float>() == std::vector<float>{2, 2});
}

TEST_CASE("a cached cast of a weight is made anew after its memory was replaced") {
  Tensor w = ones({2, 2}, DType::f32).requires_grad_();
  const Tensor x = ones({1, 2}, DType::f32);
  const UseAutocast region(make_autocast(DType::bf16));
  CHECK(linear(x, w).to_vector<float>() == std::vector<float>{2, 2});
  replace_data(w, full({2, 2}, 3.0, DType::f32));
  CHECK(linear(x, w).to_vector<float>() == std::vector<float>{6, 6});
}

TEST_CASE("other shapes, results of ops and types without gradients are refused") {
  Tensor x = ones({2}, DType::f32).requires_grad_();
  CHECK_THROWS_WITH(replace_data(x, ones({3}, DType::f32)), "to: shape [3] cannot replace the tensor's [2]");
  CHECK_THROWS_WITH(replace_data(x, ones({2}, DType::i64)),
                    "to: a parameter that requires grad cannot become i64");
  CHECK_THROWS_WITH(replace_data(x * 2, ones({2}, DType::f32)),
                    doctest::Contains("the memory of a result of an op cannot be replaced"));
}

}  // namespace
}  // namespace lunagrad::tests
