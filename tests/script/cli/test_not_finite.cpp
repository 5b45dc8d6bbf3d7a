// `lunagrad run` warns of the first NaN without being asked.
#include <doctest/doctest.h>

#include <fstream>

#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("run warns once of the first NaN, on a GPU too, and --guard op names its op there") {
  const Folder folder;
  const bool gpu = Program({kProgram, "devices"}).finish().out.find("vulkan") != std::string::npos;
  for (const char* const device : {"cpu", "vulkan"}) {
    if (device == std::string("vulkan") && !gpu) continue;
    CAPTURE(device);
    const std::string path = folder.path() + "/shrinks.lua";
    std::ofstream(path) << R"(local lg = require "lunagrad"
local w = lg.tensor({1., 2.}, {requires_grad = true})
local opt = lg.optim.SGD({w}, {lr = 0.2})
for step in lg.run.steps(30) do
  opt:zero_grad()
  local loss = w:sqrt():sum()
  loss:backward()
  opt:step()
  lg.run.log {loss = loss}
end
)";
    const std::vector<std::string> command{kProgram, "run", path, "--device", device, "--run-dir"};
    const auto run = [&](std::vector<std::string> words, const std::string& name,
                         std::vector<std::string> more) {
      words.push_back(folder.path() + "/" + device + name);
      words.insert(words.end(), more.begin(), more.end());
      return Program(words).finish();
    };
    const Finished ran = run(command, "1", {});
    CHECK(ran.code == 0);
    const size_t first = ran.err.find("warning: NaN since step 9: ");
    REQUIRE(first != std::string::npos);
    CHECK(ran.err.find("since step", first + 20) == std::string::npos);
    if (device == std::string("cpu"))
      CHECK(ran.err.find("NaN since step 9: sqrt at shrinks.lua:6") != std::string::npos);
    const Finished guarded = run(command, "2", {"--guard", "op"});
    CHECK(guarded.code == 4);
    CHECK(guarded.err.find("sqrt: its result") != std::string::npos);
  }
}
