// nll_loss, losses of pairs with a reduction, and distances on the Vulkan device: the CPU's values and
// gradients.
#include "tests/gpu/compare.h"
#include "tests/support/same_bits.h"

namespace lunagrad::tests {
namespace {

// The result of an op and the gradients of its first `leaves` operands.
Operands run_with_gradients(const char* name, const Operands& operands, const Values& params, size_t leaves) {
  Operands in = operands;
  for (size_t i = 0; i < leaves; ++i) in[i] = in[i].detach().requires_grad_();
  const Tensor y = apply1(*find_op(name), in, params);
  backward(sum(y * to(random(y.shape(), 99), y.device())));
  Operands all{y};
  for (size_t i = 0; i < leaves; ++i) all.push_back(in[i].grad());
  return all;
}

TEST_CASE("nll_loss and its gradient are the CPU's") {
  const Fallbacks fallbacks;
  struct Rows {
    Shape input, labels;
    int64_t classes;
  };
  const Rows all[] = {
      {{5}, {}, 5}, {{7, 3}, {7}, 3}, {{5000, 11}, {5000}, 11}, {{3, 4, 20, 50}, {3, 20, 50}, 4}};
  uint64_t stream = 1;
  for (const Rows& rows : all)
    for (const int64_t reduction : {0, 1, 2})
      for (const bool weighted : {false, true}) {
        ++stream;
        const Tensor log_p = random(rows.input, stream),
                     labels =
                         to(floor(random(rows.labels, stream + 50, 0, double(rows.classes))), DType::i64);
        const Operands here{log_p, labels, weighted ? random({rows.classes}, stream + 90, 0.5, 2) : Tensor()};
        const Values params = {int64_t(1), reduction};  // labels of class 1 are ignored
        const Operands expected = run_with_gradients("nll_loss", here, params, 1);
        for (const Arrangement layout :
             {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
          const Operands got = run_with_gradients(
              "nll_loss", {arrange(log_p, layout), arrange(labels, layout), arrange(here[2], layout)}, params,
              1);
          for (size_t i = 0; i < 2; ++i)
            CHECK_MESSAGE(
                distance(got[i], expected[i]) < 1e-5,
                text(rows.input, " reduction ", reduction, weighted ? " weighted" : "", " result ", i));
        }
      }
  require_none(fallbacks);
  const Tensor wrong = to(Tensor::from<int64_t>(std::vector<int64_t>{0, 9}, {2}), gpu());
  CHECK_THROWS_WITH_AS(
      apply1(*find_op("nll_loss"), {to(random({2, 3}, 1), gpu()), wrong, {}}, {int64_t(-100), int64_t(1)})
          .item(),
      doctest::Contains("nll_loss: label 9 at position 2 is out of range"), Error);
}

TEST_CASE("cross_entropy of more rows than a workgroup adds up is the CPU's") {
  const Shape shape{2, 3, 20, 30, 40};
  const Tensor logits = random(shape, 700),
               labels = to(floor(random({2, 20, 30, 40}, 701, 0, 3)), DType::i64),
               weight = random({3}, 702, 0.5, 2);
  for (const int64_t reduction : {0, 1, 2})
    for (const bool weighted : {false, true}) {
      const Values params = {int64_t(1), reduction};  // labels of class 1 are ignored
      const Tensor given = weighted ? weight : Tensor();
      const Operands expected = run_with_gradients("cross_entropy", {logits, labels, given}, params, 1);
      const Operands on_gpu{to(logits, gpu()), to(labels, gpu()), weighted ? to(weight, gpu()) : given};
      const Fallbacks fallbacks;
      const Operands got = run_with_gradients("cross_entropy", on_gpu, params, 1);
      require_none(fallbacks);
      const Operands again = run_with_gradients("cross_entropy", on_gpu, params, 1);
      for (size_t i = 0; i < 2; ++i) {
        CHECK_MESSAGE(distance(got[i], expected[i]) < 1e-5,
                      text("reduction ", reduction, weighted ? " weighted" : "", " result ", i));
        CHECK(same_bits(got[i], again[i]));
      }
    }
}

TEST_CASE("losses and distances of pairs are reduced as on the CPU") {
  const Fallbacks fallbacks;
  struct Case {
    const char* name;
    Values more;
  };
  const Case cases[] = {{"huber_loss", {0.3}}, {"smooth_l1_loss", {0.2}}, {"binary_cross_entropy", {}},
                        {"kl_div", {false}},   {"kl_div", {true}},        {"mse_loss", {}},
                        {"l1_loss", {}}};
  uint64_t stream = 200;
  for (const Shape& shape : {Shape{7}, Shape{33, 64}, Shape{300, 257}}) {
    const Tensor x = random(shape, ++stream, 0.05, 0.95);
    Tensor t = random(shape, stream + 50, 0.05, 0.95);
    t = where(lt(random(shape, stream + 90, 0, 10), Tensor::number(1.0)), Tensor::number(0.0), t);
    const auto check = [&](const char* name, const Operands& more, const Values& params) {
      Operands here{x, t};
      for (const Tensor& operand : more) here.push_back(operand);
      const Operands expected = run_with_gradients(name, here, params, 2);
      for (const Arrangement layout :
           {Arrangement::contiguous, Arrangement::transposed, Arrangement::sliced}) {
        Operands there{arrange(x, layout), arrange(t, Arrangement::contiguous)};
        for (const Tensor& operand : more) there.push_back(operand);
        const Operands got = run_with_gradients(name, there, params, 2);
        for (size_t i = 0; i < 3; ++i)
          CHECK_MESSAGE(distance(got[i], expected[i]) < 1e-5, text(name, ' ', shape, " result ", i));
      }
    };
    for (const Case& c : cases)
      for (const int64_t reduction : {1, 2}) {
        Values params = {reduction};
        for (const Value& value : c.more) params.push_back(value);
        check(c.name, std::string_view(c.name) == "binary_cross_entropy" ? Operands{Tensor()} : Operands{},
              params);
      }
    check("kl_div", {}, {int64_t(3), false});
    check("dist", {}, {2.0});
  }
  const Tensor same = to(random({9}, 1), gpu()).requires_grad_();
  const Tensor apart = apply1(*find_op("dist"), {same, same.detach()}, {2.0});
  backward(apart);
  CHECK(apart.item() == 0);
  CHECK(largest(abs(same.grad())) == 0);
  require_none(fallbacks);
}

TEST_CASE("mse_loss of 16-bit operands has the bits of f32 operands, rounded once, and runs without a cast") {
  uint64_t stream = 600;
  for (const DType type : {DType::bf16, DType::f16})
    for (const Shape& shape : {Shape{}, Shape{7}, Shape{0, 3}, Shape{33, 64}, Shape{300, 257}})
      for (const int64_t reduction : {0, 1, 2}) {
        INFO(text(type, ' ', shape, " reduction ", reduction));
        ++stream;
        const Tensor x = arrange(to(random(shape, stream), type), Arrangement((stream + stream / 3) % 3));
        const Tensor t = arrange(to(random(shape, stream + 50), type), Arrangement::contiguous);
        const auto run = [&](DType computed) {
          const Tensor a = to(x, computed).detach().requires_grad_(),
                       b = to(t, computed).detach().requires_grad_();
          const Tensor loss = apply1(*find_op("mse_loss"), {a, b}, {reduction});
          backward(loss, full(loss.shape(), 0.75, computed, gpu()));
          return Operands{loss, a.grad(), b.grad()};
        };
        const Operands wide = run(DType::f32);
        const Fallbacks fallbacks;
        const Operands got = run(type);
        CHECK(fallbacks.casts <= 1);  // the cast of the loss's gradient
        CHECK(fallbacks.ops.empty());
        for (size_t i = 0; i < 3; ++i) {
          CHECK(got[i].dtype() == type);
          CHECK(words(got[i]) == words(to(wide[i], type)));
        }
        const Operands again = run(type);
        for (size_t i = 0; i < 3; ++i) CHECK(words(again[i]) == words(got[i]));
      }
}

}  // namespace
}  // namespace lunagrad::tests
