// Probes: values of expressions at the steps of a run, which they cannot change.
#include <doctest/doctest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "script/run/record.h"
#include "script/time/probe_file.h"
#include "script/time/probe_watch.h"
#include "tests/script/time/trainings.h"
#include "tests/support/recorder.h"

using namespace lunagrad;
using namespace lunagrad::tests;
using lunagrad::test::Finished;
using lunagrad::test::Folder;
using nlohmann::json;

namespace {

using Rows = std::vector<std::pair<int64_t, double>>;

Rows rows_of(const std::string& lines) {
  Rows rows;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) {
    const json row = json::parse(line);
    rows.emplace_back(row["step"], row["value"]);
  }
  return rows;
}

Rows logged(const RunRecord& run, const std::string& name) {
  Rows rows;
  for (const MetricPoint& point : run.metrics.at(name)) rows.emplace_back(point.step, point.value);
  return rows;
}

// The scripts with what a probe will read logged from the start.
std::string logging(std::string source) {
  const std::string log = "lg.run.log {loss = loss}\n";
  source.insert(source.find(log) + log.size(), "  lg.run.log {norm = model:parameters()[1].grad:norm()}\n");
  return source;
}

int line_of(const std::string& source, const std::string& text) {
  const size_t at = source.find(text);
  return 1 + int(std::count(source.begin(), source.begin() + std::ptrdiff_t(at), '\n'));
}

}  // namespace

TEST_CASE("a probe reads what the script would have logged, bit for bit") {
  const Folder folder;
  for (const std::string& source : {kCnn, kGpt}) {
    const std::string name = std::to_string(source.size()), script = logging(source);
    folder.write("train.lua", script);
    REQUIRE(folder.run({"run", "train.lua", "--run-dir", name, "--keyframes", "64MiB"}).code == 0);
    const RunRecord run = read_run(folder.path() + "/" + name);
    const Finished whole = folder.run({"probe", name, "model:parameters()[1].grad:norm()", "--json"});
    CAPTURE(whole.err);
    REQUIRE(whole.code == 0);
    CHECK(rows_of(whole.out) == logged(run, "norm"));
    const Finished words = folder.run(
        {"probe", name, "norm of model:parameters()[1].grad", "--json", "--from", "20", "--to", "24"});
    const Rows all = logged(run, "norm");
    CHECK(rows_of(words.out) == Rows(all.begin() + 19, all.begin() + 24));
    const std::string line = std::to_string(line_of(script, "loss:backward()"));
    const Finished losses = folder.run({"probe", name, "loss", "--at", "train.lua:" + line, "--json"});
    CHECK(rows_of(losses.out) == logged(run, "loss"));
    const Finished same =
        folder.run({"probe", name, "loss", "--at", line, "--name", "loss at line", "--log"});
    CHECK(same.out.find("loss at line") != std::string::npos);
    const std::vector<ProbeRows> kept = read_probes(run.folder);
    REQUIRE(kept.size() == 1);
    CHECK(kept[0].name == "loss at line");
    CHECK(kept[0].values == logged(run, "loss"));
  }
}

TEST_CASE("a probe that writes is an error that names what it writes") {
  const Folder folder;
  const std::string extra =
      "counter, tally = 0, {n = 0}\nlocal hidden = {k = 1}\n"
      "function bump() counter = counter + 1 return 1 end\n"
      "function note() tally.n = tally.n + 1 return 1 end\n"
      "function drop() tally.n = nil return 1 end\n"
      "local count = 0\nfunction enclosed() count = count + 1 return 1 end\n"
      "function deep() hidden.k = hidden.k + count return hidden.k end\nlocal rate";
  std::string source = kCnn;
  source.replace(source.find("local rate"), 10, extra);
  folder.write("train.lua", source);
  REQUIRE(folder.run({"run", "train.lua", "--steps", "6", "--run-dir", "a"}).code == 0);
  const auto refused = [&](const std::string& expression, const std::string& fact) {
    const Finished done = folder.run({"probe", "a", expression});
    CAPTURE(expression);
    CAPTURE(done.err);
    CHECK(done.code == 1);
    CHECK(done.out == "");
    CHECK(done.err.find(fact) != std::string::npos);
  };
  refused("model[1].weight:data():add_(1)", "add_");
  refused("lg.no_grad(function() model[1].weight:add_(1) return 1 end)", "add_");
  refused("(function() model[1].weight.grad = nil return 1 end)()", "grad");
  refused("(function() other = 3 return 1 end)()", "'other'");
  refused("bump()", "'counter'");
  refused("note()", "'tally.n'");
  refused("drop()", "'tally.n'");
  refused("enclosed()", "'count'");
  refused("(function() model:eval() return 1 end)()", "training");
  refused("(function() lg.run.log{a = 1} return 1 end)()", "run");
  refused("lg.rand(1)", "random numbers");
  refused("(function() model(lg.ones(1, 1, 8, 8)):sum():backward() return 1 end)()", "");
  refused("(function() optimizer:step() return 1 end)()", "");
  refused("model", "got a");
  refused("'text'", "got a string");
  refused("nil", "got a nil");
  refused("model[1].weight", "shape [4, 1, 3, 3]");
  refused("1, 2", "got 2 values");
  refused("1 +", "probe:1");
  refused("missing.field", "missing");
  CHECK(folder.run({"probe", "a", "deep()", "--json"}).code == 0);  // writes an equal value
}

TEST_CASE("a probe of a live run reads each step and leaves no trace") {
  const Folder folder;
  const std::string script = folder.write("train.lua", kCnn);
  const MadeRun alone = make_run(script, folder.path() + "/alone");
  Rows rows;
  std::vector<std::string> errors;
  const MadeRun probed =
      make_run(script, folder.path() + "/probed", {}, [&](Session& session, const Event& event) {
        if (event.kind == Event::Kind::step && event.step == 10) {
          session.add_probe({0, "norm", "norm of model[1].weight.grad", {}});
          session.add_probe({0, "eval", "model:eval() and 1", {}});
          session.add_probe({0, "draw", "lg.rand(1)", {}});
        }
        if (event.kind != Event::Kind::probe) return;
        if (event.text.empty())
          rows.emplace_back(event.step, event.metrics[0].second);
        else
          errors.push_back(event.text);
      });
  CHECK(probed.fingerprints == alone.fingerprints);
  CHECK(rows.size() == 30);
  CHECK(rows.front().first == 11);
  CHECK(errors.size() == 2);  // each is switched off
  Session session([](const Event&) {});
  std::string why;
  CHECK(session.add_probe({0, "", "1 +", {}}, &why) == 0);
  CHECK(why.find("probe:1") != std::string::npos);
}

TEST_CASE("wrong places and steps of a probe") {
  const Folder folder;
  folder.write("train.lua", kCnn);
  REQUIRE(folder.run({"run", "train.lua", "--steps", "4", "--run-dir", "a"}).code == 0);
  const auto fails = [&](std::vector<std::string> arguments, const std::string& fact) {
    arguments.insert(arguments.begin(), {"probe", "a", "1"});
    const Finished done = folder.run(arguments);
    CAPTURE(done.err);
    CHECK(done.code == 1);
    CHECK(done.err.find(fact) != std::string::npos);
  };
  CHECK(folder.run({"probe", "a", "1", "--at", "x"}).err ==
        "lunagrad probe: --at x: LINE or FILE:LINE expected, such as train.lua:12\n");
  CHECK(folder.run({"probe", "a", "1", "--at", "train.lua:0"}).code == 2);
  fails({"--at", "other.lua:3"}, "was not reached");
  fails({"--from", "3", "--to", "9"}, "steps 3 to 9: the run a has the steps 1 to 4");
  fails({"--from", "3", "--to", "2"}, "steps 3 to 2");
  CHECK(folder.run({"probe", "none", "1"}).code == 6);
}
