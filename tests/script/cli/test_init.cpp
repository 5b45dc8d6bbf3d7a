// `lunagrad init`: the project that it makes trains and passes its tests, its check and its workflow.
#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/program.h"

using namespace lunagrad::test;
using nlohmann::json;

TEST_CASE("init makes a project that trains, passes its tests and its check") {
  const Folder folder;
  REQUIRE(folder.run({"init", "project"}).code == 0);
  const std::string project = folder.path() + "/project";
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kProgram);
    return Program(arguments, "", {}, project).finish();
  };
  const Finished trained = run({"run", "train.lua", "--set", "steps=300"});
  CHECK(trained.code == 0);
  CHECK(trained.out.rfind("mean squared error 0.0", 0) == 0);
  const Finished tested = run({"test"});
  INFO(tested.err);
  CHECK(tested.code == 0);
  CHECK(tested.out.find("2 passed, 0 failed") != std::string::npos);
  const Finished checked = run({"check", "."});
  CHECK_MESSAGE(checked.code == 0, checked.err);
  CHECK(checked.out == "checked 3 files: no mistakes\n");
  const json settings = json::parse(read_file(project + "/.luarc.json"));
  for (const json& library : settings.at("workspace.library")) {
    const std::string path = library;
    CHECK(std::filesystem::is_directory(path[0] == '/' ? path : project + "/" + path));
  }
  const Finished again = folder.run({"init", "project"});
  CHECK(again.code == 6);
  CHECK(again.err == "lunagrad init: project: exists and is not empty\n");
}

TEST_CASE("init --ci adds a workflow whose commands work in the project") {
  const Folder folder;
  const Finished made = folder.run({"init", "project", "--ci"});
  CHECK(made.code == 0);
  CHECK(made.out.find(".github/workflows/lunagrad.yml") != std::string::npos);
  const std::string project = folder.path() + "/project";
  const std::string workflow = read_file(project + "/.github/workflows/lunagrad.yml");
  CHECK(workflow.find('\t') == std::string::npos);
  const std::string programs = std::filesystem::absolute(kProgram).parent_path();
  std::istringstream lines(workflow);
  std::vector<std::string> commands;
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find(" run: "); at != std::string::npos)
      commands.push_back(line.substr(at + 6));
  REQUIRE(commands.size() == 3);
  const auto run = [&](const std::string& command) {
    return Program({"sh", "-c", "PATH='" + programs + "':$PATH; " + command}, "", {}, project).finish();
  };
  for (const std::string& command : commands) {
    const Finished finished = run(command);
    CHECK_MESSAGE(finished.code == 0, command << "\n" << finished.err);
  }
  CHECK(read_file(project + "/results.xml").find("<testsuite") != std::string::npos);
  // Each command fails when it finds an error.
  folder.write("project/model.lua", "error('broken')\n");
  CHECK(run(commands[1]).code == 3);
  CHECK(run(commands[2]).code == 1);
  folder.write("project/model.lua", "modle = 1\n");
  CHECK(run(commands[0]).code == 1);
}
