// `lunagrad check` finds unknown fields of lg without running the script.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

TEST_CASE("check finds unknown fields of lg and its tables through aliases") {
  const Folder folder;
  folder.write("bad.lua", R"(local lg = require "lunagrad"
local nn, F = lg.nn, lg.nn.functional
error("it ran")
local a = nn.Linaer(3, 4)
local function inside(x)
  return F.sofmax(x, 1), lg.zeross(2)
end
print(lg.save, require("lunagrad").nn.init.orthogonl_)
for step in lg.run.stepz(3) do print(step, nn.Linaer) end
)");
  const Finished bad = folder.run({"check", "bad.lua"});
  INFO(bad.err);
  CHECK(bad.code == 1);
  for (const char* part :
       {"bad.lua:4: lg.nn.Linaer does not exist; did you mean lg.nn.Linear?",
        "bad.lua:6: lg.nn.functional.sofmax does not exist; did you mean lg.nn.functional.softmax",
        "bad.lua:6: lg.zeross does not exist",
        "bad.lua:8: lg.save does not exist; PyTorch's torch.save is lg.io.save",
        "bad.lua:8: lg.nn.init.orthogonl_ does not exist", "bad.lua:9: lg.run.stepz does not exist",
        "bad.lua:9: lg.nn.Linaer does not exist"})
    CHECK_MESSAGE(bad.err.find(part) != std::string::npos, part);
  CHECK(bad.err.find("it ran") == std::string::npos);
}

TEST_CASE("check accepts what exists, what the script adds, and variables that change") {
  const Folder folder;
  folder.write("good.lua", R"(local lg = require "lunagrad"
local nn, optim, data = lg.nn, lg.optim, lg.data
local Net = nn.class("Net")
function Net:init() self.fc = nn.Linear(2, 3) end
function Net:forward(x) return self.fc(x):relu() end
function lg.mine() return lg.zeros(2, {dtype = lg.int64}) end
local thing = lg.nn
if arg[1] then thing = {Linaer = 1} end
print(thing.Linaer, lg.mine(), Net.anything, nn.Linear.anything)
local library = lg.optim
library = {nothing = 2}
print(library.nothing, lg.has(lg, "zeross"), rawget(lg, "zeross"))
for step in lg.run.steps(2) do lg.run.log {loss = 1} end
lg.run.checkpoint {keep_last = 2}
for _, module in ipairs {nn.ReLU, optim.SGD, data.DataLoader, optim.lr_scheduler.StepLR} do print(module) end
)");
  const Finished good = folder.run({"check", "good.lua"});
  INFO(good.err);
  CHECK(good.code == 0);
}

TEST_CASE("check finds the nil at the end of an index, which no run can see") {
  const Folder folder;
  folder.write("nil.lua",
               "local x, y = ...\nprint(x[{{}, nil}], x[{1, 2}])\nx[{{1, 2}, nil}] = y\nprint({1, nil})\n");
  const Finished checked = folder.run({"check", "nil.lua"});
  CHECK(checked.code == 1);
  CHECK(checked.err.find("nil.lua:2: the nil at the end") == 0);
  CHECK(checked.err.find("nil.lua:3: the nil at the end") != std::string::npos);
  CHECK(checked.err.find("nil.lua:4:") == std::string::npos);
}

TEST_CASE("the bundled examples have no unknown field") {
  const Folder folder;
  const std::string root = std::string(LUNAGRAD_SOURCE_DIR) + "/examples/";
  for (const char* name :
       {"01_tensors.lua", "05_mnist_cnn.lua", "09_vae.lua", "12_resume.lua", "13_sweep.lua"}) {
    const Finished checked = folder.run({"check", root + name});
    INFO(checked.err);
    CHECK(checked.code == 0);
  }
}
