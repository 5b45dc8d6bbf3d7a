// An undefined tensor, an absent operand, where a program uses it as a tensor: an Error, not a crash.
#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "runtime/ops.h"
#include "runtime/tape/grad_store.h"
#include "runtime/tape/tape.h"
#include "tests/samples/samples.h"
#include "tests/support/message_of.h"

using namespace lunagrad;
using namespace lunagrad::tests;

TEST_CASE("members of an undefined tensor are an Error") {
  const Tensor x;
  Tensor mine;
  const std::pair<const char*, std::function<void()>> uses[] = {
      {"shape", [&] { (void)x.shape(); }},
      {"strides", [&] { (void)x.strides(); }},
      {"ndim", [&] { (void)x.ndim(); }},
      {"size", [&] { (void)x.size(0); }},
      {"numel", [&] { (void)x.numel(); }},
      {"nbytes", [&] { (void)x.nbytes(); }},
      {"dtype", [&] { (void)x.dtype(); }},
      {"device", [&] { (void)x.device(); }},
      {"id", [&] { (void)x.id(); }},
      {"offset", [&] { (void)x.offset(); }},
      {"data", [&] { (void)x.data<float>(); }},
      {"raw", [&] { (void)x.raw(); }},
      {"to_vector", [&] { (void)x.to_vector<float>(); }},
      {"item", [&] { (void)x.item(); }},
      {"item_integer", [&] { (void)x.item_integer(); }},
      {"requires_grad", [&] { (void)x.requires_grad(); }},
      {"requires_grad_", [&] { mine.requires_grad_(); }},
      {"is_leaf", [&] { (void)x.is_leaf(); }},
      {"grad", [&] { (void)x.grad(); }},
      {"set_grad", [&] { x.set_grad({}); }},
      {"set_grad of a value", [&] { x.set_grad(ones({2})); }},
      {"detach", [&] { (void)x.detach(); }},
      {"backward", [&] { backward(x); }},
      {"gradients", [&] { (void)gradients(x); }},
      {"register_hook", [&] { register_hook(x, {}); }},
      {"retain_grad", [&] { retain_grad(x); }},
      {"to another type", [&] { (void)to(x, DType::f64); }},
      {"to a device", [&] { (void)to(x, cpu_device()); }},
      {"reshape", [&] { (void)reshape(x, {1}); }},
      {"fill_", [&] { (void)fill_(x, 1); }},
      {"copy_", [&] { (void)copy_(x, ones({1})); }},
      {"copy_ from", [&] { (void)copy_(ones({1}), x); }},
      {"x + x", [&] { (void)(x + x); }},
      {"x * 2", [&] { (void)(x * 2.0); }},
      {"-x", [&] { (void)-x; }},
      {"ones + x", [&] { (void)(ones({2}) + x); }},
  };
  for (const auto& [name, use] : uses) {
    CAPTURE(name);
    CHECK(error_of(use) != "");
  }
  CHECK_FALSE(x.defined());
  CHECK(x.use_count() == 0);
}

// Each op with each of its operands, and with all, undefined. Where the operand is optional there is a
// result.
TEST_CASE("a call with an undefined operand is an Error, or the operand is optional") {
  std::set<std::string> seen;
  for (const Sample& sample : samples()) {
    const Op& op = *find_op(sample.op);
    if (sample.inputs.empty() || !seen.insert(sample.op).second) continue;
    CAPTURE(sample.op);
    for (size_t without = 0; without <= sample.inputs.size(); ++without) {
      Operands in;
      for (size_t i = 0; i < sample.inputs.size(); ++i)
        in.push_back(i == without || without == sample.inputs.size() ? Tensor()
                                                                     : make_input(sample.inputs[i], i));
      const InputSpec& spec = op.inputs.at(std::min(without, op.inputs.size() - 1));
      const std::string error = error_of([&] { apply(op, in, complete(op, sample.params)); });
      CAPTURE(without);
      if (!spec.optional) CHECK(error != "");
    }
  }
}
