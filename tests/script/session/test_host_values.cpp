// lg.host: tensors, functions and ops that a C++ program shares with a script.
#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "runtime/ops.h"
#include "tests/support/recorder.h"
#include "tests/support/timing.h"

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

TEST_CASE("a host and a script exchange texts, numbers, booleans and tables, with the step of the value") {
  Recorder recorder;
  Session& session = recorder.session;
  SessionTable table;
  table.items = {{int64_t(1)}, {std::string("a\0b", 3)}};
  table.fields["x"] = {full({2}, 3)};
  CHECK(session.set_value("given", {std::make_shared<const SessionTable>(table)}));
  CHECK(session.get_value("given").step == -1);
  CHECK(recorder.finish(R"(
    local lg = require "lunagrad"
    local given = lg.host.given
    assert(#given == 2 and given[2] == "a\0b" and given.x[2]:item() == 3)
    for step in lg.run.steps(2) do lg.host.back = {step = step, half = step / 2, yes = true} end
    lg.host.count = 3
    assert(math.type(lg.host.count) == "integer"))") == Outcome::ok);
  const SessionHost::Got back = session.get_value("back");
  CHECK(back.step == 2);
  const auto& fields = std::get<std::shared_ptr<const SessionTable>>(back.value.is)->fields;
  CHECK(std::get<int64_t>(fields.at("step").is) == 2);
  CHECK(std::get<double>(fields.at("half").is) == 1);
  CHECK(std::get<bool>(fields.at("yes").is));
  CHECK_FALSE(session.get("back").defined());
  CHECK(session.get("count").item() == 3);
  SessionValue deep;
  for (size_t i = 0; i <= kMostNestedTables; ++i)
    deep = {std::make_shared<const SessionTable>(SessionTable{{deep}, {}})};
  std::string why;
  CHECK_FALSE(session.set_value("deep", deep, &why));
  CHECK(why.find("nested") != std::string::npos);
}

TEST_CASE("waits and ends of a session have limits") {
  Recorder recorder;
  auto session = std::make_unique<Session>(EventSink());
  CHECK(session->wait_for(0) == Outcome::ok);
  RunOptions options;
  options.write_run = false;
  session->run_text("while true do end", "endless", options);
  CHECK_FALSE(session->wait_for(0.02));
  CHECK(session->end(kHangSeconds));
  session = std::make_unique<Session>(EventSink());
  session->run_text("string.rep('a', 28):find(string.rep('a?', 28) .. string.rep('a', 28))", "long", options);
  REQUIRE(let_work(0.5));  // enough to start the script and enter find, which takes many seconds
  CHECK_FALSE(session->end(0.05));
}

TEST_CASE("a line that is evaluated gives its results or its error to the caller") {
  Recorder recorder;
  std::promise<std::pair<bool, std::string>> good, bad;
  const auto to = [](auto& promise) {
    return [&promise](bool ok, std::string text) { promise.set_value({ok, std::move(text)}); };
  };
  recorder.session.evaluate("1 + 1, 'a'", to(good));
  CHECK(good.get_future().get() == std::pair(true, std::string("2\n\"a\"")));
  recorder.session.evaluate("error 'no'", to(bad));
  const auto [ok, text] = bad.get_future().get();
  CHECK_FALSE(ok);
  CHECK(text.find("no") != std::string::npos);
  CHECK(recorder.output() == "");
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
