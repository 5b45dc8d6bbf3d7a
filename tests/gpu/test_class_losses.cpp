// cross_entropy and nll_loss of 16-bit logits on the Vulkan device: the kernels read them as they are, and
// give the bits that f32 logits of the same values give, rounded once.
#include <cmath>

#include "runtime/tape/autocast.h"
#include "tests/gpu/compare.h"
#include "tests/samples/samples.h"
#include "tests/support/timing.h"

namespace lunagrad::tests {
namespace {

struct Rows {
  Shape input, labels;
  int64_t classes;
};
// Odd numbers of classes, rows of several work groups, classes between other dims, no rows.
const std::vector<Rows>& all_rows() {
  static const std::vector<Rows> all = {{{5}, {}, 5},
                                        {{7, 3}, {7}, 3},
                                        {{37, 1001}, {37}, 1001},
                                        {{3, 20000}, {3}, 20000},
                                        {{600, 64}, {600}, 64},
                                        {{2, 5, 6, 7}, {2, 6, 7}, 5},
                                        {{0, 9}, {0}, 9}};
  return all;
}

// A call with operands on the CPU: logits that `type` has, labels (some are ignored), perhaps weights.
struct LossCall {
  const char* name;
  Tensor logits, labels, weight;
  Values params;
};
std::vector<LossCall> calls_of(const Rows& rows, DType type, uint64_t& stream) {
  std::vector<LossCall> calls;
  for (const char* const name : {"cross_entropy", "nll_loss"})
    for (const int64_t reduction : {0, 1, 2})
      for (const bool weighted : {false, true})
        for (const double smoothing : {0.0, 0.15}) {
          const bool smooths = std::string_view(name) == "cross_entropy";
          if (!smooths && smoothing > 0) continue;
          ++stream;
          LossCall call{name,
                        to(random(rows.input, stream, -6, 6), type),
                        to(floor(random(rows.labels, stream + 5000, 0, double(rows.classes))), DType::i64),
                        weighted ? random({rows.classes}, stream + 9000, 0.5, 2) : Tensor(),
                        {int64_t(1), reduction}};
          if (smooths) call.params.push_back(smoothing);
          calls.push_back(std::move(call));
        }
  return calls;
}

std::string title(const LossCall& call, const Rows& rows, DType type, uint64_t stream) {
  return text(call.name, ' ', rows.input, ' ', type, " reduction ", call.params[1].i, " stream ", stream);
}

// The loss and the gradient of the logits, for a gradient of the loss that bf16 and f16 have.
struct Results {
  Tensor loss, gradient;
};
Results run_loss(const LossCall& call, Tensor logits, Device& device, const Tensor& weight) {
  logits = logits.detach().requires_grad_();
  Results results;
  results.loss =
      apply1(*find_op(call.name),
             {logits, to(call.labels, device), weight.defined() ? to(weight, device) : weight}, call.params);
  const Tensor seed = to(random(results.loss.shape(), 77), DType::bf16);
  backward(results.loss, to(to(seed, results.loss.dtype()), device));
  results.gradient = logits.grad();
  return results;
}

TEST_CASE("losses of 16-bit logits have the bits of f32 logits, rounded once, and run without a cast") {
  uint64_t stream = 4100;
  int calls = 0;
  Turns turns(5);
  for (const DType type : {DType::bf16, DType::f16})
    for (const Rows& rows : all_rows())
      for (const LossCall& call : calls_of(rows, type, stream)) {
        INFO(title(call, rows, type, stream));
        ++calls;
        if (!turns.next()) continue;
        const auto layout = Arrangement((calls + calls / 18) % 3);  // another layout for each call and shape
        const Tensor logits = arrange(call.logits, layout);
        const Results wide = run_loss(call, to(logits, DType::f32), gpu(), call.weight);
        const Fallbacks fallbacks;
        const Results got = run_loss(call, logits, gpu(), call.weight);
        CHECK(fallbacks.ops.empty());
        CHECK(fallbacks.casts <= 4);  // the casts of this test's seed, of the loss and of its gradient
        CHECK(got.gradient.dtype() == type);
        CHECK(words(got.loss) == words(to(wide.loss, got.loss.dtype())));
        CHECK(words(got.gradient) == words(to(wide.gradient, type)));
        const Results again = run_loss(call, logits, gpu(), call.weight);
        CHECK(words(again.loss) == words(got.loss));
        CHECK(words(again.gradient) == words(got.gradient));
      }
}

TEST_CASE("losses of 16-bit logits equal f64 losses, but for the last rounding") {
  uint64_t stream = 4700;
  for (const DType type : {DType::bf16, DType::f16}) {
    const double half_ulp = type == DType::bf16 ? 0x1p-8 : 0x1p-11;
    for (const Rows& rows : all_rows())
      for (const LossCall& call : calls_of(rows, type, stream)) {
        INFO(title(call, rows, type, stream));
        const Tensor weight = call.weight.defined() ? to(call.weight, DType::f64) : Tensor();
        const Results exact = run_loss(call, to(call.logits, DType::f64), cpu_device(), weight);
        const UseAutocast region(make_autocast(type));
        const Results got = run_loss(call, to(call.logits, gpu()), gpu(), call.weight);
        CHECK(got.loss.dtype() == DType::f32);
        CHECK(distance(got.loss, exact.loss) < 2e-6);
        CHECK(distance(got.gradient, exact.gradient) < half_ulp * 1.01);
      }
  }
}

TEST_CASE("in a region of autocast the logits reach the loss without a cast") {
  for (const DType type : {DType::bf16, DType::f16})
    for (const char* const name : {"cross_entropy", "nll_loss"}) {
      const Tensor logits = to(to(random({33, 130}, 4900, -6, 6), type), gpu());
      const Tensor labels = to(to(floor(random({33}, 4901, 0, 130)), DType::i64), gpu());
      const Op& op = *find_op(name);
      const auto loss_of = [&](const Tensor& x) { return apply1(op, {x, labels, {}}, complete(op, {})); };
      const Tensor wide = to(logits, DType::f32).requires_grad_();
      const Tensor expected = loss_of(wide);
      backward(expected);
      const Tensor x = logits.detach().requires_grad_();
      const Fallbacks fallbacks;
      const UseAutocast region(make_autocast(type));
      const Tensor loss = loss_of(x);
      backward(loss);
      CHECK(fallbacks.casts == 0);
      CHECK(fallbacks.ops.empty());
      CHECK(nodes_of(loss).size() == 2);  // the loss and the leaf
      CHECK(words(loss) == words(expected));
      CHECK(words(x.grad()) == words(to(wide.grad(), type)));
    }
}

// Infinite logits make a row NaN, as on the CPU, at any position; -infinity beside a number has probability
// 0.
TEST_CASE("infinite and NaN logits count as on the CPU") {
  constexpr int64_t kClasses = 1100;
  const float inf = INFINITY;
  for (const int64_t at : {int64_t(0), int64_t(3), int64_t(700), kClasses - 1})
    for (const float odd : {-inf, inf, NAN}) {
      Tensor x = random({3, kClasses}, 4950);
      std::vector<float> values = x.to_vector<float>();
      values[size_t(kClasses + at)] = odd;
      for (int64_t c = 0; c < kClasses; ++c) values[size_t(2 * kClasses + c)] = c % 4 == at % 4 ? 0.5f : -inf;
      x = Tensor::from<float>(values, {3, kClasses});
      const Tensor labels = Tensor::from<int64_t>(std::vector<int64_t>{1, 2, at % 4}, {3});
      const LossCall call{"cross_entropy", x, labels, {}, {int64_t(-100), int64_t(0), 0.0}};
      const Results expected = run_loss(call, x, cpu_device(), {}),
                    got = run_loss(call, to(x, gpu()), gpu(), {});
      CHECK(distance(got.loss, expected.loss) < 1e-5);
      CHECK(distance(got.gradient, expected.gradient) < 1e-5);
    }
  const Tensor none = full({1, 9}, -INFINITY);
  const LossCall call{
      "cross_entropy", none, full({1}, int64_t(2), DType::i64), {}, {int64_t(-100), int64_t(0), 0.0}};
  CHECK(std::isnan(run_loss(call, none, cpu_device(), {}).loss.item()));
  CHECK(std::isnan(run_loss(call, to(none, gpu()), gpu(), {}).loss.item()));
}

TEST_CASE("second derivatives of losses of 16-bit logits equal those for f32 logits") {
  const Tensor labels = Tensor::from<int64_t>(std::vector<int64_t>{0, 4, 1}, {3});
  for (const char* const name : {"cross_entropy", "nll_loss"}) {
    const auto second = [&](DType type) {
      const Tensor x = to(to(to(random({3, 5}, 4970), DType::f16), type), gpu()).requires_grad_();
      const Op& op = *find_op(name);
      GradOptions options;
      options.create_graph = true;
      const Tensor loss = apply1(op, {x, to(labels, gpu()), {}}, complete(op, {}));
      const TensorList first = grad({loss}, {x}, {}, options);
      Operands both{first[0]};
      if (first[0].requires_grad()) both.push_back(grad(TensorList{sum(square(first[0]))}, TensorList{x})[0]);
      return both;
    };
    const Operands got = second(DType::f16), expected = second(DType::f32);
    REQUIRE(got.size() == expected.size());
    for (size_t i = 0; i < got.size(); ++i) CHECK(distance(got[i], expected[i]) < 0x1p-8);
  }
}

}  // namespace
}  // namespace lunagrad::tests
