// Losses against naive loops: every option of cross_entropy, ignored and invalid labels, gradients.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>

#include "runtime/ops.h"
#include "runtime/tape/gradcheck.h"
#include "runtime/tape/tape.h"
#include "tests/runtime/values.h"
#include "tests/samples/samples.h"

using namespace lunagrad;
using lunagrad::tests::complete, lunagrad::tests::ids;

namespace {

// The definition: row i with label y gives (1 - s) w_y nll_y + s / C sum_c w_c nll_c.
struct Reference {
  std::vector<double> losses;
  double total = 0, weight = 0;
};
Reference reference(const Tensor& input, const std::vector<int64_t>& labels,
                    const std::vector<double>& weight, int64_t ignored, double smoothing) {
  const int64_t rows = int64_t(labels.size()), classes = input.numel() / rows;
  const std::vector<double> x = input.to_vector<double>();
  Reference result;
  for (int64_t i = 0; i < rows; ++i) {
    if (labels[size_t(i)] == ignored) {
      result.losses.push_back(0);
      continue;
    }
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(x[size_t(i * classes + c)]);
    const auto nll = [&](int64_t c) {
      return weight[size_t(c)] * (std::log(total) - x[size_t(i * classes + c)]);
    };
    double loss = (1 - smoothing) * nll(labels[size_t(i)]);
    for (int64_t c = 0; c < classes; ++c) loss += smoothing / double(classes) * nll(c);
    result.losses.push_back(loss);
    result.total += loss;
    result.weight += weight[size_t(labels[size_t(i)])];
  }
  return result;
}

}  // namespace

TEST_CASE("cross_entropy follows its definition for every combination of its options") {
  const Tensor input = randn({6, 5}, DType::f64);
  const std::vector<int64_t> labels{0, 4, 2, -100, 3, 2};
  const std::vector<double> flat(5, 1), weight{0.5, 2, 1, 0.25, 3};
  for (const bool weighted : {false, true})
    for (const double smoothing : {0.0, 0.3}) {
      const Reference expected = reference(input, labels, weighted ? weight : flat, -100, smoothing);
      for (const DType dtype : {DType::f64, DType::f32}) {
        const double epsilon = dtype == DType::f64 ? 1e-12 : 1e-6;
        CrossEntropyOptions options;
        if (weighted) options.weight = to(Tensor::from<double>(weight, {5}), dtype);
        options.label_smoothing = smoothing;
        const Tensor x = to(input, dtype);
        CHECK(cross_entropy(x, ids(labels), options).item() ==
              doctest::Approx(expected.total / expected.weight).epsilon(epsilon));
        options.reduction = Reduction::sum;
        CHECK(cross_entropy(x, ids(labels), options).item() ==
              doctest::Approx(expected.total).epsilon(epsilon));
        options.reduction = Reduction::none;
        const std::vector<double> losses = cross_entropy(x, ids(labels), options).to_vector<double>();
        for (size_t i = 0; i < losses.size(); ++i)
          CHECK(losses[i] == doctest::Approx(expected.losses[i]).epsilon(epsilon));
      }
    }
}

TEST_CASE("first and second derivatives of cross_entropy are right for every combination of its options") {
  const Tensor target = ids({0, 4, -100, 2});
  const Tensor weight = Tensor::from<double>(std::vector<double>{0.5, 2, 1, 0.25, 3}, {5});
  for (const bool weighted : {false, true})
    for (const double smoothing : {0.0, 0.3})
      for (const Reduction reduction : {Reduction::none, Reduction::mean, Reduction::sum}) {
        Tensor x = randn({4, 5}, DType::f64);
        x.requires_grad_();
        const auto f = [&](const TensorList& in) {
          return TensorList{
              cross_entropy(in[0], target, {weighted ? weight : Tensor(), -100, reduction, smoothing})};
        };
        CHECK(gradcheck(f, {x}).message == "");
        CHECK(gradgradcheck(f, {x}).message == "");
      }
}

TEST_CASE("cross_entropy has its classes in the second dim, for any number of dims") {
  const Tensor x = randn({2, 3, 4, 5}, DType::f64), target = randint(0, 3, {2, 4, 5});
  const Tensor rows = reshape(permute(x, {0, 2, 3, 1}), {40, 3}), labels = reshape(target, {40});
  CHECK(cross_entropy(x, target).item() ==
        doctest::Approx(cross_entropy(rows, labels).item()).epsilon(1e-13));
  CHECK(cross_entropy(permute(permute(x, {3, 2, 1, 0}), {3, 2, 1, 0}), to(target, DType::u8)).item() ==
        doctest::Approx(cross_entropy(rows, to(labels, DType::i32)).item()).epsilon(1e-13));
  Tensor leaf = x.detach();
  leaf.requires_grad_();
  backward(cross_entropy(leaf, target));
  Tensor flat = rows.detach();
  flat.requires_grad_();
  backward(cross_entropy(flat, labels));
  const std::vector<double> a = reshape(permute(leaf.grad(), {0, 2, 3, 1}), {40, 3}).to_vector<double>();
  const std::vector<double> b = flat.grad().to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) CHECK(a[i] == doctest::Approx(b[i]).epsilon(1e-12));
}

TEST_CASE("one-hot probabilities give the loss of the class ids") {
  const Tensor x = randn({4, 5}, DType::f64), target = ids({1, 0, 4, 4});
  const Tensor probabilities = to(one_hot(target, 5), DType::f64);
  for (const double smoothing : {0.0, 0.2})
    CHECK(cross_entropy(x, probabilities, {{}, -100, Reduction::mean, smoothing}).item() ==
          doctest::Approx(cross_entropy(x, target, {{}, -100, Reduction::mean, smoothing}).item())
              .epsilon(1e-12));
}

TEST_CASE("when every row is ignored the mean is NaN, the sum 0, the gradient of the sum 0") {
  Tensor x = randn({2, 3});
  x.requires_grad_();
  const Tensor target = ids({-100, -100});
  CHECK(std::isnan(cross_entropy(x, target).item()));
  const Tensor total = cross_entropy(x, target, {{}, -100, Reduction::sum, 0});
  CHECK(total.item() == 0);
  CHECK(grad({total}, {x})[0].to_vector<double>() == std::vector<double>(6, 0));
  CHECK(std::isnan(cross_entropy(zeros({0, 3}), ids({})).item()));
}

TEST_CASE("when every row is ignored, the gradient of the mean is 0, as in PyTorch") {
  for (const char* const name : {"cross_entropy", "nll_loss"}) {
    const Op& op = *find_op(name);
    const Tensor x = randn({2, 3}).requires_grad_();
    const Tensor mean = apply1(op, {x, ids({-100, -100}), {}}, complete(op, {}));
    CHECK(std::isnan(mean.item()));
    CHECK(grad({mean}, {x})[0].to_vector<double>() == std::vector<double>(6, 0));
  }
}

TEST_CASE("without classes or positions, ignored labels give a sum of 0") {
  const CrossEntropyOptions sum{{}, -100, Reduction::sum, 0.1};
  CHECK(cross_entropy(zeros({4, 0, 3}), full({4, 3}, int64_t(-100), DType::i64), sum).item() == 0);
  CHECK(cross_entropy(zeros({0, 0, 0}), full({0, 0}, int64_t(-100), DType::i64), sum).item() == 0);
}

TEST_CASE("large logits do not overflow, and 16-bit logits are computed in f32") {
  const Tensor x = Tensor::from<float>(std::vector<float>{1e30f, 0, -1e30f, 80, 90, 100}, {2, 3});
  CHECK(cross_entropy(x, ids({0, 2}), {{}, -100, Reduction::sum, 0}).item() ==
        doctest::Approx(std::log1p(std::exp(-10.0) + std::exp(-20.0))).epsilon(1e-6));
  const Tensor logits = to(randn({64, 1000}), DType::f16), target = randint(0, 1000, {64});
  const double wide = cross_entropy(to(logits, DType::f64), target).item();
  CHECK(cross_entropy(logits, target).dtype() == DType::f16);
  CHECK(cross_entropy(logits, target).item() == doctest::Approx(wide).epsilon(1e-3));
}

TEST_CASE("what a row holds that is ignored does not reach the loss") {
  const Tensor log_p = Tensor::from<float>(std::vector<float>{-INFINITY, 0, -1, -2}, {2, 2});
  CHECK(apply1(*find_op("nll_loss"), {log_p, ids({-100, 1}), {}}, {int64_t(-100), int64_t(1)}).item() == 2);
}

TEST_CASE("nll_loss of 16-bit operands equals the f32 loss, rounded once") {
  const Op& op = *find_op("nll_loss");
  for (const DType type : {DType::f16, DType::bf16})
    for (const int64_t reduction : {0, 1, 2}) {
      const Tensor x = to(randn({300, 7}), type), weight = to(rand({7}) + 0.5, type);
      const Tensor target = randint(0, 7, {300});
      const auto run = [&](DType computed) {
        Tensor in = to(x, computed).detach();
        in.requires_grad_();
        const Tensor loss = apply1(op, {in, target, to(weight, computed)}, {int64_t(3), reduction});
        backward(loss, to(full(loss.shape(), 0.75), loss.dtype()));
        return std::array{to(loss, type).to_vector<float>(), to(in.grad(), type).to_vector<float>()};
      };
      CHECK(run(type) == run(DType::f32));
    }
}

TEST_CASE("a label out of range is an error that names its position") {
  CHECK_THROWS_WITH(
      cross_entropy(randn({4, 10}), ids({1, 2, 10, 3})),
      "cross_entropy: label 10 at position 3 is out of range for 10 classes (labels count from 0)");
  CHECK_THROWS_WITH(
      cross_entropy(randn({2, 10}), ids({-1, 3})),
      "cross_entropy: label -1 at position 1 is out of range for 10 classes (labels count from 0)");
  CHECK(cross_entropy(randn({2, 10}), ids({-1, 3}), {{}, -1, Reduction::mean, 0}).item() > 0);
}

TEST_CASE("the mean of a loss in one pass equals the mean of its elements") {
  const int64_t n = 200003;
  const Tensor p = rand({n}) * 0.9 + 0.05, t = rand({n}) * 0.9 + 0.05, wide = randn({n}) * 3.0;
  using Loss = std::function<Tensor(const Tensor&, const Tensor&, Reduction)>;
  const auto named = [](const char* name, Value parameter) -> Loss {
    return [=](const Tensor& a, const Tensor& b, Reduction reduction) {
      Values params{int64_t(reduction)};
      if (parameter.present()) params.push_back(parameter);
      const Op& op = *find_op(name);
      Operands in{a, b};
      in.resize(op.inputs.size());
      return apply1(op, std::move(in), std::move(params));
    };
  };
  const std::pair<Loss, Tensor> losses[] = {{named("huber_loss", 0.7), wide},
                                            {named("smooth_l1_loss", 0.5), wide},
                                            {named("binary_cross_entropy", Value()), p},
                                            {named("kl_div", false), p},
                                            {named("kl_div", true), p}};
  for (const auto& [loss, x] : losses)
    for (const DType type : {DType::f32, DType::f64, DType::f16}) {
      const Tensor a = to(x, type), b = to(t, type);
      double total = 0;
      for (const double part :
           loss(to(a, DType::f64), to(b, DType::f64), Reduction::none).to_vector<double>())
        total += part;
      const double allowed = type == DType::f16 ? 1e-3 : 1e-6;
      CHECK(loss(a, b, Reduction::mean).item() == doctest::Approx(total / double(n)).epsilon(allowed));
    }
}

TEST_CASE("mse_loss sums in f64 and takes mixed floating dtypes") {
  const int64_t n = 200003;
  const Tensor x = randn({n}), t = randn({n});
  const std::vector<double> a = x.to_vector<double>(), b = t.to_vector<double>();
  double total = 0;
  for (size_t i = 0; i < a.size(); ++i) total += (a[i] - b[i]) * (a[i] - b[i]);
  CHECK(mse_loss(x, t).item() == doctest::Approx(total / double(n)).epsilon(1e-6));
  CHECK(mse_loss(x, t, Reduction::sum).item() == doctest::Approx(total).epsilon(1e-6));
  CHECK(mse_loss(x, to(t, DType::f64)).item() == doctest::Approx(total / double(n)).epsilon(1e-12));
  CHECK(std::isnan(mse_loss(zeros({0}), zeros({0})).item()));
}
TEST_CASE("multilabel_margin_loss of many classes equals its definition, without a tensor of all pairs") {
  constexpr int64_t kItems = 3, kClasses = 1500, kNamed = 400;
  context().generator.seed(8);
  const Tensor x = (randn({kItems, kClasses}, DType::f64) + 100).requires_grad_();
  std::vector<int64_t> named(size_t(kItems * kClasses), -1);
  for (int64_t n = 0; n < kItems; ++n)
    for (int64_t j = 0; j < kNamed + n; ++j) named[size_t(n * kClasses + j)] = (7 * j + n) % kClasses;
  const std::vector<double> values = x.to_vector<double>();
  std::vector<double> losses(kItems, 0.0), slopes(values.size(), 0.0);
  for (int64_t n = 0; n < kItems; ++n) {
    const double* const row = values.data() + n * kClasses;
    std::vector<bool> is_named(kClasses, false);
    for (int64_t j = 0; j < kNamed + n; ++j) is_named[size_t(named[size_t(n * kClasses + j)])] = true;
    for (int64_t j = 0; j < kNamed + n; ++j)
      for (int64_t i = 0; i < kClasses; ++i) {
        const int64_t own = named[size_t(n * kClasses + j)];
        const double term = 1 - row[own] + row[i];
        if (is_named[size_t(i)] || term < 0) continue;
        losses[size_t(n)] += term / kClasses;
        slopes[size_t(n * kClasses + i)] += 1.0 / kClasses;
        slopes[size_t(n * kClasses + own)] -= 1.0 / kClasses;
      }
  }
  const Op& op = *find_op("multilabel_margin_loss");
  cpu_device().reset_peak();
  const size_t before = cpu_device().memory().in_use;
  const Tensor loss = apply1(op, {x, ids(named, x.shape())}, {int64_t(Reduction::none)});
  backward(sum(loss));
  CHECK(cpu_device().memory().peak - before < size_t(50 * x.nbytes()));  // of all pairs: 1500
  for (int64_t n = 0; n < kItems; ++n)
    CHECK(loss.to_vector<double>()[size_t(n)] == doctest::Approx(losses[size_t(n)]).epsilon(1e-10));
  const std::vector<double> found = x.grad().to_vector<double>();
  for (size_t i = 0; i < found.size(); ++i) CHECK(found[i] == doctest::Approx(slopes[i]).epsilon(1e-10));
}
