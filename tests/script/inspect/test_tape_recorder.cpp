// The tapes that a run keeps in its folder.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.h"

using nlohmann::json;

namespace {

// Second-order gradients inside a step: the outer pass is the one with the most nodes.
const char* const kTraining = R"(
local lg = require "lunagrad"
local nn = lg.nn
local broken = lg.run.param("broken", false)
local model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
local opt = lg.optim.SGD(model:parameters(), {lr = 0.01})
for step in lg.run.steps(lg.run.param("steps", 25)) do
  local x = lg.ones(2, 3)
  opt:zero_grad()
  local loss = model(x):square():mean()
  loss:backward()
  if broken and step == 10 then (model[1].weight:sum() * (0 / 0)):backward() end
  local small = (x:detach():requires_grad_() * 2):sum()
  small:backward()
  opt:step()
  lg.run.log{loss = loss}
end
)";

std::vector<json> tapes_of(const lunagrad::test::Folder& folder, const std::string& run) {
  std::vector<json> tapes;
  std::istringstream lines(lunagrad::test::read_file(folder.path() + "/" + run + "/tape.jsonl"));
  for (std::string line; std::getline(lines, line);) tapes.push_back(json::parse(line));
  return tapes;
}

}  // namespace

TEST_CASE("a run keeps the tapes of steps 1, 10, 100 and of the last, with the numbers of their nodes") {
  const lunagrad::test::Folder folder;
  folder.write("train.lua", kTraining);
  const lunagrad::test::Finished run = folder.run({"run", "train.lua", "--run-dir", "a"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const std::vector<json> tapes = tapes_of(folder, "a");
  REQUIRE(tapes.size() == 3);
  CHECK(tapes[0]["step"] == 1);
  CHECK(tapes[1]["step"] == 10);
  CHECK(tapes[2]["step"] == 25);
  // The nodes are written once.
  const json& nodes = tapes[0]["nodes"];
  CHECK(tapes[1]["like"] == 1);
  CHECK(!tapes[2].contains("nodes"));
  CHECK(nodes.size() == tapes[2]["values"].size());
  CHECK(nodes[0]["op"] == "mean");
  CHECK(nodes[0]["line"] == 10);
  CHECK(nodes[0]["in"][0][0] == 1);
  size_t weights = 0;
  std::istringstream rows(lunagrad::test::read_file(folder.path() + "/a/metrics.jsonl"));
  std::string row;
  std::getline(rows, row);
  CHECK(tapes[0]["values"][0][0][4].get<double>() ==
        doctest::Approx(json::parse(row)["metrics"]["loss"].get<double>()).epsilon(1e-5));
  CHECK(tapes[0]["values"][0][1][4] == 1.0);  // d loss / d loss
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]["op"] != "leaf" || !nodes[i].contains("name")) continue;
    ++weights;
    CHECK(tapes[1]["values"][i][0].is_array());
    CHECK(tapes[1]["values"][i][1].is_array());
  }
  CHECK(weights == 4);
}

TEST_CASE("a tape keeps the figures of what no node made, and sketches that tell values apart") {
  const lunagrad::test::Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.ones(4, 3, {requires_grad = true})
for step in lg.run.steps(10) do
  local x = lg.arange(0, 20):reshape(5, 4):float()
  local labels = lg.tensor({0, 1, 2, 0, 1}, {dtype = "i64"})
  if step == 10 then labels = labels:roll(1) end
  lg.nn.functional.cross_entropy(x:matmul(w) * 0.1, labels):backward()
end
)");
  const lunagrad::test::Finished run = folder.run({"run", "train.lua", "--run-dir", "a"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const std::vector<json> tapes = tapes_of(folder, "a");
  REQUIRE(tapes.size() == 2);
  const auto source = [&](size_t tape, const std::string& operand) -> json {
    for (const json& node : tapes[0]["nodes"])
      for (const json& input : node["in"])
        if (input[0] == -1 && input[1] == operand && input.size() == 5)
          return tapes[tape]["sources"].at(input[4].get<size_t>());
    FAIL("no source is called ", operand);
    return {};
  };
  const json labels = source(0, "target"), moved = source(1, "target");
  REQUIRE(labels.size() == 16);
  const auto part = [](const json& list, size_t begin, size_t end) {
    return std::vector<json>(list.begin() + std::ptrdiff_t(begin), list.begin() + std::ptrdiff_t(end));
  };
  CHECK(part(labels, 0, 4) == std::vector<json>{5, 2, 0, 0});
  CHECK(labels[5] == 2);
  CHECK(part(labels, 0, 8) == part(moved, 0, 8));
  CHECK(part(labels, 8, 16) != part(moved, 8, 16));
  CHECK(source(0, "input") == source(1, "input"));  // the matrix
  CHECK(source(0, "input")[0] == 20);
  CHECK(tapes[0]["nodes"][0]["device"] == "cpu");
}

TEST_CASE("what ran before a smaller pass of the step has its numbers, too") {
  const lunagrad::test::Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.ones(3, {requires_grad = true})
for step in lg.run.steps(2) do
  local early = (w * 2):tanh()
  w:sum():backward()
  early:square():mean():backward()
end
)");
  const lunagrad::test::Finished run = folder.run({"run", "train.lua", "--run-dir", "a"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const json tape = tapes_of(folder, "a").at(0);
  REQUIRE(tape["nodes"].size() == 5);
  for (size_t i = 0; i < 5; ++i) {
    CAPTURE(tape["nodes"][i]["op"]);
    CHECK(tape["values"][i][0].is_array());
    CHECK(tape["values"][i][1].is_array());
  }
}

TEST_CASE("taking down a tape changes no number, and a run without a folder has none") {
  const lunagrad::test::Folder folder;
  folder.write("train.lua", kTraining);
  // 99 and 100 steps: only the first run records step 99.
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a", "--set", "steps=99"}).code == 0);
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "b", "--set", "steps=100"}).code == 0);
  const auto losses = [&](const std::string& run) {
    std::vector<json> found;
    std::istringstream lines(lunagrad::test::read_file(folder.path() + "/" + run + "/metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) found.push_back(json::parse(line)["metrics"]["loss"]);
    return found;
  };
  std::vector<json> longer = losses("b");
  REQUIRE(longer.size() == 100);
  longer.pop_back();
  CHECK(losses("a") == longer);
  folder.write("plain.lua", "local lg = require 'lunagrad'\nlg.ones(2):requires_grad_():sum():backward()");
  REQUIRE(folder.run({"run", "plain.lua"}).code == 0);
  CHECK(!std::filesystem::exists(folder.path() + "/runs"));
}

TEST_CASE("a script without lg.run.steps keeps tapes once it has a folder") {
  const lunagrad::test::Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local w = lg.randn(3):requires_grad_()
local opt = lg.optim.SGD({w}, {lr = 0.1})
for i = 1, 12 do
  local loss = w:square():sum()
  opt:zero_grad() loss:backward() opt:step()
  lg.run.log{loss = loss}
end
)");
  REQUIRE(folder.run({"run", "train.lua", "--run-dir", "a"}).code == 0);
  const std::vector<json> tapes = tapes_of(folder, "a");
  REQUIRE(tapes.size() == 2);
  CHECK(tapes[0]["step"] == 3);
  CHECK(tapes[1]["step"] == 10);
}
