// The tape: accumulation, pruning, saved values and their versions, in-place writes, hooks, deep graphs.
#include <doctest/doctest.h>

#include <vector>

#include "runtime/io/tape_dot.h"
#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/support/message_of.h"
#include "tests/support/sanitizers.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

Tensor vec(std::vector<double> values, bool requires_grad = true) {
  const auto count = int64_t(values.size());
  Tensor x = Tensor::from<double>(values, {count});
  return x.requires_grad_(requires_grad);
}

// Processor time of all threads, in seconds.
double seconds(const std::function<void()>& f) {
  const double start = process_seconds();
  f();
  return process_seconds() - start;
}

TEST_CASE("an input used twice receives the sum") {
  const Tensor a = vec({1, 2, 3});
  backward(sum(a * a));
  CHECK(values(a.grad()) == List{2, 4, 6});
}

TEST_CASE("gradients accumulate over backward passes until they are cleared") {
  const Tensor a = vec({1, 2});
  backward(sum(a * a));
  backward(sum(a * a));
  CHECK(values(a.grad()) == List{4, 8});
  a.set_grad({});
  CHECK(!a.grad().defined());
}

TEST_CASE("two leaves that receive the same gradient do not share memory") {
  const Tensor a = vec({1, 2}), b = vec({3, 4});
  backward(sum(a + b));
  backward(sum(a * a));
  CHECK(values(a.grad()) == List{3, 5});
  CHECK(values(b.grad()) == List{1, 1});
}

TEST_CASE("broadcast operands receive gradients of their own shape") {
  const Tensor a = vec({1, 2, 3}), b = Tensor::from<double>(List{2}, {1}).requires_grad_();
  backward(sum(reshape(a, {3, 1}) * b + b));
  CHECK(b.grad().shape() == Shape{1});
  CHECK(values(b.grad()) == List{9});
}

TEST_CASE("inputs that need no gradient get none, and no_grad records nothing") {
  const Tensor a = vec({1, 2}), data = vec({3, 4}, false);
  const Tensor y = a * data;
  backward(sum(y));
  CHECK(!data.grad().defined());
  const NoGrad off;
  CHECK(!(a * data).requires_grad());
}

TEST_CASE("detach cuts the tape and shares the memory") {
  const Tensor a = vec({1, 2});
  const Tensor cut = (a * a).detach();
  CHECK(!cut.requires_grad());
  const Tensor same = a.detach();
  fill_(same, 7);
  CHECK(values(a) == List{7, 7});
}

TEST_CASE("backward of a tensor with several elements needs a seed") {
  const Tensor a = vec({1, 2});
  CHECK(message_of([&] { backward(a * a); }) ==
        "backward() requires a scalar tensor (got shape [2]); reduce it with :sum() or :mean(), or pass a "
        "seed");
  backward(a * a, vec({1, 10}, false));
  CHECK(values(a.grad()) == List{2, 40});
  CHECK(message_of([&] {
          backward(a * a, vec({1, 2, 3}, false));
        }) == "backward: the seed has shape [3] where the tensor has [2]");
}

TEST_CASE("a second backward through a freed graph names retain_graph") {
  const Tensor a = vec({1, 2});
  const Tensor loss = sum(a * a);
  backward(loss);
  CHECK(message_of([&] { backward(loss); }).find("retain_graph") != std::string::npos);
  const Tensor again = sum(a * a);
  backward(again, {}, {.retain_graph = true});
  backward(again);
  CHECK(values(a.grad()) == List{6, 12});
}

TEST_CASE("a saved input that was changed in place is an error that names op, line and remedy") {
  context().line = {intern("model.lua"), 18};
  const Tensor a = vec({1, 2}), h = a + a;
  const Tensor y = h * h;
  context().line = {intern("train.lua"), 37};
  static const Op* const add_op = find_op("add");
  apply_in_place(*add_op, {h, Tensor::number(1.0)});
  const std::string message = message_of([&] { backward(sum(y)); });
  CHECK(message.find("backward of mul (made at model.lua:18) needs its input 2 of shape [2]") !=
        std::string::npos);
  CHECK(message.find("add_ changed in place at train.lua:37") != std::string::npos);
  context().line = {};
}

TEST_CASE("the version of a saved output is checked") {
  const Tensor a = vec({1, 2});
  const Tensor y = exp(a);
  fill_(y.detach(), 0);
  CHECK(message_of([&] { backward(sum(y)); }).find("needs its output 1") != std::string::npos);
}

TEST_CASE("in-place writes to operands that an op does not save are no error") {
  const Tensor a = vec({1, 2}), b = vec({3, 4});
  const Tensor h = a + b;
  const Tensor y = h + a;
  fill_(h.detach(), 0);
  backward(sum(y));
  CHECK(values(a.grad()) == List{2, 2});
}

TEST_CASE("a leaf that requires grad cannot be written in place with the tape on") {
  const Tensor a = vec({1, 2});
  CHECK(message_of([&] { fill_(a, 0); }).find("leaf tensor that requires grad") != std::string::npos);
  CHECK(message_of([&] { fill_(narrow(a, 0, 0, 1), 0); }).find("view of a leaf") != std::string::npos);
  const NoGrad off;
  fill_(a, 5);
  CHECK(values(a) == List{5, 5});
}

TEST_CASE("in-place writes are differentiated, through views and their bases") {
  static const Op* const mul_op = find_op("mul");
  const TensorFunction f = [](const TensorList& in) {
    const Tensor base = in[0] * 1.0;  // not a leaf
    const Tensor row = select(base, 0, 1), other = select(base, 0, 1);
    apply_in_place(*mul_op, {row, in[1]});  // writes into base
    const Tensor corner = narrow(base, 1, 0, 2);
    copy_(narrow(corner, 0, 0, 1), in[1] * in[1]);  // a view of a view
    return TensorList{base * base, other * in[1], row};
  };
  const Tensor a = Tensor::from<double>(List{1, 2, 3, 4}, {2, 2}).requires_grad_();
  const GradCheckResult result = gradcheck(f, {a, vec({0.5, -2})});
  CHECK_MESSAGE(result.ok, result.message);
}

TEST_CASE("the gradient of mul_ uses its target's value before the write") {
  static const Op* const mul_op = find_op("mul");
  const Tensor a = vec({3, 4}), b = vec({5, 6});
  const Tensor h = a * 1.0;
  apply_in_place(*mul_op, {h, b});
  backward(sum(h));
  CHECK(values(a.grad()) == List{5, 6});
  CHECK(values(b.grad()) == List{3, 4});
}

TEST_CASE("create_graph gives higher derivatives") {
  const Tensor x = vec({2});
  const Tensor y = sum(x * x * x);
  const Tensor first = grad({y}, {x}, {}, {{.create_graph = true}})[0];
  const Tensor second = grad({sum(first)}, {x}, {}, {{.create_graph = true}})[0];
  const Tensor third = grad({sum(second)}, {x})[0];
  CHECK(values(first) == List{12});
  CHECK(values(second) == List{12});
  CHECK(values(third) == List{6});
}

TEST_CASE("grad() returns gradients of any tensor and does not change .grad") {
  const Tensor a = vec({1, 2}), unused = vec({1});
  const Tensor h = a * a;
  const Tensor loss = sum(h * h);
  const TensorList gradients = grad({loss}, {h, a}, {}, {{.retain_graph = true}});
  CHECK(values(gradients[0]) == List{2, 8});
  CHECK(values(gradients[1]) == List{4, 32});
  CHECK(!a.grad().defined());
  CHECK(message_of([&] { grad({loss}, {unused}, {}, {{.retain_graph = true}}); }).find("allow_unused") !=
        std::string::npos);
}

TEST_CASE("hooks see and replace gradients; retain_grad keeps gradients of results") {
  const Tensor a = vec({1, 2});
  const Tensor h = a * a;
  retain_grad(h);
  const uint64_t id = register_hook(h, [](const Tensor& g) { return g * 10.0; });
  backward(sum(h), {}, {.retain_graph = true});
  CHECK(values(a.grad()) == List{20, 40});
  CHECK(values(h.grad()) == List{10, 10});
  remove_hook(h, id);
  a.set_grad({});
  backward(sum(h));
  CHECK(values(a.grad()) == List{2, 4});
}

TEST_CASE("a hook may call backward through the same leaves") {
  const Tensor a = vec({1, 2});
  const Tensor h = a * a;
  register_hook(h, [&](const Tensor&) {
    const GradMode on(true);
    backward(sum(a * 3.0));
    return Tensor();
  });
  backward(sum(h));
  CHECK(values(a.grad()) == List{5, 7});
}

TEST_CASE("an error in a backward pass leaves the engine usable") {
  const Tensor a = vec({1, 2});
  const Tensor h = a * a;
  const uint64_t id = register_hook(h, [](const Tensor&) -> Tensor { fail("hook: refused"); });
  CHECK(message_of([&] { backward(sum(h), {}, {.retain_graph = true}); }) == "hook: refused");
  CHECK(!a.grad().defined());
  remove_hook(h, id);
  backward(sum(h));
  CHECK(values(a.grad()) == List{2, 4});
}

TEST_CASE("backward can be stopped between nodes") {
  const Tensor a = vec({1, 2});
  const Tensor loss = sum(a * a);
  context().stop_requested = true;
  CHECK_THROWS_AS(backward(loss), Error);
  context().stop_requested = false;
  CHECK(!a.grad().defined());
}

// Seconds; longer under a sanitizer, which slows each memory access.
constexpr double kLimit = tests::kSanitized ? 60 : 2;

TEST_CASE("deep graphs need no stack: 200,000 nodes backward, 1,000,000 dropped, each in under 2 s") {
  const Tensor a = vec({1, 2});
  const Tensor one = vec({1, 1}, false);
  Tensor deep = a;
  for (int i = 0; i < 200'000; ++i) deep = deep + one;
  CHECK(seconds([&] { backward(sum(deep)); }) < kLimit);
  CHECK(values(a.grad()) == List{1, 1});
  for (int i = 0; i < 800'000; ++i) deep = deep + one;
  CHECK(seconds([&] { deep = Tensor(); }) < kLimit);
}

TEST_CASE("the fields of a node describe its call") {
  context().line = {intern("train.lua"), 5};
  const Tensor a = vec({1, 2, 3, 4});
  const Tensor y = sum(reshape(a, {2, 2}), {1});
  context().line = {};
  const std::vector<Node*> nodes = nodes_of(y);
  REQUIRE(nodes.size() == 3);
  CHECK(std::string(nodes[0]->label()) == "sum");
  CHECK(std::string(nodes[1]->label()) == "view");
  CHECK(nodes[2]->is_leaf());
  CHECK(to_string(nodes[0]->line) == "train.lua:5");
  CHECK(nodes[0]->attributes->params[0].list == Dims{1});
  CHECK(nodes[0]->out[0].layout->shape == Shape{2});
  CHECK(tape_dot(y).find("train.lua:5") != std::string::npos);
}

struct Recorder : Capture {
  std::vector<std::string> order;
  int gradients = 0, ended = 0;
  void begin(std::span<Node* const> nodes) override {
    for (const Node* node : nodes) order.push_back(node->label());
  }
  void gradient(const Node&, uint32_t, const Tensor&) override { ++gradients; }
  bool keep(const Node&) override { return true; }
  void end() override { ++ended; }
};

TEST_CASE("a capture observes the backward pass and can keep saved values") {
  const Tensor a = vec({1, 2});
  const Tensor loss = sum(a * a);
  Recorder recorder;
  context().capture = &recorder;
  backward(loss);
  context().capture = nullptr;
  CHECK(recorder.order == std::vector<std::string>{"sum", "mul", "leaf"});
  CHECK(recorder.gradients == 3);
  CHECK(recorder.ended == 1);
  backward(loss);  // nothing was freed
  CHECK(values(a.grad()) == List{4, 8});
}

}  // namespace
}  // namespace lunagrad::tests
