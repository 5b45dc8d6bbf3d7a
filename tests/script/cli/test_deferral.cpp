// `lunagrad run` with deferred calls: a run has the same numbers with and without them; the output of --plan
// and --eager.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

// Trains a small model with what steps usually do: dropout, clipping, a schedule, a value that is read, an
// error that is caught, and a checkpoint.
constexpr const char* kDeferralScript = R"(
local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
local net = lg.run.state("net", function() return nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Dropout(0.3), nn.Linear(32, 3)) end)
local adam = lg.run.state("adam", function() return lg.optim.AdamW(net:parameters(), {lr = 1e-2}) end)
local schedule = lg.optim.lr_scheduler.CosineAnnealingLR(adam, 40)
for step in lg.run.steps(40) do
  local x = lg.randn(64, 6)
  local target = (x * x):sum(2):gt(6):long()
  local y = net((x * 2 - 1):tanh() * 0.5 + x)
  local loss = F.cross_entropy(y, target) + ((y * 0.1):exp() - 1):square():mean()
  adam:zero_grad()
  loss:backward()
  nn.utils.clip_grad_norm_(net:parameters(), 1)
  adam:step()
  schedule:step()
  assert(not pcall(function() return x:matmul(x) end))
  if step % 7 == 0 then lg.run.log {loss = loss, largest = y:abs():max():item()} else lg.run.log {loss = loss} end
  if step == 20 then lg.run.checkpoint() end
end
)";

}  // namespace

TEST_CASE("a run whose calls are deferred has the numbers of one whose calls are not") {
  const Folder folder;
  folder.write("train.lua", kDeferralScript);
  const auto train = [&](const char* name, std::vector<std::string> more) {
    std::vector<std::string> words = {"run",       "train.lua", "--seed",     "4",
                                      "--run-dir", name,        "--progress", "none"};
    words.insert(words.end(), more.begin(), more.end());
    const Finished finished = folder.run(words);
    INFO(finished.err);
    CHECK(finished.code == 0);
    return finished.err;
  };
  CHECK(train("eager", {"--eager"}).find("Plan") == std::string::npos);
  CHECK(train("automatic", {}).find("Plan") == std::string::npos);
  const std::string plan = train("always", {"--plan"});
  CHECK(plan.find("Plan of a step: ") != std::string::npos);
  CHECK(plan.find("train.lua:10 mul sub tanh mul add\n") != std::string::npos);
  CHECK(plan.find("Alone (not an elementwise op): ") != std::string::npos);
  CHECK(folder.run({"runs", "diff", "eager", "automatic"}).code == 0);
  CHECK(folder.run({"runs", "diff", "eager", "always"}).code == 0);
  CHECK(read_file(folder.path() + "/eager/config.json").find("\"eager\": true") != std::string::npos);
}

TEST_CASE("--plan says when there is no step to plan") {
  const Folder folder;
  folder.write("plain.lua", "local lg = require 'lunagrad' print((lg.ones(2) * 2):sum():item())");
  const Finished finished = folder.run({"run", "plain.lua", "--plan", "--progress", "none"});
  CHECK(finished.code == 0);
  CHECK(finished.err.find("No plan: ") != std::string::npos);
}

TEST_CASE("a queue that runs out of memory has the script's garbage collected, as a call does") {
  const Folder folder;
  folder.write("garbage.lua", R"(
local lg = require "lunagrad"
local f = lg.compile(function(x)
  local keep = {}
  for i = 1, 9 do
    keep[i] = lg.ones(1 << 21)
    assert(keep[i][1]:item() == 1)
  end
  for _ = 1, 3 do collectgarbage("step") end  -- old: a young collection does not find them any more
  keep = nil
  local sums = {}
  for i = 1, 10 do sums[i] = x + i end
  return sums[10]:sum():item()
end)
print(f(lg.ones(1 << 21)))
)");
  const Finished finished = folder.run({"run", "garbage.lua", "--memory", "180", "--progress", "none"});
  INFO(finished.err);
  CHECK(finished.out == "23068672.0\n");
}

TEST_CASE("a name that deferral had before is an error with the name now") {
  const Folder folder;
  folder.write("old.lua", "local lg = require 'lunagrad'\nlg.set_replay(true)\nprint(lg.is_replaying())\n");
  const Finished flag = folder.run({"run", "--no-replay", "old.lua"});
  CHECK(flag.code == 2);
  CHECK(flag.err.find("; --no-replay is --eager now") != std::string::npos);
  const Finished run = folder.run({"run", "old.lua"});
  CHECK(run.code == 1);
  CHECK(run.err.find("old.lua:2: lg.set_replay does not exist; it is lg.set_deferred now") !=
        std::string::npos);
  const Finished check = folder.run({"check", "old.lua"});
  CHECK((check.out + check.err).find("lg.set_replay does not exist; it is lg.set_deferred now") !=
        std::string::npos);
  CHECK((check.out + check.err).find("lg.is_replaying does not exist; it is lg.is_deferred now") !=
        std::string::npos);
}
