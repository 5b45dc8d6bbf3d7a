// The files and folders that a run syncs, so that they survive a power failure.
#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "folders.h"
#include "tests/support/program.h"
#include "tests/support/sanitizers.h"

using namespace lunagrad::test;

namespace {

// The names in the run's folder, "." for the folder itself, in the order in which they were synced; temporary
// files by the names that they got.
std::string synced_by(const std::string& script) {
  const Folder folder;
  folder.write("train.lua", script);
  const Finished run = folder.run({"run", "train.lua", "--run-dir", "r"}, "",
                                  {"LD_PRELOAD=" LUNAGRAD_NOTED_SYNCS, "SYNCS=syncs.txt"});
  INFO(run.err);
  REQUIRE(run.code == 0);
  const auto within = std::filesystem::canonical(folder.path()) / "r";
  std::string names;
  std::istringstream in(read_file(folder.path() + "/syncs.txt"));
  for (std::string line; std::getline(in, line);) {
    const std::string name = std::filesystem::path(line).lexically_relative(within).string();
    names += name.substr(0, name.find(".lunagrad-")) + "\n";
  }
  return names;
}

}  // namespace

TEST_CASE("a run syncs its script, its checkpoints and its end") {
  if (lunagrad::tests::kSanitized) return;  // their library must be loaded first
  const std::string run = "local run = require('lunagrad').run\n";
  CHECK(synced_by(run + "for _ in run.steps(5) do end") == "script.lua\nconfig.json\n.\n");
  CHECK(synced_by(run + "run.state('seen', function() return {} end)\n"
                        "for step in run.steps(5) do if step == 3 then run.checkpoint() end end") ==
        "script.lua\ncheckpoints/step-00000003.safetensors\ncheckpoints\nconfig.json\n.\n");
  // Each parameter that is declared in a step writes config.json.
  CHECK(synced_by(run + "for step in run.steps(5) do run.param('p' .. step, 1) end") ==
        "script.lua\nconfig.json\n.\n");
}
