// The cause of a difference between two runs is ranked first: `lunagrad tape diff` on trained models with one
// fault, in some seeds; 20 of each in the long form.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "folders.h"
#include "tests/support/program.h"
#include "tests/support/timing.h"

using namespace lunagrad::test;
using nlohmann::json;

namespace {

const int kSeeds = lunagrad::tests::long_run() ? 20 : 7;
const std::vector<std::string> kKinds = {"mlp", "cnn", "transformer", "rnn"};

class Runs {
 public:
  Runs() { folder_.write("faults.lua", read_file(LUNAGRAD_SOURCE_DIR "/tests/script/tape_diff/faults.lua")); }

  std::string train(const std::string& kind, int seed, const std::string& fault) const {
    const std::string name = kind + "-" + std::to_string(seed) + "-" + fault;
    const Finished run =
        folder_.run({"run", "faults.lua", "--run-dir", name, "--seed", std::to_string(seed), "--set",
                     "kind=" + kind, "--set", "fault=" + fault, "--set", "which=" + std::to_string(seed)});
    INFO(run.err);
    REQUIRE(run.code == 0);
    return name;
  }

  json compare(const std::string& a, const std::string& b) const {
    const Finished run = folder_.run({"tape", "diff", a, b, "--json"});
    INFO(run.err);
    REQUIRE(run.code == 1);
    return json::parse(run.out);
  }

  std::string chosen(const std::string& run) const {
    const std::string rows = read_file(folder_.path() + "/" + run + "/metrics.jsonl");
    return json::parse(rows.substr(0, rows.find('\n')))["text"]["chosen"];
  }

 private:
  Folder folder_;
};

}  // namespace

TEST_CASE("tape ranking: the cause of a difference stands first, in several models and seeds") {
  const Runs runs;
  for (int seed = 1; seed <= kSeeds; ++seed)
    for (size_t k = 0; k < kKinds.size(); ++k) {
      if (!lunagrad::tests::long_run() && size_t(seed) % kKinds.size() != k) continue;
      const std::string& kind = kKinds[k];
      CAPTURE(kind);
      CAPTURE(seed);
      const std::string good = runs.train(kind, seed, "none");
      for (const char* fault : {"inputs", "labels", "nan", "scaled", "zeroed", "removed"}) {
        CAPTURE(fault);
        const std::string bad = runs.train(kind, seed, fault);
        const json diff = runs.compare(good, bad), first = diff["ranked"][0];
        CAPTURE(first.dump());
        CHECK(first["cause"] == true);
        const std::string what = fault, name = first["name"];
        if (what == "removed") {
          CHECK(first["kind"] == "removed");
          CHECK(diff["counts"]["added"] == 0);
          continue;
        }
        CHECK(first["kind"] == "value");
        if (what == "scaled" || what == "zeroed") {
          CHECK(name == runs.chosen(bad));
          continue;
        }
        // The last step has the poisoned batch, and no weight differs before it.
        CHECK(diff["a"]["step"] == 10);
        CHECK(name.starts_with(what == "labels" ? "target of" : "input of"));
        CHECK(first["nodes"][0]["b"]["op"] == "source");
      }
    }
}

TEST_CASE("tape ranking: a script without modules, whose leaves have no names") {
  const Folder folder;
  folder.write("train.lua", R"(
local lg = require "lunagrad"
local fault = lg.run.param("fault", "none")
local w1, w2 = (lg.randn(6, 12) * 0.4):requires_grad_(), (lg.randn(12, 11) * 0.3):requires_grad_()
local w3, b = (lg.randn(11, 1) * 0.3):requires_grad_(), lg.zeros(1):requires_grad_()
if fault == "scaled" then lg.no_grad(function() w2:mul_(3) end) end
local opt = lg.optim.SGD({w1, w2, w3, b}, {lr = 0.02, momentum = 0.9})
for step in lg.run.steps(10) do
  local x = lg.rand(20, 6)
  local y = x:sum(2, true):sin()
  if step == 10 and fault == "target" then y = y:roll(1, 1) end
  if step == 10 and fault == "nan" then y[4] = 0 / 0 end
  local h = (x:matmul(w1)):sigmoid():matmul(w2):tanh()
  if fault ~= "removed" then h = h:sin() end
  local loss = ((h:matmul(w3) + b - y) ^ 2):mean()
  opt:zero_grad() loss:backward() opt:step()
  lg.run.log{loss = loss}
end
)");
  for (int seed = 1; seed <= kSeeds; ++seed) {
    CAPTURE(seed);
    const auto train = [&](const std::string& fault, int with) {
      const std::string name = std::to_string(with) + fault;
      REQUIRE(folder
                  .run({"run", "train.lua", "--run-dir", name, "--seed", std::to_string(with), "--set",
                        "fault=" + fault})
                  .code == 0);
      return name;
    };
    const auto first = [&](const std::string& a, const std::string& b) {
      const json ranked = json::parse(folder.run({"tape", "diff", a, b, "--json"}).out)["ranked"][0];
      return ranked["kind"].get<std::string>() + " " + ranked["name"].get<std::string>();
    };
    const std::string good = train("none", seed), scaled = train("scaled", seed);
    CHECK(first(good, scaled) == "value leaf [12, 11]");
    CHECK(first(train("none", seed + 1000), scaled) == "value leaf [12, 11]");
    CHECK(first(good, train("target", seed)) == "value other [20, 1]");
    CHECK(first(good, train("nan", seed)) == "value other [20, 1]");
    CHECK(first(good, train("removed", seed)) == "removed sin");
  }
}

TEST_CASE("tape ranking: two steps of one run, and two seeds, whose values differ everywhere") {
  const Runs runs;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::string& kind = kKinds[size_t(seed) % kKinds.size()];
    CAPTURE(kind);
    CAPTURE(seed);
    const std::string poisoned = runs.train(kind, seed, "inputs"), scaled = runs.train(kind, seed, "scaled"),
                      other = runs.train(kind, seed + 1000, "none");
    const json steps = runs.compare(poisoned + ":1", poisoned + ":10")["ranked"][0];
    CHECK(steps["name"].get<std::string>().starts_with("input of"));
    const json seeds = runs.compare(other, scaled)["ranked"][0];
    CHECK(seeds["name"] == runs.chosen(scaled));
  }
}
