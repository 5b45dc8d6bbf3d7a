// `lunagrad check` finds unknown fields of lg and of classes without running the script, in files and
// folders.
#include <doctest/doctest.h>

#include <filesystem>

#include "folders.h"
#include "tests/support/program.h"

TEST_SUITE_BEGIN("threads");

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

TEST_CASE("check finds fields of the script's own classes that nothing assigns") {
  const Folder folder;
  folder.write("net.lua", R"(local lg = require "lunagrad"
local nn = lg.nn
local Block = nn.class("Block")
function Block:init(stride)
  self.conv = nn.Conv2d(3, 3, 1)
  if stride ~= 1 then self.down = nn.Conv2d(3, 3, 1) end
  self:register_buffer("mask", lg.ones(3))
end
function Block:body(x) return self.conv(x) end
function Block:forward(x)
  if self.dwon then x = self.down(x) end
  local function inner() return self:boddy(x), self.mask, self.training, self:parameters() end
  return inner()
end
local Wide = nn.class("Wide", Block)
function Wide:forward(x) return self.conv(x) + self.cnov(x), Wide.super.forward(self, x) end
local net = Block(1)
net.tag = 1
print(net.tag, net.dow, Wide(2).wide)
)");
  const Finished found = folder.run({"check", "net.lua"});
  INFO(found.err);
  CHECK(found.code == 1);
  for (const char* part :
       {"net.lua:11: Block has no field 'dwon': nothing here assigns it; is 'down' meant?",
        "net.lua:12: Block has no field 'boddy': nothing here assigns it; is 'body' meant?",
        "net.lua:16: Wide has no field 'cnov': nothing here assigns it; is 'conv' meant?",
        "net.lua:19: Block has no field 'dow': nothing here assigns it; is 'down' meant?",
        "net.lua:19: Wide has no field 'wide': nothing here assigns it\n"})
    CHECK_MESSAGE(found.err.find(part) != std::string::npos, part);
  CHECK(found.out == "checked 1 file: 5 mistakes\n");
  // Fields that other code may assign are not reported.
  folder.write("open.lua", R"(local lg = require "lunagrad"
local A, B, C = lg.nn.class("A"), lg.nn.class("B", lg.nn.Linear), lg.nn.class("C", ...)
function A:init(names) for _, name in ipairs(names) do self[name] = 1 end end
function A:forward() return self.anything end
function B:forward(x) return x:matmul(self.weight), self.in_features end
function C:forward() return self.other end
local D = lg.nn.class("D")
local function fill(object) object.filled = 1 end
function D:init() fill(self) end
function D:forward() return self.filled, self.name_of and self._hidden end
function D:name_of() end
)");
  const Finished open = folder.run({"check", "open.lua"});
  CHECK_MESSAGE(open.code == 0, open.err);
}

TEST_CASE("check walks folders, and counts files and mistakes") {
  const Folder folder;
  folder.write("train.lua", "print(1)\n");
  for (const char* path : {"lib/.hidden", "lib/runs", "lib/lua_modules", "lib/deep", ".git"}) {
    std::filesystem::create_directories(folder.path() + "/" + path);
    folder.write(std::string(path) + "/part.lua", "total = 1\n");
  }
  folder.write("lib/notes.txt", "total = 1\n");
  folder.write("lib/test_part.lua", "it('is', function() expect.equal(1, 1) end)\n");
  const Finished found = folder.run({"check", "."});
  CHECK(found.code == 1);
  CHECK(found.err ==
        "lib/deep/part.lua:1: assigns the global 'total'; write `local`, or _G.total where one is meant\n");
  CHECK(found.out == "checked 3 files: 1 mistake\n");
  const Finished several = folder.run({"check", "train.lua", "lib/test_part.lua", "lib/deep"});
  CHECK(several.code == 1);
  CHECK(several.out == "checked 3 files: 1 mistake\n");
  CHECK(folder.run({"check", "train.lua"}).out == "checked 1 file: no mistakes\n");
  std::filesystem::create_directories(folder.path() + "/empty");
  const Finished empty = folder.run({"check", "empty"});
  CHECK(empty.code == 6);
  CHECK(empty.err == "lunagrad check: empty: no file in it ends with .lua\n");
  CHECK(folder.run({"check", "train.lua", "missing"}).code == 6);
}

TEST_CASE("the bundled examples are free of mistakes") {
  const Folder folder;
  const Finished checked = folder.run({"check", std::string(LUNAGRAD_SOURCE_DIR) + "/examples"});
  CHECK_MESSAGE(checked.code == 0, checked.err);
}

TEST_CASE("check says which local a global may be, also in a script of many names") {
  const Folder folder;
  std::string many = "local lg = require 'lunagrad'\nlocal t = {}\n";
  for (int i = 0; i < 300; ++i) many += "t.name" + std::to_string(i) + " = 1\n";
  folder.write("many.lua",
               many + "totals = 1\nprint(lg.zeross, late)\nif t then local late = 2 print(late) end\n");
  const Finished found = folder.run({"check", "many.lua"});
  for (const char* part :
       {"many.lua:303: assigns the global 'totals'", "many.lua:304: lg.zeross does not exist",
        "many.lua:304: nothing defines 'late'; the local of line 305 is not known here"})
    CHECK_MESSAGE(found.err.find(part) != std::string::npos, found.err);
}

TEST_SUITE_END();
