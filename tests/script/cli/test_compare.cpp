// `lunagrad compare`: equal and different files, tolerances, formats, errors.
#include <doctest/doctest.h>

#include "tests/support/program.h"

using namespace lunagrad::test;

namespace {

// Files of a script: a and b differ by 0.25 in one element of `w`; c also lacks `n`; d has `w` of another
// shape.
const char* const kWriteFiles = R"(
local lg = require "lunagrad"
local w, n = lg.tensor{{1, 2}, {3, 4.5}}, lg.tensor{0 / 0, 1 / 0, 7}
local other = lg.tensor{{1, 2}, {3, 4.75}}
lg.io.safetensors.save("a.safetensors", {w = w, n = n})
lg.io.safetensors.save("b.safetensors", {w = other, n = n})
lg.io.npz.save("a.npz", {w = w, n = n})
lg.io.safetensors.save("c.safetensors", {w = w})
lg.io.safetensors.save("d.safetensors", {w = w:reshape(4), n = n})
lg.io.npy.save("w.npy", w)
lg.io.npy.save("other.npy", other)
)";

}  // namespace

TEST_CASE("compare prints the arrays that differ, and its exit code says whether any does") {
  const Folder folder;
  REQUIRE(folder.run({"run", folder.write("write.lua", kWriteFiles)}).code == 0);
  const auto compare = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "compare");
    return folder.run(arguments);
  };
  const Finished same = compare({"a.safetensors", "a.npz"});
  CHECK(same.code == 0);
  CHECK(same.out == "2 equal, 0 different\n");  // NaN and infinity are equal to themselves
  const Finished value = compare({"a.safetensors", "b.safetensors"});
  CHECK(value.code == 7);
  CHECK(value.out == "w: 1 of 4 elements differ, by up to 0.25\n1 equal, 1 different\n");
  CHECK(compare({"a.safetensors", "b.safetensors", "--atol", "0.25"}).code == 0);
  CHECK(compare({"a.safetensors", "b.safetensors", "--rtol", "0.06"}).code == 0);
  CHECK(compare({"a.safetensors", "b.safetensors", "--rtol", "0.05"}).code == 7);
  CHECK(compare({"c.safetensors", "a.safetensors"}).out ==
        "n: only in a.safetensors, f32 [3]\n1 equal, 1 different\n");
  CHECK(compare({"a.safetensors", "c.safetensors"}).out ==
        "n: only in a.safetensors, f32 [3]\n1 equal, 1 different\n");
  CHECK(compare({"d.safetensors", "a.safetensors"}).out ==
        "w: f32 [4] and f32 [2, 2]\n1 equal, 1 different\n");
  // One array each: the names of the files do not matter.
  CHECK(compare({"w.npy", "w.npy"}).code == 0);
  CHECK(compare({"w.npy", "other.npy"}).out ==
        "w: 1 of 4 elements differ, by up to 0.25\n0 equal, 1 different\n");
}

TEST_CASE("compare refuses files that it cannot read, with their exit codes") {
  const Folder folder;
  folder.write("x.npy", "no array");
  CHECK(folder.run({"compare", "x.npy", "x.npy"}).code == 6);
  CHECK(folder.run({"compare", "none.npy", "x.npy"}).code == 6);
  CHECK(folder.run({"compare", "x.txt", "x.npy"}).err.find("x.txt: its name ends in none of .safetensors") !=
        std::string::npos);
  CHECK(folder.run({"compare", "x.npy"}).code == 2);
  CHECK(folder.run({"compare", "x.npy", "x.npy", "--rtol", "-1"}).code == 2);
}
