// A script that a replay runs again leaves the user's files as they are.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>

#include "tests/support/program.h"

using namespace lunagrad::test;
namespace fs = std::filesystem;

namespace {

// Writes a file in every possible way, and logs what it reads back: a replay that does not find its own
// writes differs from the run. `start` clears the files of an earlier run.
const std::string kScript = R"lua(
local lg = require "lunagrad"
os.remove("gone.txt")
local function put(path, mode, text)
  local file = assert(io.open(path, mode))
  file:write(text)
  file:close()
end
local function size(path)
  local file = io.open(path)
  local bytes = file and #file:read("a") or -1
  if file then file:close() end
  return bytes
end
os.execute("echo ran >> commands.txt; mkdir -p made")
local pipe = assert(io.popen("cat >> commands.txt", "w"))
pipe:write("piped\n")
pipe:close()
local answer = assert(io.popen("echo answer")):read("l")
put("log.txt", "w", "")
put("count.txt", "w", "0000")
io.output("default.txt"):write("default")
io.close()
local weight = lg.run.state("weight", function() return lg.zeros(3) end)
for step in lg.run.steps(6) do
  weight:copy_(lg.randn(3))
  put("log.txt", "a", step .. "\n")
  put("count.txt", "r+", tostring(step))
  lg.io.save("made/best.safetensors", {weight = weight})
  put("made/new.tmp", "w", ("x"):rep(step))
  assert(os.rename("made/new.tmp", "made/new.txt"))
  lg.run.log {
    weight = lg.io.load("made/best.safetensors").weight:sum(), log = size("log.txt"), count = size("count.txt"),
    new = size("made/new.txt"), gone = size("gone.txt"), answer = #answer,
  }
end
)lua";

std::map<std::string, std::string> files_of(const Folder& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    if (entry.is_regular_file()) files[entry.path().string()] = read_file(entry.path());
  return files;
}

}  // namespace

TEST_CASE("a script that runs again only to be looked at writes into no file of the user") {
  const Folder folder;
  const std::string script = folder.write("script.lua", kScript);
  folder.write("gone.txt", "old");
  REQUIRE(folder.run({"run", script, "--run-dir", "it"}).code == 0);
  const auto changed = [&](const std::string& name, const std::string& text) {
    fs::remove(folder.path() + "/" + name);
    folder.write(name, text);
  };
  // The user's changes since then.
  changed("made/best.safetensors", read_file(folder.path() + "/made/best.safetensors") + "mine");
  for (const char* name : {"log.txt", "count.txt", "default.txt", "made/new.txt", "gone.txt", "commands.txt"})
    changed(name, "mine");
  const auto before = files_of(folder);

  const Finished probed = folder.run({"probe", "it", "weight:sum()", "--to", "4"});
  CHECK_MESSAGE(probed.code == 0, probed.err);
  CHECK(files_of(folder) == before);
  const Finished again = folder.run({"repro", "it"});
  CHECK_MESSAGE(again.code == 0, (again.out + again.err));
  CHECK(files_of(folder) == before);
}

TEST_CASE("a step is compared with another device without a write into a file of the user") {
  const Folder folder;
  const std::string script = folder.write("script.lua", R"lua(
    local lg = require "lunagrad"
    local w = lg.randn(3, {requires_grad = true})
    for step in lg.run.steps(9) do
      (w * w):sum():backward()
      lg.io.save("best.safetensors", {w = w})
      os.execute("echo ran >> commands.txt")
    end
  )lua");
  folder.write("best.safetensors", "of a long training");
  const Finished compared = folder.run({"compare-devices", script, "--step", "2", "--with", "f64"});
  CHECK_MESSAGE(compared.code == 0, compared.err);
  CHECK(read_file(folder.path() + "/best.safetensors") == "of a long training");
  CHECK(!fs::exists(folder.path() + "/commands.txt"));
}
