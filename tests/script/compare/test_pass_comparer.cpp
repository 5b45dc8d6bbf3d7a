// Steps compared node by node: nothing that only rounds is accused, and an error in one kernel is found where
// it is made.
#include <doctest/doctest.h>

#include <map>

#include "tests/samples/networks.h"
#include "tests/samples/samples.h"
#include "tests/support/compared_step.h"
#include "tests/support/twin_device.h"

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// The loss of a sample in f32; undefined when it has none.
Tensor loss_of(const Sample& sample) {
  const Op* const op = find_op(sample.op);
  context().generator.seed(11);
  TensorList inputs;
  for (size_t i = 0; i < sample.inputs.size(); ++i) {
    Tensor x = make_input(sample.inputs[i], i);
    if (x.defined() && is_differentiable(x.dtype())) {
      const NoGrad off;
      x = to(x, is_complex(x.dtype()) ? DType::c64 : DType::f32).detach();
    }
    if (x.defined() && is_differentiable(x.dtype())) x.requires_grad_();
    inputs.push_back(x);
  }
  return weighted_loss(sample, apply(*op, inputs, complete(*op, sample.params)));
}

void check_nothing_accused(const std::vector<ComparedNode>& rows, const std::string& name) {
  const std::string wrong = accused(rows);
  CHECK_MESSAGE(wrong.empty(), name << ":\n" << wrong);
}

}  // namespace

TEST_CASE("no op sample is accused in f64, in bf16 or on a device with the same kernels") {
  TwinDevice twin;
  int rows = 0, left_out = 0;
  for (const Sample& sample : samples()) {
    ComparedStep step([&] { return loss_of(sample); });
    for (const auto& [with, side, narrows] :
         {std::tuple("f64", Side(nullptr, DType::f64), false),
          std::tuple("bf16", Side(nullptr, DType::bf16), true), std::tuple("twin", Side(&twin), false)}) {
      const std::vector<ComparedNode> compared = step.compare(side, narrows);
      check_nothing_accused(compared, name_of(sample) + " with " + with);
      for (const ComparedNode& row : compared) {
        ++rows;
        if (row.verdict != Verdict::not_compared) continue;
        ++left_out;
        MESSAGE(name_of(sample) << " with " << with << ": " << name_of(row) << ": " << row.note);
      }
    }
  }
  CHECK(rows > 5000);
  CHECK(left_out < rows / 50);
}

TEST_CASE("no node of a network is accused in another type") {
  for (const Network& network : networks()) {
    context().generator.seed(5);
    ComparedStep step(network.loss);
    check_nothing_accused(step.compare(Side(nullptr, DType::f64)), network.name + " in f64");
    check_nothing_accused(step.compare(Side(nullptr, DType::bf16), true), network.name + " in bf16");
    check_nothing_accused(step.compare(Side(nullptr, DType::f16), true), network.name + " in f16");
  }
}

TEST_CASE("an error of a thousandth in one kernel is found at the node that ran it, and nowhere else") {
  TwinDevice twin;
  int forward = 0, backward = 0;
  for (const Network& network : networks()) {
    context().generator.seed(5);
    ComparedStep step(network.loss);
    ComparedNode now;
    const auto begins = [&](const ComparedNode& row) { now = row; };
    // The kernel that ran last at each node makes its result.
    std::map<std::pair<bool, uint64_t>, std::string> last;
    twin.spoils = [&](const Call& call) {
      if (!call.out.empty() && call.out[0].dtype() == DType::f32 && call.out[0].is_contiguous() &&
          amax(abs(call.out[0])).item() > 0)
        last[{now.backward, now.node}] = call.op->name;
      return false;
    };
    check_nothing_accused(step.compare(Side(&twin), false, begins), network.name);
    for (const auto& [place, kernel] : last) {
      const auto& [is_backward, node] = place;
      twin.spoils = [&](const Call& call) {
        return now.backward == is_backward && now.node == node && kernel == call.op->name;
      };
      const std::vector<ComparedNode> rows = step.compare(Side(&twin), false, begins);
      const std::string all = accused(rows);
      for (const ComparedNode& row : rows) {
        const bool spoilt = row.node == node && row.backward == is_backward;
        CHECK_MESSAGE((row.verdict == Verdict::wrong) == spoilt,
                      network.name << ": " << kernel << " was spoilt at node " << node << ", "
                                   << (spoilt ? "not found" : "another is accused") << ": " << name_of(row)
                                   << "\n"
                                   << all);
        if (spoilt) (is_backward ? backward : forward)++;
      }
    }
  }
  MESSAGE(forward << " errors in forward kernels, " << backward << " in gradient kernels");
  CHECK(forward >= 40);
  CHECK(backward >= 40);
}

TEST_CASE("an error is inherited by what follows it, and by nothing before") {
  TwinDevice twin;
  const Tensor x = Tensor::from<float>(std::vector<float>{0.5f, -1.5f, 2.0f}, {3}).requires_grad_();
  ComparedStep step([&] { return sum(exp(tanh(sin(x)))); });
  twin.spoils = [](const Call& call) { return std::string_view(call.op->name) == "tanh"; };
  const std::vector<ComparedNode> rows = step.compare(Side(&twin));
  std::map<std::string, const ComparedNode*> found;
  for (const ComparedNode& row : rows) found[name_of(row)] = &row;
  REQUIRE(found.count("exp forward") == 1);
  CHECK(found["sin forward"]->tensors[0].inherited == 0);
  CHECK(found["tanh forward"]->verdict == Verdict::wrong);
  CHECK(found["tanh forward"]->tensors[0].error == doctest::Approx(1e-3).epsilon(0.01));
  CHECK(found["exp forward"]->verdict == Verdict::right);
  CHECK(found["exp forward"]->tensors[0].inherited > 1e-4);
  CHECK(found["leaf backward"]->tensors[0].inherited > 1e-4);
}

TEST_CASE("indices of equal elements may differ, indices of other elements may not") {
  const Tensor x = Tensor::from<float>(std::vector<float>{3, 1, 3, 2}, {1, 4}).requires_grad_();
  ComparedStep step([&] { return sum(max(x, 1).first); });
  TwinDevice twin;
  for (const int64_t other : {2, 3}) {
    twin.spoils = [&](const Call& call) {
      if (std::string_view(call.op->name) == "_max") call.out[1].data<int64_t>()[0] = other;
      return false;
    };
    const std::string wrong = accused(step.compare(Side(&twin)));
    CHECK((other == 2) == wrong.empty());
    if (other == 3) CHECK(wrong.find("_max forward") == 0);
  }
}

TEST_CASE("the error of a small loss is found, too") {
  const Tensor x = Tensor::from<float>(std::vector<float>{1.01f, 0.98f, 2.03f}, {3}).requires_grad_();
  const Tensor y = Tensor::from<float>(std::vector<float>{1, 1, 2}, {3});
  ComparedStep step([&] { return mse_loss(x, y); });
  TwinDevice twin;
  check_nothing_accused(step.compare(Side(&twin)), "mse_loss");
  bool forward = false;
  twin.spoils = [&](const Call&) { return forward; };
  const std::vector<ComparedNode> rows = step.compare(
      Side(&twin), false, [&](const ComparedNode& row) { forward = !row.backward && row.op != "leaf"; });
  CHECK(rows.front().verdict == Verdict::wrong);
}
