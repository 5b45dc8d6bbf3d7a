// `lunagrad compare-devices`: what it prints, its exit codes, and which step it takes.
#include <doctest/doctest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"

using namespace lunagrad::test;
using Json = nlohmann::json;

namespace {

constexpr const char* kTraining = R"(
local lg = require "lunagrad"
local nn = lg.nn
lg.manual_seed(1)
local net = nn.Sequential(nn.Linear(6, 12), nn.GELU(), nn.LayerNorm(12), nn.Linear(12, 3))
local opt = lg.optim.Adam(net:parameters(), {lr = 1e-2})
local x, y = lg.randn(16, 6), lg.randint(0, 3, {16})
local function step()
  local loss = nn.functional.cross_entropy(net(x), y)
  opt:zero_grad() loss:backward() opt:step()
  print("trained")
end
)";

std::string training(const std::string& loop) { return kTraining + loop; }

}  // namespace

TEST_CASE("compare-devices lists the nodes of a step in their order and ends with 0 when they only round") {
  const Folder folder;
  folder.write("train.lua", training("for i in lg.run.steps(9) do step() end"));
  const Finished run = folder.run({"compare-devices", "train.lua", "--with", "f64", "--step", "2"});
  CAPTURE(run.out);
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("step 2: cpu and f64\nnone of "));
  const size_t linear = run.out.find("forward   linear"), gelu = run.out.find("forward   gelu"),
               loss = run.out.find("forward   cross_entropy"), back = run.out.find("backward  cross_entropy"),
               last = run.out.find("backward  net.0.weight");
  CHECK(linear < gelu);
  CHECK(gelu < loss);
  CHECK(loss < back);
  CHECK(back < last);
  CHECK(last != run.out.npos);
  CHECK(run.out.find("net.1 at train.lua:9") != run.out.npos);
  // The script stops after the step, prints on stderr and leaves no folder.
  CHECK(occurrences(run.err, "trained\n") == 2);
  CHECK(run.err.find("warning") == run.err.npos);
  CHECK(folder.run({"runs", "ls"}).out.find("train") == std::string::npos);
}

TEST_CASE("compare-devices --json gives each tensor of each node") {
  const Folder folder;
  folder.write("train.lua", training("for i in lg.run.steps(9) do step() end"));
  const Finished run = folder.run({"compare-devices", "train.lua", "--with", "bf16", "--json"});
  REQUIRE(run.code == 0);
  const Json json = Json::parse(run.out);
  CHECK(json["step"] == 3);
  CHECK(json["wrong"] == 0);
  bool weight = false;
  for (const Json& node : json["nodes"]) {
    REQUIRE(node["tensors"].size() > 0);
    for (const Json& tensor : node["tensors"]) {
      CHECK(tensor["error"].get<double>() <= tensor["allowed"].get<double>());
      weight |= node["op"] == "linear" && node["direction"] == "backward" &&
                tensor["name"] == "gradient of net.0.weight" && tensor["inherited"].get<double>() > 1e-4;
    }
  }
  CHECK(weight);
}

TEST_CASE("compare-devices ends with 7 when a node is wrong by itself, and names it first") {
  const Folder folder;
  folder.write("train.lua", training("for i in lg.run.steps(9) do step() end"));
  // No rounding is allowed: each value that differs in f64 is wrong.
  const Finished run = folder.run({"compare-devices", "train.lua", "--with", "f64", "--tolerance", "0"});
  CAPTURE(run.out);
  CHECK(run.code == 7);
  CHECK(run.out.find(" are wrong by themselves\nwrong: linear (forward) in net.0 at train.lua:9: its output "
                     "[16, 12] differs by ") != run.out.npos);
}

TEST_CASE("without lg.run.steps a step is the optimizer's step, or a backward pass") {
  const Folder folder;
  folder.write("optimizer.lua", training("for i = 1, 5 do step() end"));
  folder.write("plain.lua", R"(
local lg = require "lunagrad"
local w = lg.randn(3):requires_grad_()
for i = 1, 5 do
  (w * i):sin():sum():backward()
  print("passed")
end
)");
  for (const char* step : {"1", "2", "4"}) {
    const Finished optimizer =
        folder.run({"compare-devices", "optimizer.lua", "--with", "f64", "--step", step});
    CAPTURE(optimizer.err);
    CHECK(optimizer.code == 0);
    CHECK(optimizer.out.find("backward  net.0.weight") != std::string::npos);
    const Finished plain = folder.run({"compare-devices", "plain.lua", "--with", "f64", "--step", step});
    CHECK(plain.code == 0);
    CHECK(plain.out.find("forward   sin") != std::string::npos);
    CHECK(int(occurrences(plain.err, "passed\n")) == std::atoi(step) - 1);
  }
  for (const char* script : {"optimizer.lua", "plain.lua"}) {
    const Finished late = folder.run({"compare-devices", script, "--with", "f64", "--step", "6"});
    CHECK(late.code == 2);
    CHECK(late.err.find("--step 6: the script ended before the end of that step") != std::string::npos);
  }
}

TEST_CASE("calls that are deferred are compared with the same call by call") {
  const Folder folder;
  folder.write("train.lua", training("lg.set_deferred(true)\nfor i in lg.run.steps(9) do step() end"));
  folder.write("eager.lua", training("lg.set_deferred(false)\nfor i in lg.run.steps(9) do step() end"));
  const Finished run = folder.run({"compare-devices", "train.lua", "--with", "eager", "--step", "4"});
  CAPTURE(run.out);
  CAPTURE(run.err);
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("step 4: cpu, calls deferred and each call at once\nnone of "));
  const Finished eager = folder.run({"compare-devices", "eager.lua", "--with", "eager", "--step", "4"});
  CHECK(eager.code == 2);
  CHECK(eager.err.find("step 4 deferred no call") != std::string::npos);
}

TEST_CASE("mistakes in the use of compare-devices are told") {
  const Folder folder;
  folder.write("train.lua", training("for i in lg.run.steps(9) do step() end"));
  folder.write("fails.lua", "local lg = require 'lunagrad'\nlg.randn(2):reshape(3)");
  folder.write("forward.lua",
               "local lg = require 'lunagrad'\nfor i in lg.run.steps(4) do lg.randn(2):sum() end");
  const Finished device = folder.run({"compare-devices", "train.lua", "--with", "vulkan:77"});
  CHECK(device.code == 5);
  CHECK(device.err.find("vulkan:77") != std::string::npos);
  const Finished same = folder.run({"compare-devices", "train.lua", "--with", "cpu"});
  CHECK(same.code == 2);
  CHECK(same.err.find("was computed on cpu") != std::string::npos);
  const Finished none = folder.run({"compare-devices", "forward.lua", "--with", "f64"});
  CHECK(none.code == 2);
  CHECK(none.err.find("step 3 has no backward pass") != std::string::npos);
  const Finished fails = folder.run({"compare-devices", "fails.lua", "--with", "f64"});
  CHECK(fails.code == 1);
  CHECK(fails.err.find("reshape") != std::string::npos);
  CHECK(folder.run({"compare-devices", "missing.lua"}).code == 6);
  CHECK(folder.run({"compare-devices", "train.lua", "--step", "0"}).code == 2);
  CHECK(folder.run({"compare-devices", "train.lua", "--set", "lr"}).code == 2);
  CHECK(folder.run({"compare-devices", "train.lua", "--set", "no_such=1", "--with", "f64"}).code == 2);
}
