// `lunagrad test`: its counts, output and files.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

const char* const kTests = R"(
local lg = require "lunagrad"
describe("softmax", function()
  local x, log = nil, {}
  before_each(function() x = lg.randn(3, 4) end)
  after_each(function() log[#log + 1] = "after" end)
  it("adds up to one", function() expect.close(x:softmax(2):sum(2), lg.ones(3)) end)
  it("is < one", function() expect.close(x:softmax(2), lg.ones(3, 4)) end)
  it("begins with the same numbers", function() expect.equal(x, (function() lg.manual_seed(0) return lg.randn(3, 4) end)()) end)
  describe("inside", function()
    it("compares", function() expect.equal({1, {a = lg.ones(2)}}, {1, {a = lg.tensor{1, 2}:float()}}) end)
    it("knows NaN", function() expect.close({1, 0 / 0}, {1, 0 / 0}, {equal_nan = true}) end)
    it("does not take NaN for near", function() expect.close({1, 0 / 0}, {1, 2}) end)
    it("raises", function() expect.raises(function() x:softmax(7) end, "dim 7 is out of range") end)
    it("must raise", function() expect.raises(function() end) end)
    it("has seen what came before", function() expect.equal(#log, 8) end)
  end)
end)
)";

}  // namespace

TEST_CASE("tests are counted, failures reported with their line") {
  const Folder folder;
  folder.write("test_some.lua", kTests);
  const Finished all = folder.run({"test"});
  INFO(all.err);
  CHECK(all.code == 3);
  CHECK(all.out.rfind("FAILED  test_some.lua  5 of 9 tests passed\n5 passed, 4 failed in ", 0) == 0);
  for (const char* part :
       {"softmax is < one\n    test_some.lua:8: 12 of 12 elements differ, most at [",
        "(rtol 1e-05, atol 1e-08)", "value[2][\"a\"]: 1 of 2 elements differ, most at [2]: 1 instead of 2",
        "most at [2]: nan instead of 2", "test_some.lua:15: no error was raised"})
    CHECK(all.err.find(part) != std::string::npos);
}

TEST_CASE("results as TAP and as JUnit's XML") {
  const Folder folder;
  folder.write("test_some.lua", kTests);
  const Finished tap = folder.run({"test", "test_some.lua", "--tap", "--junit", "out.xml"});
  CHECK(tap.code == 3);
  CHECK(tap.out.rfind("TAP version 13\nok 1 - test_some.lua: softmax adds up to one\nnot ok 2 - ", 0) == 0);
  CHECK(tap.out.ends_with("1..9\n"));
  const std::string xml = read_file(folder.path() + "/out.xml");
  CHECK(xml.find("<testsuite name=\"test_some.lua\" tests=\"9\" failures=\"4\"") != std::string::npos);
  CHECK(xml.find("name=\"softmax is &lt; one\"") != std::string::npos);
}

TEST_CASE("a file without it() is one test; an error outside of a test is a failed test") {
  const Folder folder;
  folder.write("plain.lua", "assert(1 + 1 == 2)");
  folder.write("broken.lua",
               "it('works', function() end) describe('group', function() error('outside') end) error('end')");
  folder.write("syntax.lua", "local x =");
  CHECK(folder.run({"test", "plain.lua"}).code == 0);
  const Finished broken = folder.run({"test", "broken.lua"});
  CHECK(broken.out.find("1 of 3 tests passed") != std::string::npos);
  CHECK(broken.err.find("group (outside a test)\n    broken.lua:1: outside") != std::string::npos);
  CHECK(broken.err.find("the rest of the file\n    broken.lua:1: end") != std::string::npos);
  const Finished fast = folder.run({"test", "syntax.lua", "plain.lua", "--fail-fast"});
  CHECK(fast.code == 3);
  CHECK(fast.out.find("plain.lua") == std::string::npos);
  CHECK(folder.run({"test", "missing.lua"}).code == 6);
  std::filesystem::remove(folder.path() + "/plain.lua");
  CHECK(folder.run({"test"}).code == 6);
}

TEST_CASE("a thousand small tests") {
  const Folder folder;
  folder.write("test_many.lua", "for i = 1, 1000 do it('is ' .. i, function() expect.equal(i, i) end) end");
  const Finished many = folder.run({"test"});
  CHECK(many.code == 0);
  CHECK(many.out.find("1000 of 1000 tests passed") != std::string::npos);
}

TEST_CASE("the message of a failed test names a misspelt name and the module") {
  const Folder folder;
  folder.write("test_names.lua", R"lua(local lg = require "lunagrad"
it("calls", function() pritn(1) end)
it("reads", function()
  local Net = lg.nn.class("Net")
  function Net:init() self.fc1 = lg.nn.Linear(2, 2) end
  function Net:forward(x) return self.fc2(x) end
  Net()(lg.ones(1, 2))
end)
it("fits", function()
  local net = lg.nn.Sequential(lg.nn.Linear(2, 2))
  net(lg.ones(1, 3))
end)
it("raises", function() expect.raises(function() pritn(1) end, "(global 'pritn')") end)
)lua");
  const Finished finished = folder.run({"test", "test_names.lua"});
  CHECK(finished.code == 3);
  for (const char* part :
       {"test_names.lua:2: attempt to call a nil value (global 'pritn'); did you mean 'print'?",
        "test_names.lua:6: Net has no field 'fc2'; did you mean 'fc1'?",
        "test_names.lua:11: in net.0 (Linear): linear: "})
    CHECK_MESSAGE((finished.out + finished.err).find(part) != std::string::npos, finished.err);
  CHECK(finished.out.find("1 passed, 3 failed") != std::string::npos);
}
