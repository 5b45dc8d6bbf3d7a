// lg.host: tensors, functions and ops that a C++ program shares with a script.
#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "runtime/ops.h"
#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

Operands scaled(const Call& call) { return {call.in[0] * call.params[0].f}; }
const Op kScaled{.name = "scaled",
                 .doc = "input times factor.",
                 .inputs = {{"input"}},
                 .params = {{"factor", ParamKind::real, 2.0}},
                 .compose = scaled,
                 .family = OpFamily::other};

}  // namespace

TEST_CASE("a host and a script exchange tensors") {
  Recorder recorder;
  recorder.session.set("input", Tensor::from<float>(std::vector<float>{1, 2, 3}, {3}));
  CHECK_FALSE(recorder.session.get("output").defined());
  CHECK(
      recorder.finish("local lg = require 'lunagrad' lg.host.output = lg.host.input * 2 lg.host.count = 7") ==
      Outcome::ok);
  CHECK(recorder.session.get("output").to_vector<float>() == std::vector<float>{2, 4, 6});
  CHECK(recorder.session.get("count").item() == 7);
}

TEST_CASE("a value that is set during a run arrives at a step boundary") {
  Recorder recorder;
  recorder.session.set("stop", zeros({}));
  recorder.run(R"(
    local lg = require "lunagrad"
    for step in lg.run.steps() do
      lg.host.step = step
      if lg.host.stop:item() ~= 0 then print("seen") break end
    end)");
  while (!recorder.session.get("step").defined()) std::this_thread::yield();
  recorder.session.set("stop", ones({}));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "seen\n");
}

TEST_CASE("functions and ops of the host have a Lua name, errors and gradients") {
  Recorder recorder;
  recorder.session.add_function("both", [](const TensorList& in) -> TensorList {
    if (in.size() != 2) throw std::runtime_error("two tensors expected");
    return {in[0] + in[1], in[0] * in[1]};
  });
  recorder.session.add_op(kScaled);
  CHECK(recorder.finish(R"(
    local lg = require "lunagrad"
    local sum, product = lg.host.both(lg.ones(2) * 3, 4)
    print(sum[1]:item(), product[1]:item())
    local x = lg.ones(2, {requires_grad = true})
    lg.host.scaled(x, {factor = 5}):sum():backward()
    lg.host.both(x, x):sum():backward()
    print(x.grad[1]:item(), lg.host.scaled(x)[1]:item())
    print(pcall(lg.host.both, x))
    print(pcall(function() return lg.host.nothing end))
    print(pcall(function() lg.host.both = x end)))") == Outcome::ok);
  const std::string said = recorder.output();
  INFO(said);
  CHECK(said.find("7.0\t12.0\n7.0\t2.0\n") == 0);
  CHECK(said.find("two tensors expected") != std::string::npos);
  CHECK(said.find("lg.host.nothing does not exist: the program around this script offers both, scaled") !=
        std::string::npos);
  CHECK(said.find("is a function of the program") != std::string::npos);
}

TEST_SUITE_END();
