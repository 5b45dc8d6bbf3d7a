// Numbers as operands keep their precision, also in gradients of gradients.
#include <doctest/doctest.h>

#include <cmath>

#include "runtime/ops.h"
#include "tests/samples/number_operands.h"

namespace lunagrad::tests {
namespace {

TensorList trained(TensorList operands) {
  for (Tensor& x : operands) x.requires_grad_();
  return operands;
}

TEST_CASE("every op that takes a number has right gradients of both orders in f64") {
  int checked = 0;
  for (const NumberCall& call : number_calls()) {
    const TensorList operands = trained(call.operands());
    const TensorFunction f = [&](const TensorList& others) { return call.apply_to(others); };
    if (is_integral(f(operands)[0].dtype())) continue;
    GradCheckResult result = gradcheck(f, operands, {1e-5, 1e-7});
    CHECK_MESSAGE(result.ok, call.name() << ": " << result.message);
    if (!call.sample.second_order) continue;
    result = gradgradcheck(f, operands, {1e-5, 1e-6});
    CHECK_MESSAGE(result.ok, call.name() << ", second order: " << result.message);
    ++checked;
  }
  CHECK(checked > 40);
}

TEST_CASE("a gradient under create_graph is that without, to the last digits") {
  for (const NumberCall& call : number_calls()) {
    const TensorList operands = trained(call.operands());
    TensorList plain, recorded;
    for (const bool create : {false, true}) {
      const Tensor y = call.apply_to(operands)[0];
      if (!y.requires_grad() || is_complex(y.dtype())) break;
      GradOptions options;
      options.create_graph = create;
      options.allow_unused = true;
      (create ? recorded : plain) = grad({sum(y)}, operands, {}, options);
    }
    for (size_t i = 0; i < recorded.size(); ++i) {
      CHECK(recorded[i].dtype() == DType::f64);
      const std::vector<double> a = plain[i].to_vector<double>(), b = recorded[i].to_vector<double>();
      for (size_t e = 0; e < a.size(); ++e)
        CHECK_MESSAGE(std::abs(a[e] - b[e]) <= 1e-13 * std::max(1.0, std::abs(a[e])),
                      call.name() << ": " << a[e] << " and " << b[e]);
    }
  }
}

TEST_CASE("compositions with numbers have gradients of both orders in f64") {
  const Tensor x = Tensor::from<double>(std::vector<double>{0.3, -1.2, 2.1, 0.7, 1.4, -0.6}, {2, 3});
  const Tensor y = Tensor::from<double>(std::vector<double>{1.3, 0.2, -2.1, 1.7, 0.4, -1.6}, {2, 3});
  const std::vector<TensorFunction> functions = {
      [](const TensorList& in) { return TensorList{norm(in[0], 2, {1})}; },
      [](const TensorList& in) { return TensorList{norm(in[0], 3.5, {1})}; },
      [](const TensorList& in) { return TensorList{normalize(in[0] + in[1], 2, 1)}; },
      [](const TensorList& in) {
        return TensorList{apply1(*find_op("_add_alpha"), {in[0], in[1]}, {2.3})};
      }};
  for (const TensorFunction& f : functions) {
    const TensorList operands = trained({x.detach(), y.detach()});
    CHECK(gradcheck(f, operands, {1e-5, 1e-7}).ok);
    CHECK(gradgradcheck(f, operands, {1e-5, 1e-6}).ok);
  }
}

TEST_CASE("second gradients are finite where the side that is not taken overflows") {
  for (const char* name : {"elu", "celu", "selu", "mish", "softplus", "silu"})
    for (const DType type : {DType::f32, DType::f64}) {
      const std::vector<double> values = {-800, -2, 0.5, 100, 800};
      Tensor x = to(Tensor::from<double>(values, {5}), type);
      x.requires_grad_();
      const Op& op = *find_op(name);
      GradOptions options;
      options.create_graph = true;
      const Tensor g = grad({sum(apply1(op, {x}, complete(op, {})))}, {x}, {}, options)[0];
      const Tensor second = grad({sum(g * g)}, {x}, {}, options)[0];
      CHECK_MESSAGE(all(isfinite(g.detach())).item() == 1, name);
      CHECK_MESSAGE(all(isfinite(second.detach())).item() == 1, name);
    }
}

}  // namespace
}  // namespace lunagrad::tests
