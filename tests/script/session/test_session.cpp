// A session from the outside: states, commands at safe points, events and results.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <future>

#include "folders.h"
#include "tests/support/program.h"
#include "tests/support/recorder.h"

TEST_SUITE_BEGIN("threads");

using namespace lunagrad;
using namespace lunagrad::tests;

namespace {

// A model of three numbers that needs lunagrad.core only, not the Lua library.
const char* const kSessionTraining = R"(
local lg = require "lunagrad.core"
local w = lg.ones(3, {requires_grad = true})
for step in lg.run.steps(steps or 1000000) do
  local loss = (w * w):sum()
  loss:backward()
  w.grad = nil
  lg.run.log{loss = loss}
end
print("finished")
)";

}  // namespace

TEST_CASE("a session runs a script, forwards its output and reports how it ended") {
  Recorder recorder;
  CHECK(recorder.finish("print('one', 2, nil) io.write('three', 4, '\\n')") == Outcome::ok);
  CHECK(recorder.output() == "one\t2\tnil\nthree4\n");
  const auto states = recorder.events(Event::Kind::state);
  REQUIRE(states.size() == 2);
  CHECK(states[0].state == SessionState::running);
  CHECK(states[1].state == SessionState::idle);
  const auto ended = recorder.events(Event::Kind::ended);
  REQUIRE(ended.size() == 1);
  CHECK(ended[0].exit_code == 0);
}

TEST_CASE("each run has a fresh Lua state") {
  Recorder recorder;
  CHECK(recorder.finish("x = 1") == Outcome::ok);
  CHECK(recorder.finish("print(x)") == Outcome::ok);
  CHECK(recorder.output() == "nil\n");
}

TEST_CASE("a script gets its arguments as arg and as varargs") {
  Recorder recorder;
  RunOptions options;
  options.arguments = {"a", "b c"};
  CHECK(recorder.finish("print(select('#', ...), (...), #arg, arg[2])", options) == Outcome::ok);
  CHECK(recorder.output() == "2\ta\t2\tb c\n");
}

TEST_CASE("an error has its line and a traceback") {
  Recorder recorder;
  CHECK(recorder.finish("local function f()\n  error('no such luck')\nend\nf()") == Outcome::error);
  CHECK(recorder.error().starts_with("test:2: no such luck\n"));
  CHECK(recorder.error().find("test:4") != std::string::npos);
  const auto errors = recorder.events(Event::Kind::error);
  CHECK(errors[0].place.line == 2);
}

TEST_CASE("the kind of an error decides the outcome") {
  Recorder recorder;
  CHECK(recorder.finish("local x = = 1") == Outcome::error);
  CHECK(recorder.error().find("test:1:") != std::string::npos);
  recorder.session.run_file("/nonexistent/train.lua");
  CHECK(recorder.session.wait() == Outcome::file);
  RunOptions options;
  options.device = "abacus";
  CHECK(recorder.finish("print(1)", options) == Outcome::device);
  CHECK(recorder.finish("local x = require('lunagrad.core').zeros(1 << 45)") == Outcome::memory);
  CHECK(recorder.finish("print(1 + 1)") == Outcome::ok);
}

TEST_CASE("an interrupt ends loops that catch errors") {
  const char* const loops[] = {
      "while true do end",
      "while true do pcall(function() while true do end end) end",
      "while true do pcall(pcall, function() while true do pcall(error) end end) end",
      "local function f() return f() end f()",
      "::again:: goto again",
      "coroutine.wrap(function() while true do end end)()",
      "while true do local c = coroutine.create(function() while true do pcall(error) end end) "
      "coroutine.resume(c) end",
      "xpcall(function() while true do end end, function() while true do end end)",
      "table.sort({3, 2, 1}, function() while true do end end)",
      "(('x'):rep(10)):gsub('x', function() while true do end end)",
      "while true do local c <close> = setmetatable({}, {__close = function() while true do end end}) end",
      "local lg = require 'lunagrad.core' local a = lg.ones(4) while true do pcall(function() a = a + 1 end) "
      "end",
  };
  for (const std::string loop : loops) {
    CAPTURE(loop);
    Recorder recorder;
    recorder.run("print('go'); " + loop);
    REQUIRE(recorder.printed("go"));
    CHECK(let_work(0.005));
    recorder.session.interrupt();
    const double start = process_seconds();
    CHECK(recorder.session.wait() == Outcome::stopped);
    CHECK(process_seconds() - start < kStopSeconds);
    CHECK(recorder.events(Event::Kind::error).empty());
    CHECK(recorder.finish("print('after')") == Outcome::ok);
  }
}

TEST_CASE("an interrupt reaches into a kernel") {
  Recorder recorder;
  recorder.run(
      "local lg = require 'lunagrad.core' local a = lg.ones(4096, 4096) print('go') "
      "while true do local _ = a:matmul(a) end");
  REQUIRE(recorder.printed("go"));
  CHECK(let_work(0.02));
  recorder.session.interrupt();
  const double start = process_seconds();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(process_seconds() - start < 1.0);
  CHECK(recorder.finish("local lg = require 'lunagrad.core' print(lg.ones(2):sum():item())") == Outcome::ok);
  CHECK(recorder.output().ends_with("2.0\n"));
}

TEST_CASE("a pause takes effect at once, and a stop ends the paused script") {
  Recorder recorder;
  recorder.run("print('go') while true do n = (n or 0) + 1 end");
  REQUIRE(recorder.pauses_after("go"));
  CHECK(recorder.eval("before = n"));
  // Between two evaluations the session waits in its pause, where the script might continue.
  for (int i = 0; i < 100; ++i) CHECK(recorder.eval("assert(n == before)"));
  recorder.session.stop();
  const double start = process_seconds();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(process_seconds() - start < kStopSeconds);
}

TEST_CASE("a console line reads and writes the locals of the script's active functions") {
  Recorder recorder;
  recorder.run(
      "lg = require 'lunagrad' local rate, model, hidden = 1, lg.nn.Linear(2, 3), 'outer' unset = 'global'\n"
      "local function train(n)\n"
      "  local hidden, unset, leave = 'inner', nil, false\n"
      "  print('go') while not leave do end\n"
      "  return hidden, unset\n"
      "end\n"
      "print(train(7)) print(rate)");
  REQUIRE(recorder.pauses_after("go"));
  CHECK(recorder.eval("print(rate, model, hidden, n)"));
  CHECK(recorder.output().ends_with("1\tLinear(2, 3)  # 9 parameters\tinner\t7\n"));
  std::promise<std::vector<std::string>> found;
  recorder.session.complete("model.weigh",
                            [&](std::vector<std::string> names) { found.set_value(std::move(names)); });
  CHECK(found.get_future().get() == std::vector<std::string>{"weight"});
  CHECK(recorder.eval("hidden = hidden .. '!' print(hidden) rate = 0.5 other = 3"));
  CHECK(recorder.output().ends_with("\ninner!\n"));
  CHECK(recorder.eval("function later() return rate, other end unset = 4"));
  CHECK(recorder.eval("leave = true"));
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output().ends_with("\ninner!\t4\n0.5\n"));
  CHECK(recorder.eval("print(rate, other, unset, later())"));  // the locals are gone with their functions
  CHECK(recorder.output().ends_with("nil\t3\tglobal\tnil\t3\n"));
}

TEST_CASE("a paused script continues where it was") {
  Recorder recorder;
  recorder.run("print('go') while not leave do end print('left')");
  REQUIRE(recorder.pauses_after("go"));
  CHECK(recorder.eval("leave = true"));
  CHECK(recorder.session.state() == SessionState::paused);
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "go\nleft\n");
}

TEST_CASE("step runs exactly to the next step boundary") {
  Recorder recorder;
  recorder.run(std::string("print('go') ") + kSessionTraining);
  REQUIRE(recorder.pauses_after("go"));
  recorder.session.step();  // to the end of the current step
  REQUIRE(recorder.pauses_again());
  const auto steps = [&] { return recorder.events(Event::Kind::step).back().step; };
  for (int i = 0; i < 5; ++i) {
    const int64_t before = steps();
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
    CHECK(steps() == before + 1);
  }
  recorder.session.stop();
  CHECK(recorder.session.wait() == Outcome::stopped);
}

TEST_CASE("a stop lets the step end; outside of steps it acts at once") {
  Recorder recorder;
  recorder.run(R"(
    local run = require("lunagrad.core").run
    for step in run.steps(100) do
      print("begin " .. step)
      local t = os.clock() while os.clock() - t < 0.2 do end
      print("end " .. step)
    end)");
  REQUIRE(recorder.printed("begin 1"));
  recorder.session.stop();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(recorder.output() == "begin 1\nend 1\n");

  recorder.run("print('go') while true do end");
  REQUIRE(recorder.printed("go"));
  recorder.session.stop();
  const double start = process_seconds();
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK(process_seconds() - start < kStopSeconds);
}

TEST_CASE("silence() names the library call that keeps a stop waiting") {
  Recorder recorder;
  CHECK_FALSE(recorder.session.silence());
  // The command waits for a file, so that it cannot end before the test has looked.
  const test::Folder folder;
  const std::string begun = folder.path() + "/begun", end = folder.path() + "/end";
  recorder.session.run_text("\n\nos.execute('touch " + begun + "; until [ -e " + end +
                                " ]; do sleep 0.01; done')\nwhile true do end",
                            "test");
  REQUIRE(eventually([&] { return std::filesystem::exists(begun); }));
  CHECK_FALSE(recorder.session.silence());  // no stop waits for it
  recorder.session.pause();
  recorder.session.interrupt();
  const auto silence = recorder.session.silence();
  REQUIRE(silence);
  CHECK(silence->call == "os.execute");
  CHECK(silence->place == SourcePlace{"test", 3});
  folder.write("end", "");
  CHECK(recorder.session.wait() == Outcome::stopped);
  CHECK_FALSE(recorder.session.silence());
}

TEST_CASE("errors of Lua's library name its functions and the script's line") {
  Recorder recorder;
  CHECK(recorder.finish("print(pcall(string.rep, {}))\nlocal s = 'x'\ns:find()") == Outcome::error);
  CHECK(recorder.error().starts_with("test:3: bad argument #1 to 'find'"));
  CHECK(recorder.output().find("bad argument #1 to 'string.rep' (string expected, got table)") !=
        std::string::npos);
  CHECK(recorder.finish("assert(io.lines('/dev/null')() == nil) local s, n = ('aab'):gsub('a', string.upper) "
                        "print(s, n)") == Outcome::ok);
  CHECK(recorder.output().ends_with("AAb\t2\n"));
}

TEST_CASE("a new run replaces the running one") {
  Recorder recorder;
  recorder.run("print('first') while true do pcall(error) end");
  REQUIRE(recorder.printed("first"));
  CHECK(recorder.finish("print('second')") == Outcome::ok);
  const auto ended = recorder.events(Event::Kind::ended);
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].outcome == Outcome::stopped);
  CHECK(ended[1].outcome == Outcome::ok);
}

TEST_CASE("a session may be destroyed while its script runs, is paused, or evaluates") {
  for (const char* code : {"print('go') while true do end", "print('go') while true do pcall(error) end"}) {
    Recorder recorder;
    recorder.run(code);
    REQUIRE(recorder.printed("go"));
  }
  {
    Recorder recorder;
    recorder.run("print('go') while true do end");
    REQUIRE(recorder.pauses_after("go"));
  }
  Recorder recorder;
  recorder.session.eval("print('go') while true do end");
  REQUIRE(recorder.printed("go"));
}

TEST_CASE("eval shows values as a prompt does and survives errors") {
  Recorder recorder;
  CHECK(recorder.eval("1 + 1, 'a'"));
  CHECK(recorder.output() == "2\n\"a\"\n");
  CHECK(recorder.eval("x = 5"));
  CHECK(recorder.eval("_ + x"));
  CHECK(recorder.output().ends_with("7\n"));
  CHECK(recorder.eval("_ * 6; "));
  CHECK(recorder.output().ends_with("7\n"));
  CHECK(recorder.eval("_"));
  CHECK(recorder.output().ends_with("7\n42\n"));
  CHECK(recorder.eval("{1, 'b', key = {2}}"));
  CHECK(recorder.output().find("{1, \"b\", key = table: ") != std::string::npos);
  CHECK_FALSE(recorder.eval("error('no')"));
  CHECK(recorder.error() == "input:1: no");
  CHECK_FALSE(recorder.eval("1 +"));
  CHECK(recorder.eval("x"));
}

TEST_CASE("an interrupt ends an evaluation and leaves the paused script alone") {
  Recorder recorder;
  recorder.run("print('go') while not leave do end");
  REQUIRE(recorder.pauses_after("go"));
  std::promise<bool> done;
  recorder.session.eval("print('spin') while true do pcall(error) end", [&](bool ok) { done.set_value(ok); });
  REQUIRE(recorder.printed("spin"));
  recorder.session.interrupt();
  CHECK_FALSE(done.get_future().get());
  CHECK(recorder.session.state() == SessionState::paused);
  CHECK(recorder.eval("leave = true"));
  recorder.session.resume();
  CHECK(recorder.session.wait() == Outcome::ok);
}

TEST_CASE("os.exit ends the script with its code, through pcall and coroutines") {
  Recorder recorder;
  recorder.finish("pcall(os.exit, 7) print('not reached')");
  CHECK(recorder.events(Event::Kind::ended).back().exit_code == 7);
  recorder.finish("coroutine.wrap(function() pcall(os.exit, false) end)() while true do end");
  CHECK(recorder.events(Event::Kind::ended).back().exit_code == 1);
  CHECK(recorder.finish("os.exit(true) print('not reached')") == Outcome::ok);
  CHECK(recorder.output().empty());
}

TEST_CASE("parameters are typed by their default and replaced by --set") {
  Recorder recorder;
  RunOptions options;
  options.set = {{"lr", "3e-4"}, {"layers", "4"}, {"name", "x=y"}, {"fast", "true"}};
  CHECK(recorder.finish(R"(
    local run = require("lunagrad.core").run
    print(run.param("lr", 0.1, {min = 1e-5, max = 1, log = true}), run.param("layers", 2),
          run.param("name", "a"), run.param("fast", false), run.param("width", 8)))",
                        options) == Outcome::ok);
  CHECK(recorder.output() == "0.0003\t4\tx=y\ttrue\t8\n");
  const std::vector<ParamInfo> params = recorder.session.params();
  REQUIRE(params.size() == 5);
  CHECK(params[0].name == "lr");
  CHECK(params[0].log);
  CHECK(*params[0].max == 1);
  CHECK(params[1].integer);
  CHECK(params[0].place.line == 3);
}

TEST_CASE("a --set that does not fit is a usage error") {
  Recorder recorder;
  const std::string script = R"(
    local run = require("lunagrad.core").run
    local lr, n = run.param("lr", 0.1, {max = 1}), run.param("n", 2)
    for _ in run.steps(1) do print("step") end)";
  const std::pair<std::map<std::string, std::string>, const char*> cases[] = {
      {{{"rate", "1"}}, "the script declares no parameter 'rate'; it declares lr, n"},
      {{{"lr", "fast"}}, "'lr' is a number"},
      {{{"lr", "2"}}, "'lr' is outside [-inf, 1]"},
      {{{"n", "1.5"}}, "'n' is an integer"}};
  for (const auto& [set, message] : cases) {
    RunOptions options;
    options.set = set;
    CHECK(recorder.finish(script, options) == Outcome::usage);
    CHECK(recorder.error().find(message) != std::string::npos);
  }
  RunOptions options;
  options.set = {{"rate", "1"}};
  CHECK(recorder.finish("print('no parameters')", options) == Outcome::usage);
  CHECK(recorder.output() == "no parameters\n");
}

TEST_CASE("a live parameter changes at a step boundary") {
  Recorder recorder;
  recorder.run(R"(
    local run = require("lunagrad.core").run
    local lr = run.live("lr", 0.5, {min = 0, max = 1})
    for step in run.steps() do
      if step == 1 then print("go") end
      local before = lr()
      for _ = 1, 1000 do assert(lr() == before) end
      if before ~= 0.5 then print(before) break end
    end)");
  REQUIRE(recorder.printed("go"));
  CHECK_FALSE(recorder.session.set_param("lr", "2"));
  CHECK_FALSE(recorder.session.set_param("lr", "fast"));
  CHECK_FALSE(recorder.session.set_param("rate", "0.1"));
  CHECK(recorder.session.set_param("lr", "0.25"));
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.output() == "go\n0.25\n");
  CHECK(recorder.events(Event::Kind::param).back().metrics[0].second == 0.25);
}

TEST_CASE("names are completed: globals, fields, methods of a tensor") {
  Recorder recorder;
  CHECK(recorder.eval("lg = require 'lunagrad.core' value = {alpha = 1, alps = 2, beta = 3} t = lg.ones(2)"));
  const auto complete = [&](const std::string& line) {
    std::promise<std::vector<std::string>> found;
    recorder.session.complete(line,
                              [&](std::vector<std::string> names) { found.set_value(std::move(names)); });
    return found.get_future().get();
  };
  CHECK(complete("print(value.al") == std::vector<std::string>{"alpha", "alps"});
  CHECK(complete("valu") == std::vector<std::string>{"value"});
  CHECK(complete("x = t:softma") == std::vector<std::string>{"softmax"});
  CHECK(complete("t.requires_grad") == std::vector<std::string>{"requires_grad", "requires_grad_"});
  CHECK(complete("string.for") == std::vector<std::string>{"format"});
  CHECK(complete("nothing.here").empty());
}

TEST_CASE("parts of the library that are not loaded yet are completed, too") {
  Recorder recorder;
  const auto complete = [&](const std::string& line) {
    std::promise<std::vector<std::string>> found;
    recorder.session.complete(line,
                              [&](std::vector<std::string> names) { found.set_value(std::move(names)); });
    return found.get_future().get();
  };
  CHECK(complete("lg.opti") == std::vector<std::string>{"optim"});
  CHECK(complete("lg.nn.Line") == std::vector<std::string>{"Linear"});
  CHECK(complete("lg.nn.functional.cross_entropy") == std::vector<std::string>{"cross_entropy"});
  CHECK(complete("lg.none.Line").empty());
}

TEST_CASE("the tape of the latest backward pass is shown, and the values of a single step") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  recorder.run(std::string("print('go') ") + kSessionTraining);
  REQUIRE(recorder.pauses_after("go"));
  for (int i = 0; i < 2; ++i) {
    recorder.session.step();
    REQUIRE(recorder.pauses_again());
  }
  const std::shared_ptr<const TapeSnapshot> tape = recorder.session.tape();
  REQUIRE(tape);
  REQUIRE(tape->nodes.size() == 3);
  CHECK(tape->nodes[0].op == "sum");
  CHECK(tape->nodes[1].op == "mul");
  CHECK(tape->nodes[2].op == "leaf");
  CHECK(tape->nodes[1].place.line == 5);
  CHECK(tape->nodes[1].inputs[0].node == tape->nodes[2].id);
  CHECK(tape->nodes[1].inputs[0].saved);
  CHECK(tape->nodes[1].bytes == 12);
  CHECK(tape->nodes[1].backward_ns > 0);

  const auto inspect = [&](int node, Which which) {
    std::promise<SliceView> view;
    recorder.session.inspect({-1, tape->nodes[size_t(node)].id, false, 0, which}, {}, {},
                             [&](SliceView found) { view.set_value(std::move(found)); });
    return view.get_future().get();
  };
  const SliceView product = inspect(1, Which::output);
  CHECK(product.available);
  CHECK(product.count == 3);
  CHECK(product.cells == std::vector<double>{1, 1, 1});
  CHECK(product.statistics.mean == 1);
  const SliceView gradient = inspect(2, Which::gradient);
  CHECK(gradient.available);
  CHECK(gradient.cells == std::vector<double>{2, 2, 2});
  CHECK(inspect(1, Which::gradient).cells == std::vector<double>{1, 1, 1});
  CHECK(inspect(0, Which::output).cells == std::vector<double>{3});

  recorder.session.stop();
  CHECK(recorder.session.wait() == Outcome::stopped);
}

TEST_CASE("a value of a step that was not captured is reported so") {
  Recorder recorder;
  recorder.session.watch_tape(true);
  CHECK(recorder.finish(std::string("steps = 3 ") + kSessionTraining) == Outcome::ok);
  const std::shared_ptr<const TapeSnapshot> tape = recorder.session.tape(1);
  REQUIRE(tape);
  std::promise<SliceView> view;
  recorder.session.inspect({1, tape->nodes[1].id}, {}, {},
                           [&](SliceView found) { view.set_value(std::move(found)); });
  const SliceView gone = view.get_future().get();
  CHECK_FALSE(gone.available);
  CHECK(gone.reason == "Not captured");
}

TEST_CASE("two sessions do not see each other") {
  Recorder one, two;
  RunOptions options;
  options.seed = 1;
  one.run("local lg = require 'lunagrad.core' for i = 1, 200 do x = lg.randn(4):sum():item() end print(x)",
          options);
  two.run("local lg = require 'lunagrad.core' for i = 1, 200 do x = lg.randn(4):sum():item() end print(x)",
          options);
  CHECK(one.session.wait() == Outcome::ok);
  CHECK(two.session.wait() == Outcome::ok);
  CHECK(one.output() == two.output());
}

TEST_CASE("Lua: a run's parameters, steps, metrics and state") {
  const test::Folder temporary;
  const std::string folder = temporary.path() + "/run";
  Recorder recorder;
  RunOptions options;
  options.run_directory = folder;
  options.set = {{"width", "32"}};
  recorder.session.run_file(LUNAGRAD_SOURCE_DIR "/tests/lua/test_run.lua", options);
  CHECK(recorder.session.wait() == Outcome::ok);
  CHECK(recorder.error() == "");
  CHECK(recorder.output() == "test_run is through\n");
  std::ifstream in(folder + "/metrics.jsonl");
  std::vector<std::string> rows, others;
  for (std::string line; std::getline(in, line);)
    (line.find("\"broken\"") == std::string::npos ? others : rows).push_back(line);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].find("\"metrics\":{\"broken\":0,\"step_squared\":1,\"total\":1}") != std::string::npos);
  CHECK(rows[1].find("\"broken\":\"NaN\"") != std::string::npos);
  CHECK(rows[1].find("\"total\":2}") != std::string::npos);
  CHECK(rows[2].find("\"broken\":\"-Infinity\"") != std::string::npos);
  const auto count = [&](const char* part) {
    return std::count_if(others.begin(), others.end(),
                         [&](const auto& line) { return line.find(part) != std::string::npos; });
  };
  CHECK(count("\"image\":{\"batch\":\"images/batch-00000000.png\"}") == 1);
  CHECK(count("\"histogram\":{\"weights\":{\"count\":2,") == 1);
  // Steps 1 and 3 are watched.
  CHECK(count("\"watch\":{\"0\":{\"activation_norm\":") == 2);
  CHECK(count("\"histogram\":{\"gradient/0.weight\"") == 2);
}

TEST_SUITE_END();
