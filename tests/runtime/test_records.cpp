// Op records: every record has its facts, and the counts of floating-point operations agree with hand
// calculations.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "runtime/ops.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"

namespace lunagrad::tests {
namespace {

// Counts the floating-point operations of calls by op, while the object lives.
class FlopTrace : public Trace {
 public:
  FlopTrace() { context().trace = this; }
  ~FlopTrace() { context().trace = nullptr; }
  void ran(const Call& call, uint64_t) override {
    const double flops = call_flops(call), bytes = call_bytes(call);
    CHECK_MESSAGE((std::isfinite(flops) && flops >= 0),
                  call.op->name << " counts " << flops << " operations");
    CHECK_MESSAGE((std::isfinite(bytes) && bytes >= 0), call.op->name << " counts " << bytes << " bytes");
    flops_[call.op->name] += flops;
  }
  void fell_back(const Call&, const char*) override {}
  const std::map<std::string, double>& flops() const { return flops_; }

 private:
  std::map<std::string, double> flops_;
};

// The counts of the calls that f makes, and of the backward pass from the sum of its first result.
std::map<std::string, double> flops_of(const std::function<Operands()>& f) {
  const FlopTrace trace;
  const Operands results = f();
  if (results[0].requires_grad()) backward(sum(results[0]));
  return trace.flops();
}
std::map<std::string, double> flops_of(const std::function<Tensor()>& f) {
  return flops_of([&] { return Operands{f()}; });
}

Tensor random_leaf(const Shape& shape) { return rand(shape, DType::f64).requires_grad_(); }

bool names_all_arguments(const Op& op) {
  std::multiset<std::string> arguments, ordered(op.order.begin(), op.order.end());
  for (const InputSpec& input : op.inputs) arguments.insert(input.name);
  for (const ParamSpec& param : op.params) arguments.insert(param.name);
  return arguments == ordered;
}

TEST_CASE("every op's record has its family, sentence and floating-point operations") {
  for (const Op* op : all_ops()) {
    INFO(op->name);
    CHECK(op->family != OpFamily::unset);
    CHECK(op->family != OpFamily::leaf);
    CHECK(std::string(op->doc).ends_with('.'));
    if (op->is_composition()) {
      // Its operations are counted in the calls that it makes.
      CHECK_FALSE(bool(op->flops.count));
      CHECK((op->flops.text == nullptr || op->flops.idle));
    } else {
      REQUIRE_MESSAGE(op->flops.text,
                      op->name << " has no FlopRule; kMovesData says that nothing is computed");
      CHECK(bool(op->flops.count) == (*op->flops.text != 0));
    }
    if (!op->order.empty()) CHECK(names_all_arguments(*op));
    CHECK((op->number_inputs >> op->inputs.size()) == 0);
    if (op->short_form) {
      CHECK(op->hidden());
      CHECK(find_op(op->short_form));
    }
  }
}

// By default an op runs in the promoted type of its operands, or in their own (AutocastPolicy::by_kind). A
// kernel that multiplies matrices, normalizes or computes a loss must not rely on that.
TEST_CASE("products, norms and losses with a kernel say their autocast policy") {
  const std::set<OpFamily> decided = {OpFamily::linear_algebra, OpFamily::normalization, OpFamily::loss};
  for (const Op* op : all_ops())
    if (!op->hidden() && !op->is_composition() && decided.count(op->family))
      CHECK_MESSAGE(op->autocast != AutocastPolicy::by_kind, op->name);
}

Tensor trained_input(const SampleInput& spec) {
  const NoGrad off;
  if (spec.kind == Kind::absent) return {};
  if (spec.kind == Kind::boolean) return lt(rand(spec.shape), Tensor::number(0.5));
  const auto reals = [&] {
    return affine(rand(spec.shape, DType::f64), Tensor::number(spec.high - spec.low),
                  Tensor::number(spec.low));
  };
  if (spec.kind == Kind::index) return to(floor(reals()), DType::i64);
  const Tensor x = spec.kind == Kind::complex ? complex(reals(), reals()) : reals();
  return x.detach().requires_grad_();
}

TEST_CASE("the formulas of operations and bytes hold for every op's samples and their gradients") {
  std::set<std::string> seen;
  for (const Sample& sample : samples()) {
    const Op& op = *find_op(sample.op);
    INFO(sample.op);
    Operands inputs;
    for (const SampleInput& input : sample.inputs) inputs.push_back(trained_input(input));
    const auto counted = flops_of([&] {
      Operands results = apply(op, inputs, complete(op, sample.params));
      if (is_complex(results[0].dtype()) && results[0].requires_grad()) results[0] = view_as_real(results[0]);
      return results;
    });
    for (const auto& [name, flops] : counted) seen.insert(name);
  }
  // All hidden gradients of the samples were among them.
  for (const char* name : {"_conv2d_grad_weight", "_attention_grad", "_lstm_layer_grad", "_batch_norm_grad",
                           "_max_pool2d_grad", "_interpolate_grad", "_ctc_loss_grad", "_softmax_grad"})
    CHECK_MESSAGE(seen.count(name), name);
}

TEST_CASE("floating-point operations of products equal a hand calculation") {
  const auto matmuls = flops_of([] { return matmul(random_leaf({2, 3, 4}), rand({4, 5}, DType::f64)); });
  CHECK(matmuls.at("matmul") ==
        2 * 30 * 4 + 2 * 24 * 5);  // 30 results of 4 products; 24 of 5 in the gradient
  CHECK(flops_of([] { return linear(rand({6, 4}), rand({5, 4}), rand({5})); }).at("linear") == 2 * 30 * 4);
  CHECK(flops_of([] { return einsum("ij,jk->ik", {rand({2, 3}), rand({3, 4})}); }).at("matmul") == 2 * 8 * 3);
}

TEST_CASE("floating-point operations of convolutions and their gradients equal a hand calculation") {
  // 2 x 6 x 5 x 6 results of 2 channels x 3 x 3 products.
  const auto conv = flops_of([] {
    return conv2d(random_leaf({2, 4, 5, 6}), random_leaf({6, 2, 3, 3}), {}, {1}, {1}, {1}, 2);
  });
  for (const char* op : {"conv2d", "_conv2d_grad_input", "_conv2d_grad_weight"})
    CHECK_MESSAGE(conv.at(op) == 2 * 360 * 18, op);
  // 2 x 4 x 3 x 3 elements, each times 3 channels x 2 x 2.
  const auto transposed = flops_of([] {
    return conv_transpose2d(random_leaf({2, 4, 3, 3}), random_leaf({4, 3, 2, 2}), {}, {2});
  });
  for (const char* op : {"conv_transpose2d", "conv2d", "_conv2d_grad_weight"})
    CHECK_MESSAGE(transposed.at(op) == 2 * 72 * 12, op);
}

TEST_CASE("floating-point operations of recurrent layers equal a hand calculation") {
  // 3 steps of 2 sequences; 4 x 5 gates, each with 4 inputs and 5 states.
  const auto counted = flops_of([] {
    return lstm(random_leaf({3, 2, 4}), {}, {},
                {random_leaf({20, 4}), random_leaf({20, 5}), random_leaf({20}), random_leaf({20})});
  });
  CHECK(counted.at("_lstm_layer") == 2 * 6 * 20 * (4 + 5));
  CHECK(counted.at("_lstm_layer_grad") == 2 * 2 * 6 * 20 * (4 + 5));
  const auto constant = flops_of([] {
    return gru(rand({3, 2, 4}, DType::f64), {},
               {random_leaf({15, 4}), random_leaf({15, 5}), random_leaf({15}), random_leaf({15})});
  });
  CHECK(constant.at("_gru_layer") == 2 * 6 * 15 * (4 + 5));
  CHECK(constant.at("_gru_layer_grad") == 2 * 6 * 15 * (4 + 2 * 5));  // no gradient of the input
}

TEST_CASE("floating-point operations of attention equal a hand calculation") {
  // 6 heads of 4 queries and 5 keys, 8 features of keys and 6 of values.
  const auto counted = flops_of([] {
    return scaled_dot_product_attention(random_leaf({2, 3, 4, 8}), random_leaf({2, 3, 5, 8}),
                                        random_leaf({2, 3, 5, 6}));
  });
  CHECK(counted.at("_attention") == 2 * 6 * 4 * 5 * (8 + 6));
  CHECK(counted.at("_attention_grad") == 2 * 6 * 4 * 5 * (3 * 8 + 2 * 6));
}

TEST_CASE("floating-point operations of norms and softmax equal a hand calculation") {
  const auto layer = flops_of([] {
    return layer_norm(random_leaf({4, 6}), {6}, random_leaf({6}), random_leaf({6}));
  });
  CHECK(layer.at("layer_norm") == 7 * 24);
  CHECK(layer.at("_layer_norm_grad") == (6 + 8 + 2 + 1) * 24);
  CHECK(flops_of([] { return layer_norm(rand({4, 6}), {6}); }).at("layer_norm") == 5 * 24);
  const auto rms = flops_of([] { return rms_norm(random_leaf({4, 6}), {6}, random_leaf({6})); });
  CHECK(rms.at("rms_norm") == 4 * 24);
  CHECK(rms.at("_rms_norm_grad") == (3 + 6 + 2) * 24);
  const auto batch = flops_of([] {
    return batch_norm(random_leaf({2, 3, 4}), {}, {}, random_leaf({3}), random_leaf({3}), true);
  });
  CHECK(batch.at("_batch_norm_train") == 7 * 24);
  CHECK(batch.at("_batch_norm_grad") == (4 + 5) * 24);
  const auto group = flops_of([] {
    return group_norm(random_leaf({2, 4, 3}), 2, random_leaf({4}), random_leaf({4}));
  });
  CHECK(group.at("group_norm") == 7 * 24);
  CHECK(group.at("_group_norm_grad") == (6 + 8 + 2 + 1) * 24);
  const auto probabilities = flops_of([] { return softmax(random_leaf({4, 6}), 1); });
  CHECK(probabilities.at("softmax") == 5 * 24);
  CHECK(probabilities.at("_softmax_grad") == 4 * 24);
}

TEST_CASE("floating-point operations of elementwise ops, reductions and pooling count elements") {
  const auto sums = flops_of([] { return tanh(random_leaf({2, 3})) + rand({3}, DType::f64); });
  CHECK(sums.at("add") == 6);
  CHECK(sums.at("tanh") == 6);
  CHECK(sums.at("_tanh_grad") == 6);
  CHECK(sums.at("sum") == 6);
  CHECK(flops_of([] { return max_pool2d(rand({1, 1, 4, 4}), {2}); }).at("max_pool2d") == 16);
  CHECK(flops_of([] { return avg_pool2d(rand({1, 1, 4, 4}), {2}); }).at("avg_pool2d") == 16 + 4);
  const auto loss = flops_of([] {
    return cross_entropy(random_leaf({5, 4}), Tensor::from<int64_t>(std::vector<int64_t>(5, 1), {5}));
  });
  CHECK(loss.at("_cross_entropy") == 4 * 20);
  CHECK(loss.at("_cross_entropy_grad") == 3 * 20);
  CHECK(flops_of([] { return embedding(randint(0, 7, {5}), rand({7, 3})); }).at("embedding") == 0);
}

TEST_CASE("bytes count operands and results, what is selected, and what is written in place") {
  double bytes = 0;
  struct ByteTrace : Trace {
    double& bytes;
    explicit ByteTrace(double& to) : bytes(to) { context().trace = this; }
    ~ByteTrace() { context().trace = nullptr; }
    void ran(const Call& call, uint64_t) override { bytes = call_bytes(call); }
    void fell_back(const Call&, const char*) override {}
  };
  const Tensor x = rand({10, 4}), ids = randint(0, 10, {3}), gradient = rand({10, 4});
  const ByteTrace trace(bytes);
  exp(x);
  CHECK(bytes == 2 * 160);
  transpose(x, 0, 1);
  CHECK(bytes == 0);
  embedding(ids, x);
  CHECK(bytes == 3 * 8 + 2 * 48);
  sgd_step({x}, {gradient}, {}, {});
  CHECK(bytes == 160 + 2 * 160);
}

}  // namespace
}  // namespace lunagrad::tests
