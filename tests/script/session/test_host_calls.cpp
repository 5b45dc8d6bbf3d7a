// The wall between a session and the code of its host: whatever that throws, and wherever it waits for or
// ends the session.
#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "runtime/ops.h"
#include "runtime/tape/backward.h"
#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

struct Odd {};

// Ops whose shape, kernel or gradient throws something else than a std::exception.
Operands same(const Call& call) { return {call.in[0] * 1.0}; }
void shape_like(Call& call) { call.emit(call.in[0].shape(), call.in[0].dtype()); }
void copy_floats(const Call& call) {
  const std::vector<float> values = call.in[0].to_vector<float>();
  std::copy(values.begin(), values.end(), call.out[0].data<float>());
}
const Op kBadCompose{.name = "bad_compose",
                     .doc = "Fails.",
                     .inputs = {{"input"}},
                     .compose = [](const Call&) -> Operands { throw 42; },
                     .family = OpFamily::other};
const Op kBadShape{.name = "bad_shape",
                   .doc = "Fails.",
                   .inputs = {{"input"}},
                   .shape = [](Call&) { throw "no shape"; },
                   .cpu = copy_floats,
                   .family = OpFamily::other};
const Op kBadCpu{.name = "bad_cpu",
                 .doc = "Fails.",
                 .inputs = {{"input"}},
                 .shape = shape_like,
                 .cpu = [](const Call&) { throw Odd(); },
                 .family = OpFamily::other};
const Op kBadVjp{.name = "bad_vjp",
                 .doc = "Fails.",
                 .inputs = {{"input"}},
                 .shape = shape_like,
                 .cpu = copy_floats,
                 .vjp = [](Backward&) { throw std::string("no gradient"); },
                 .reads = {{}},
                 .family = OpFamily::other};
const Op kUncomputed{.name = "uncomputed",
                     .doc = "Has an output that nothing computes.",
                     .inputs = {{"input"}},
                     .shape = shape_like,
                     .family = OpFamily::other};
const Op kUndefined{.name = "undefined_result",
                    .doc = "Returns no tensor.",
                    .inputs = {{"input"}},
                    .compose = [](const Call&) -> Operands { return {Tensor()}; },
                    .family = OpFamily::other};

std::string refusal(Session& session, const Op& op) {
  std::string why;
  CHECK_FALSE(session.add_op(op, &why));
  CHECK_FALSE(session.add_op(op));
  return why;
}

}  // namespace

TEST_CASE("whatever a function or an op of the host throws is an error that a script can catch") {
  Recorder recorder;
  Session& session = recorder.session;
  CHECK(session.add_function("int", [](const TensorList&) -> TensorList { throw 42; }));
  CHECK(session.add_function("odd", [](const TensorList&) -> TensorList { throw Odd(); }));
  CHECK(session.add_function("text", [](const TensorList&) -> TensorList { throw "no luck"; }));
  CHECK(session.add_function("nothing", [](const TensorList&) -> TensorList { return {Tensor()}; }));
  for (const Op* op : {&kBadCompose, &kBadShape, &kBadCpu, &kBadVjp, &kUncomputed, &kUndefined})
    CHECK(session.add_op(*op));
  CHECK(recorder.finish(R"(
    local lg = require "lunagrad"
    local x = lg.ones(2, {requires_grad = true})
    for _, name in ipairs {"int", "odd", "text", "nothing", "bad_compose", "bad_shape", "bad_cpu", "uncomputed",
                           "undefined_result"} do
      print(select(2, pcall(lg.host[name], x)))
    end
    print(select(2, pcall(function() lg.host.bad_vjp(x):sum():backward() end)))
    print(lg.ones(2):sum():item()))") == Outcome::ok);
  const std::string said = recorder.output();
  INFO(said);
  for (const char* part :
       {"host.int threw the int 42, not a std::exception\n", "host.odd threw a value of type ",
        "host.text threw: no luck\n", "host.nothing: the program's function returned an undefined tensor\n",
        "the program's op bad_compose threw the int 42, not a std::exception\n",
        "the program's op bad_shape threw: no shape\n", "the program's op bad_cpu threw a value of type ",
        "the program's op bad_vjp threw: no gradient", "uncomputed: output 1 is no view",
        "undefined_result: its compose() returned an undefined tensor\n"})
    CHECK(said.find(part) != std::string::npos);
  CHECK(said.ends_with("\n2.0\n"));
  // Uncaught, it ends the run as every error does.
  CHECK(recorder.finish("require('lunagrad').host.int()") == Outcome::error);
  CHECK(recorder.error().find("host.int threw the int 42") != std::string::npos);
}

TEST_CASE("set, add_function and add_op refuse what a script cannot use, with the reason") {
  Recorder recorder;
  Session& session = recorder.session;
  std::string why;
  CHECK_FALSE(session.set("x", Tensor(), &why));
  CHECK(why == "set: 'x' is an undefined tensor");
  CHECK_FALSE(session.set("x", Tensor()));
  CHECK_FALSE(session.add_function("f", nullptr, &why));
  CHECK(why == "add_function: 'f' is an empty function");
  const Op good{
      .name = "good", .doc = "input.", .inputs = {{"input"}}, .compose = same, .family = OpFamily::other};
  const auto with = [&](auto change) {
    Op op = good;
    change(op);
    return refusal(session, op);
  };
  CHECK(with([](Op& op) { op.name = nullptr; }) == "add_op: '': it has no name");
  CHECK(with([](Op& op) { op.name = ""; }) == "add_op: '': it has no name");
  CHECK(with([](Op& op) { op.name = "two words"; }) == "add_op: 'two words': its name is no Lua name");
  CHECK(with([](Op& op) { op.name = "_mine"; }).find("begins with _") != std::string::npos);
  CHECK(with([](Op& op) { op.name = "add"; }).find("the engine has an op") != std::string::npos);
  CHECK(with([](Op& op) { op.compose = nullptr; }).find("neither compose() nor shape()") !=
        std::string::npos);
  CHECK(with([](Op& op) {
          op.compose = nullptr;
          op.cpu = copy_floats;
        }).find("cpu() and no shape()") != std::string::npos);
  CHECK(with([](Op& op) { op.inputs = {{nullptr}}; }).find("no Lua name") != std::string::npos);
  CHECK(with([](Op& op) {
          op.inputs = {{"a"}, {"a"}};
        }).find("two arguments have the name 'a'") != std::string::npos);
  CHECK(with([](Op& op) {
          op.params = {{"input", ParamKind::real, 1.0}};
        }).find("two arguments") != std::string::npos);
  CHECK(with([](Op& op) {
          op.params = {{"p", ParamKind::real, 1}};
        }).find("not of the parameter's kind") != std::string::npos);
  CHECK(with([](Op& op) {
          op.params = {{"p", ParamKind::choice, 0}};
        }).find("a choice without names") != std::string::npos);
  CHECK(with([](Op& op) {
          op.inputs = {{"a", false, true}, {"b"}};
        }).find("not the last input") != std::string::npos);
  CHECK(with([](Op& op) { op.order = {"other"}; }).find("no argument") != std::string::npos);
  CHECK(session.add_op(good));
  CHECK(refusal(session, good) == "add_op: 'good' is there already");
  CHECK_FALSE(session.add_function(
      "good", [](const TensorList& in) { return in; }, &why));
  CHECK(session.add_function("f", [](const TensorList& in) { return in; }));
  CHECK(with([](Op& op) { op.name = "f"; }) == "add_op: 'f' is a function");
  CHECK(recorder.finish("local lg = require 'lunagrad' print(lg.host.good(lg.ones(1) * 3):item())") ==
        Outcome::ok);
  CHECK(recorder.output() == "3.0\n");
}

TEST_CASE("a value of lg.host that cannot be read does not end the process") {
  Recorder recorder;
  recorder.run(R"(
    local lg = require "lunagrad"
    local big = lg.zeros(1 << 26)
    lg.host.big, lg.host.small = big, 7
    print("go")
    while true do big:add_(1) end)");
  REQUIRE(recorder.printed("go"));
  REQUIRE(let_work(0.1));
  recorder.session.interrupt();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.session.get("small").item() == 7);
}

TEST_CASE("a sink and callbacks that throw are reported, and the run goes on") {
  int errors = 0;
  std::string output, reported;
  std::atomic<int> calls{0};
  Session session([&](const Event& event) {
    ++calls;
    if (event.kind == Event::Kind::error) {
      ++errors;
      reported = event.text;
    }
    if (event.kind != Event::Kind::output) return;
    output += event.text;
    throw 42;
  });
  RunOptions options;
  options.write_run = false;
  session.run_text("print('one') print('two')", "test", options);
  CHECK(session.wait() == Outcome::ok);
  CHECK(output == "one\ntwo\n");
  CHECK(errors == 1);
  CHECK(reported == "the program's event sink failed: the event sink threw the int 42, not a std::exception");

  Recorder recorder;
  recorder.session.eval("x = 1", [](bool) { throw 42; });
  recorder.session.complete("pri", [](std::vector<std::string>) { throw std::runtime_error("no room"); });
  recorder.session.find_leaks([] { throw Odd(); });
  CHECK(recorder.saw(Event::Kind::error, 3));
  CHECK(recorder.texts(Event::Kind::error).find("a callback of the program threw the int 42") !=
        std::string::npos);
  CHECK(recorder.texts(Event::Kind::error).find("no room") != std::string::npos);
  CHECK(recorder.finish("print(x)") == Outcome::ok);
}

TEST_CASE("on the session's thread wait() and step_and_wait() are errors") {
  Recorder recorder;
  Session& session = recorder.session;
  session.add_function("wait", [&](const TensorList&) -> TensorList {
    session.wait();
    return {};
  });
  session.add_function("step", [&](const TensorList&) -> TensorList {
    session.step_and_wait();
    return {};
  });
  CHECK(recorder.finish(R"(
    local lg = require "lunagrad"
    print(pcall(lg.host.wait))
    print(pcall(lg.host.step)))") == Outcome::ok);
  CHECK(recorder.output().find("wait: called on the session's own thread") != std::string::npos);
  CHECK(recorder.output().find("step_and_wait: called on the session's own thread") != std::string::npos);
}

TEST_CASE("a session may be destroyed in its own callbacks and functions") {
  RunOptions options;
  options.write_run = false;
  for (const std::string where : {"sink", "function", "done"}) {
    CAPTURE(where);
    std::promise<void> destroyed;
    std::atomic<bool> gone{false};
    std::atomic<int> later{0};
    std::unique_ptr<Session> session;
    const auto destroy = [&] {
      session.reset();
      gone = true;
      destroyed.set_value();
    };
    // The thread may go on for a moment after the promise: what it calls then must not be ours.
    session = std::make_unique<Session>([&](const Event& event) {
      if (gone) ++later;
      if (where == "sink" && event.kind == Event::Kind::output) destroy();
    });
    session->add_function("end", [&](const TensorList&) -> TensorList {
      if (gone) ++later;
      if (where == "function") destroy();
      return {};
    });
    if (where == "done")
      session->eval("return 1", [&](bool) { destroy(); });
    else
      session->run_text(
          "local lg = require 'lunagrad' local f = lg.host['end'] "
          "if f then pcall(f) end print('x') while true do pcall(f) pcall(print, 1) end",
          "test", options);
    destroyed.get_future().wait();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(later == 0);
  }
}

TEST_CASE("a session behind a call of Lua's library that does not end is left after ten seconds" *
          doctest::skip(!long_run())) {
  std::atomic<bool> gone{false};
  std::atomic<int> later{0};
  std::promise<void> began;
  auto session = std::make_unique<Session>([&](const Event& event) {
    if (gone) ++later;
    if (event.kind == Event::Kind::output) began.set_value();
  });
  RunOptions options;
  options.write_run = false;
  // Ends after some 20 s, which shows that the thread then ends quietly.
  session->run_text("print('go') local s = ('a'):rep(1600) local _ = s:find(('.-'):rep(4) .. 'b')", "test",
                    options);
  began.get_future().wait();
  const double start = seconds_of(CLOCK_MONOTONIC);
  session.reset();
  gone = true;
  const double took = seconds_of(CLOCK_MONOTONIC) - start;
  CHECK(took > 5);
  CHECK(took < 15);
  CHECK(later == 0);
}

TEST_SUITE_END();
